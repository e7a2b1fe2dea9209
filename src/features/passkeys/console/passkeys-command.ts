/** `countersign tenant passkeys`: shows and changes how a tenant uses passkeys. */
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { type Asked, declare, oneOf } from '../../../cli/lib/command.js'
import type { CommandHost } from '../../../cli/lib/feature-command.js'
import { UsageError } from '../../../cli/lib/output.js'
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

const NONE = 'none'

const OPTIONS = {
  '--rp-id <domain>': 'domain to which the passkeys belong, such as bank.example',
  '--origin <origins...>': 'origins of the pages that use passkeys; replaces the earlier ones',
  '--synced <policy>': {
    does: 'what a passkey counts as that its provider copies to other devices: swk or refused',
    parse: oneOf(SYNCED_POLICIES),
  },
  '--registration <policy>': {
    does: 'verified: a registration needs a fresh verify with liveness; backend: the API key is enough',
    parse: oneOf(REGISTRATION_POLICIES),
  },
  '--recovery-hours <hours>': {
    does: 'wait between a verification for `recover_passkey` and the registration',
    parse: Number,
  },
  '--roots <files...>': `PEM files of the authorities whose attestation makes a passkey count as hwk; ${NONE}: no passkey does`,
  '--aaguid <aaguids...>': `authenticators that are accepted, attested by a root; ${NONE}: all`,
  '--off': 'use no passkeys: registered ones are kept, and refused meanwhile',
} as const

export function registerTenantPasskeys(passkeys: Command, { onTenant, onLiveTenant }: CommandHost): void {
  declare(passkeys, '<tenant>', {
    options: OPTIONS,
    async answer({ tenant, json: _, ...changes }) {
      if (Object.values(changes).every((change) => change === undefined || change === false))
        return onTenant(tenant, async (_core, found) => viewOf(found))
      return onLiveTenant(tenant, async ({ operations: { audited }, actor }, found) => {
        const settings = await changed(passkeySettings(found), changes)
        return viewOf(await changeSettings(audited, found, actor, settings))
      })
    },
    text: (view) =>
      view.rp_id === null
        ? `${view.name} uses no passkeys.`
        : fields([
            ['Domain', view.rp_id],
            ['Pages', view.origins.join(', ')],
            ['Synced passkeys', view.synced === 'refused' ? 'refused' : `count as ${view.synced}`],
            [
              'Registration',
              view.registration === 'verified' ? 'after a verification with liveness' : 'by the backend only',
            ],
            ['Recovery', `after ${view.recovery_hours} h`],
            ['Attested by', view.roots.map(subjectOf).join('; ') || 'nobody: all passkeys count as swk'],
            ['Authenticators', view.aaguids.join(', ') || 'all'],
          ]),
  })
}

function viewOf(tenant: TenantRecord) {
  return { tenant_id: tenant.id, name: tenant.name, ...passkeySettingsView(tenant) }
}

/** @throws UsageError wrong_usage, invalid_option */
async function changed(
  present: PasskeySettings | null,
  options: Omit<Asked<'', typeof OPTIONS>, 'json'>,
): Promise<PasskeySettings | null> {
  if (options.off) return null
  const { rpId = present?.rpId, origin = present?.origins } = options
  if (rpId === undefined || origin === undefined)
    throw new UsageError('wrong_usage', 'Give --rp-id and --origin together the first time.')
  const { synced, registration, recoveryHours, roots, aaguids } = present ?? PASSKEY_DEFAULTS
  return {
    rpId,
    origins: origin,
    synced: options.synced ?? synced,
    registration: options.registration ?? registration,
    recoveryHours: options.recoveryHours ?? recoveryHours,
    roots: options.roots ? await certificatesIn(options.roots) : roots,
    aaguids: (options.aaguid ?? aaguids).filter((one) => one !== NONE),
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
