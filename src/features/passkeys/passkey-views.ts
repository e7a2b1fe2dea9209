/** Passkeys and their settings as callers, the command line and the dashboard see them. */
import { optionalTime } from '../../lib/clock.js'
import { wire } from '../../lib/wire.js'
import type { TenantRecord } from '../../storage/records.js'
import { passkeySettings } from './passkey-settings.js'
import type { Passkey } from './passkey-vault.js'

export function passkeyView({ record, content }: Passkey) {
  return {
    passkey_id: record.id,
    name: content.name,
    synced: content.isSynced,
    backed_up: content.isBackedUp,
    ...wire(content, 'aaguid', 'transports'),
    ...wire(record, 'createdAt', 'lastUsedAt'),
  }
}

/** A passkey with the state of its counter, for a person who looks for copies. */
export function inspectedPasskeyView(passkey: Passkey) {
  const { counter, counterReversedAt } = passkey.content
  return {
    ...passkeyView(passkey),
    /** Number of signatures, as the authenticator counts them; 0 for one that does not count. */
    counter,
    /** When the passkey was last refused because its counter did not grow; null where it never was. */
    counter_reversed_at: optionalTime(counterReversedAt ?? null),
  }
}

const NONE = {
  ...{ rpId: null, synced: null, registration: null, recoveryHours: null },
  ...{ origins: [] as string[], roots: [] as string[], aaguids: [] as string[] },
}

export function passkeySettingsView(tenant: TenantRecord) {
  const settings = passkeySettings(tenant) ?? NONE
  return {
    ...wire(settings, 'rpId', 'origins', 'synced', 'registration'),
    ...wire(settings, 'recoveryHours', 'roots', 'aaguids'),
  }
}
