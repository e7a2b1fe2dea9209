/** A tenant's settings of passkeys: the relying party, its pages, and which credentials count for what. */
import { X509Certificate } from 'node:crypto'
import { CodedError } from '../../lib/errors.js'
import type { TenantRecord } from '../../storage/records.js'
import { safeOrigin } from '../../tenants/safe-origin.js'

/** Treatment of a passkey that its provider copies to other devices: it counts as `swk` (a key in software), or is `refused`. */
export const SYNCED_POLICIES = ['swk', 'refused'] as const

/**
 * The condition of a registration next to the API key: `verified` asks for a fresh approved verify with a check of liveness, `backend` for
 * nothing.
 */
export const REGISTRATION_POLICIES = ['verified', 'backend'] as const

export interface PasskeySettings {
  /** The relying party's id (WebAuthn): the domain to which the credentials belong. */
  rpId: string
  /** Origins of the pages that may register and use passkeys, each of the domain `rpId` or below it. */
  origins: string[]
  synced: (typeof SYNCED_POLICIES)[number]
  registration: (typeof REGISTRATION_POLICIES)[number]
  /** Hours between the beginning of a recovery and the registration that it allows. The sandbox waits a minute. */
  recoveryHours: number
  /**
   * Certificates (PEM) of the authorities whose attestations are believed. A passkey that one of them attested, and that cannot leave its
   * device, counts as `hwk`; every other one as `swk`.
   */
  roots: string[]
  /** AAGUIDs of the authenticators that are accepted, with an attestation; empty for all. */
  aaguids: string[]
}

/** HTTP status where the dashboard answers these errors, by code. */
export const SETTINGS_ERRORS = {
  invalid_rp_id: 400,
  invalid_origin: 400,
  invalid_aaguid: 400,
  invalid_recovery_hours: 400,
  invalid_root: 400,
  roots_required: 400,
}

export class PasskeySettingsError extends CodedError<keyof typeof SETTINGS_ERRORS> {}

export const PASSKEY_DEFAULTS: Readonly<Omit<PasskeySettings, 'rpId' | 'origins'>> = {
  synced: 'swk',
  registration: 'verified',
  recoveryHours: 24,
  roots: [],
  aaguids: [],
}

const MAX_RECOVERY_HOURS = 720
const MAX_ROOTS = 20
const MAX_ORIGINS = 20
const MAX_AAGUIDS = 100
const DOMAIN = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/
const NUMBER_AT_END = /(^|\.)\d+$/
const AAGUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** @returns null for a tenant that uses no passkeys */
export function passkeySettings({ passkeys }: Pick<TenantRecord, 'passkeys'>): PasskeySettings | null {
  if (passkeys === null) return null
  const settings = { ...PASSKEY_DEFAULTS, ...(JSON.parse(passkeys) as PasskeySettings) }
  // An earlier version let synced passkeys count as a key in hardware.
  return settings.synced === 'refused' ? settings : { ...settings, synced: 'swk' }
}

/** Checks settings. @returns the JSON that is stored @throws PasskeySettingsError */
export function checkedPasskeys({
  rpId,
  origins,
  synced,
  registration,
  recoveryHours,
  roots,
  aaguids,
}: PasskeySettings): string {
  // Browsers refuse an IP address as a relying party.
  if (!DOMAIN.test(rpId) || NUMBER_AT_END.test(rpId))
    throw new PasskeySettingsError(
      'invalid_rp_id',
      `${JSON.stringify(rpId)} is not a domain in lower case, such as bank.example or localhost.`,
    )
  if (origins.length === 0 || origins.length > MAX_ORIGINS)
    throw new PasskeySettingsError('invalid_origin', `Name 1 to ${MAX_ORIGINS} origins.`)
  for (const origin of origins) assertOriginOf(rpId, origin)
  const unknown = aaguids.find((aaguid) => !AAGUID.test(aaguid))
  if (unknown !== undefined || aaguids.length > MAX_AAGUIDS)
    throw new PasskeySettingsError(
      'invalid_aaguid',
      unknown === undefined
        ? `There can be at most ${MAX_AAGUIDS} AAGUIDs.`
        : `${JSON.stringify(unknown)} is not an AAGUID: expected a UUID in lower case.`,
    )
  if (roots.length > MAX_ROOTS)
    throw new PasskeySettingsError('invalid_root', `There can be at most ${MAX_ROOTS} root certificates.`)
  const certificates = roots.map(rootOf)
  if (aaguids.length > 0 && roots.length === 0)
    throw new PasskeySettingsError(
      'roots_required',
      'A list of AAGUIDs needs the root certificates that attest them: without them, the AAGUID is only a claim of the browser.',
    )
  if (!Number.isInteger(recoveryHours) || recoveryHours < 1 || recoveryHours > MAX_RECOVERY_HOURS)
    throw new PasskeySettingsError(
      'invalid_recovery_hours',
      `A recovery waits ${recoveryHours} hours; expected 1 to ${MAX_RECOVERY_HOURS}.`,
    )
  return JSON.stringify({
    rpId,
    origins: [...new Set(origins)],
    synced,
    registration,
    recoveryHours,
    roots: [...new Set(certificates)],
    aaguids: [...new Set(aaguids)],
  } satisfies PasskeySettings)
}

function assertOriginOf(rpId: string, origin: string): void {
  if (safeOrigin(origin) !== origin)
    throw new PasskeySettingsError(
      'invalid_origin',
      `${JSON.stringify(origin)} is not an origin: expected https://host or https://host:port (http only for localhost).`,
    )
  const { hostname } = new URL(origin)
  if (hostname !== rpId && !hostname.endsWith(`.${rpId}`))
    throw new PasskeySettingsError(
      'invalid_origin',
      `${origin} is not of the domain ${rpId}: browsers would refuse passkeys there.`,
    )
}

/** @returns the certificate in PEM as OpenSSL writes it @throws PasskeySettingsError invalid_root */
function rootOf(pem: string): string {
  let certificate: X509Certificate
  try {
    certificate = new X509Certificate(pem)
  } catch (cause) {
    throw new PasskeySettingsError('invalid_root', 'A root certificate is not a certificate in PEM.', {
      cause,
    })
  }
  if (!certificate.ca)
    throw new PasskeySettingsError(
      'invalid_root',
      `The certificate of ${certificate.subject.replaceAll('\n', ', ')} is not that of an authority.`,
    )
  return certificate.toString()
}

export function fingerprintOf(pem: string): string {
  return new X509Certificate(pem).fingerprint256
}
