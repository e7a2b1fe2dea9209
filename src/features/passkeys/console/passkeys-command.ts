/** `countersign tenant passkeys`: shows and changes how a tenant uses passkeys. */
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { COMMAND_LINE } from '../../../audit/audited-unit-of-work.js'
import type { CommandHost } from '../../../cli/lib/feature-command.js'
import { action, type OutputOptions, print, UsageError } from '../../../cli/lib/output.js'
import { fields } from '../../../cli/lib/style.js'
import type { TenantRecord } from '../../../storage/records.js'
import { certificatesOf } from '../../../tenants/pem.js'
import { changeSettings } from '../passkey-operations.js'
import {
  PASSKEY_DEFAULTS,
  type PasskeySettings,
  passkeySettings,
  REGISTRATION_POLICIES,
  SYNCED_POLICIES,
} from '../passkey-settings.js'
import { passkeySettingsView } from '../passkey-views.js'

interface PasskeyOptions extends OutputOptions {
  rpId?: string
  origin?: string[]
  synced?: string
  registration?: string
  recoveryHours?: string
  roots?: string[]
  aaguid?: string[]
  off?: boolean
}

/** Value that empties a list. */
const NONE = 'none'

export function registerTenantPasskeys(passkeys: Command, { withCore }: CommandHost): void {
  passkeys
    .option('--rp-id <domain>', 'domain to which the passkeys belong, such as bank.example')
    .option('--origin <origins...>', 'origins of the pages that use passkeys; replaces the earlier ones')
    .option(
      '--synced <policy>',
      'what a passkey counts as that its provider copies to other devices: swk or refused',
    )
    .option(
      '--registration <policy>',
      'verified: a registration needs a fresh verify with liveness; backend: the API key is enough',
    )
    .option(
      '--recovery-hours <hours>',
      'wait between a verification for `recover_passkey` and the registration',
    )
    .option(
      '--roots <files...>',
      `PEM files of the authorities whose attestation makes a passkey count as hwk; ${NONE}: no passkey does`,
    )
    .option('--aaguid <aaguids...>', `authenticators that are accepted, attested by a root; ${NONE}: all`)
    .option('--off', 'use no passkeys: registered ones are kept, and refused meanwhile')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: PasskeyOptions) => {
        const { json: _, ...named } = options
        const view =
          Object.keys(named).length === 0
            ? await withCore(async ({ tenancy }) => viewOf(await tenancy.find(name)))
            : await withCore(async ({ tenancy, operations: { audited } }) => {
                const found = await tenancy.findLive(name)
                const settings = await changed(passkeySettings(found), options)
                return viewOf(await changeSettings(audited, found, COMMAND_LINE, settings))
              })
        print(options, view, () =>
          view.rp_id === null
            ? `${view.name} uses no passkeys.`
            : fields([
                ['Domain', view.rp_id],
                ['Pages', view.origins.join(', ')],
                ['Synced passkeys', view.synced === 'refused' ? 'refused' : `count as ${view.synced}`],
                [
                  'Registration',
                  view.registration === 'verified'
                    ? 'after a verification with liveness'
                    : 'by the backend only',
                ],
                ['Recovery', `after ${view.recovery_hours} h`],
                ['Attested by', view.roots.map(subjectOf).join('; ') || 'nobody: all passkeys count as swk'],
                ['Authenticators', view.aaguids.join(', ') || 'all'],
              ]),
        )
      }),
    )
}

function viewOf(tenant: TenantRecord) {
  return { tenant_id: tenant.id, name: tenant.name, ...passkeySettingsView(tenant) }
}

/** @throws UsageError wrong_usage, invalid_option */
async function changed(
  present: PasskeySettings | null,
  options: PasskeyOptions,
): Promise<PasskeySettings | null> {
  if (options.off) return null
  const { rpId = present?.rpId, origin = present?.origins } = options
  if (rpId === undefined || origin === undefined)
    throw new UsageError('wrong_usage', 'Give --rp-id and --origin together the first time.')
  const {
    synced = present?.synced ?? PASSKEY_DEFAULTS.synced,
    registration = present?.registration ?? PASSKEY_DEFAULTS.registration,
    recoveryHours = present?.recoveryHours ?? PASSKEY_DEFAULTS.recoveryHours,
    aaguid = present?.aaguids ?? PASSKEY_DEFAULTS.aaguids,
  } = options
  return {
    rpId,
    origins: origin,
    synced: oneOf(SYNCED_POLICIES, synced, '--synced'),
    registration: oneOf(REGISTRATION_POLICIES, registration, '--registration'),
    recoveryHours: Number(recoveryHours),
    roots: options.roots ? await certificatesIn(options.roots) : (present?.roots ?? PASSKEY_DEFAULTS.roots),
    aaguids: aaguid.filter((one) => one !== NONE),
  }
}

/** The certificates of the files, each as text in PEM. @throws UsageError invalid_option */
async function certificatesIn(files: readonly string[]): Promise<string[]> {
  const texts = files
    .filter((file) => file !== NONE)
    .map((file) =>
      readFile(file, 'utf8').catch((cause) => {
        throw new UsageError('invalid_option', `--roots names ${file}, which cannot be read.`, { cause })
      }),
    )
  return (await Promise.all(texts)).flatMap(certificatesOf)
}

function subjectOf(pem: string): string {
  return new X509Certificate(pem).subject.replaceAll('\n', ', ')
}

function oneOf<T extends string>(known: readonly T[], text: string, option: string): T {
  const found = known.find((one) => one === text)
  if (found === undefined)
    throw new UsageError('invalid_option', `${option} is "${text}"; expected ${known.join(', ')}.`)
  return found
}
