/** Says in plain words what an audit entry, or a verification, holds about shown text, policy, possession and the signals of the capture. */
import type { ComponentChildren } from 'preact'
import { checksInWords } from '../../contract/policy-words.js'
import type { CaptureIntegrity, CaptureSignalCode } from '../../verification/capture/capture-integrity.js'
import type { PolicyHashes } from '../contract.js'
import { type Fact, Facts } from './base/parts.js'
import { useTenantHref } from './base/session.js'

/** The facts that have words here. An entry of an earlier version lacks some. */
interface Told {
  event?: string
  acr?: string
  display_hash?: string
  display_locale?: string
  display_version?: string
  policy_hash?: string
  policy_rule?: string
  approval_id?: string
  passkey_id?: string
  passkey_amr?: 'hwk' | 'swk'
  capture_integrity?: CaptureIntegrity
  production?: string | null
  sandbox?: string | null
  previous?: PolicyHashes
}

const SIGNALS: Record<CaptureSignalCode, string> = {
  virtual_camera: 'The camera has the name of a virtual camera or of a film.',
  replaced_function: 'A function that gives the pictures is not the browser’s own.',
  synthetic_track: 'The pictures come from a canvas or a generator of the page.',
  unlisted_camera: 'The browser’s list of cameras does not have this one.',
  settings_mismatch: 'The pictures differ in size or rate from what the camera states.',
  frame_timing: 'The pictures come at times as a program counts them up.',
  repeated_picture: 'Two files hold the same picture.',
  mixed_frames: 'The frames were not made by one encoder.',
}
const SOURCES = { client: 'reported by the browser', server: 'found in the pictures' } as const
const POSSESSION = {
  hwk: 'a passkey that counts as a key in hardware',
  swk: 'a passkey that counts as a key in software',
} as const

/** Shows nothing where the entry holds nothing that has words here. */
export function EntryInWords({ tenantId, facts }: { tenantId: string; facts: object }) {
  const href = useTenantHref(tenantId)
  const rows = rowsOf(facts as Told, href)
  return rows.length > 0 ? <Facts rows={rows} /> : null
}

function rowsOf(told: Told, href: (path: string) => string): Fact[] {
  const { acr, display_locale: locale, capture_integrity: integrity } = told
  const policy = (hash: string | null) =>
    hash === null ? 'none' : <a href={href(`policy?version=${hash}`)}>{hash.slice(0, 12)}</a>
  const rows: Array<[string, ComponentChildren | undefined]> = [
    // A rejection has the acr "0".
    ['Checked', acr?.startsWith('urn:') ? `${checksInWords(acr)} (${acr})` : undefined],
    ['Possession', told.passkey_amr && POSSESSION[told.passkey_amr]],
    ['Passkey', told.passkey_id && <code>{told.passkey_id}</code>],
    [
      'Shown text',
      locale && `in ${languageName(locale)} (${locale}), version ${told.display_version} of the template`,
    ],
    ['Digest of the text', told.display_hash && <code>{told.display_hash}</code>],
    ['Policy', told.policy_hash && policy(told.policy_hash)],
    ['Rule', told.policy_rule && <code>{told.policy_rule}</code>],
    [
      'Second approval of',
      told.approval_id && <a href={href(`audit?id=${told.approval_id}`)}>{told.approval_id}</a>,
    ],
    ['Signals of the capture', integrity && <Signals integrity={integrity} />],
  ]
  if (told.event === 'policy_changed' && told.previous)
    for (const environment of ['production', 'sandbox'] as const)
      rows.push([
        `Policy in ${environment}`,
        <>
          {policy(told.previous[environment])} → {policy(told[environment] ?? null)}
        </>,
      ])
  return rows.filter((row): row is Fact => Boolean(row[1]))
}

function Signals({ integrity: { signals } }: { integrity: CaptureIntegrity }) {
  if (signals.length === 0) return <>none was seen</>
  return (
    <>
      <ul class="plain">
        {signals.map(({ code, source }) => (
          <li key={`${source} ${code}`}>
            {SIGNALS[code] ?? code} <span class="muted small">{`${code}, ${SOURCES[source]}`}</span>
          </li>
        ))}
      </ul>
      <p class="muted small">Each is a hint, and none is proof.</p>
    </>
  )
}

function languageName(locale: string): string {
  return new Intl.DisplayNames('en', { type: 'language' }).of(locale) ?? locale
}
