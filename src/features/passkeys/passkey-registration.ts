/** Registers a passkey in the transaction of a call: the credential, its audit facts and its webhook. */
import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import type { AuditFacts } from '../../audit/audit-log.js'
import { eventAbout } from '../../events/events.js'
import { DomainError } from '../../lib/domain-error.js'
import type { StoreReader, StoreTransaction } from '../../storage/store.js'
import type { Subject } from '../../users/template-vault.js'
import { strongestOf } from './checks/passkey-check.js'
import { passkeyChallenge } from './passkey-challenge.js'
import type { PasskeyServices } from './passkey-services.js'
import type { PasskeySettings } from './passkey-settings.js'
import { passkeyReader } from './passkey-table.js'
import type { Passkey, PasskeyContent, PasskeyVault } from './passkey-vault.js'

/** Passkeys of one user: enough for every device, and few enough to be read with each verify. */
export const MAX_PASSKEYS = 10

export interface RegistrationInput {
  name?: string
  credential: RegistrationResponseJSON
}

/**
 * Checks the answer of the authenticator to a registration.
 * @param nonce of the challenge that the caller has opened
 * @throws DomainError those of `checkRegistration`
 */
export async function registeredContent(
  { passkeyChecks }: Pick<PasskeyServices, 'passkeyChecks'>,
  settings: PasskeySettings,
  { credential, name }: RegistrationInput,
  nonce: string,
): Promise<PasskeyContent> {
  const checked = await passkeyChecks.registration(settings, credential, passkeyChallenge(nonce, null))
  return { ...checked, name: name ?? null }
}

/**
 * @param isRecovery whether a recovery allowed the registration
 * @throws DomainError passkey_limit_reached, passkey_already_registered
 */
export async function storePasskey(
  tx: StoreTransaction,
  { passkeys, events }: Pick<PasskeyServices, 'passkeys' | 'events'>,
  userId: string,
  subject: Subject,
  content: PasskeyContent,
  isRecovery = false,
): Promise<{ passkey: Passkey; audit: Partial<AuditFacts> }> {
  if ((await tx.statements(passkeyReader).of(subject.record.id)).length >= MAX_PASSKEYS)
    throw new DomainError('passkey_limit_reached')
  const passkey = await passkeys.add(tx, subject, content)
  if (!passkey) throw new DomainError('passkey_already_registered')
  const { id } = passkey.record
  const { name, isSynced, aaguid, attestedBy } = content
  const data = { user_id: userId, passkey_id: id, name, synced: isSynced, recovered: isRecovery }
  await events.put(tx, eventAbout(subject, 'user.passkey_registered', data))
  return {
    passkey,
    audit: {
      passkey_id: id,
      passkey_synced: isSynced,
      passkey_aaguid: aaguid,
      passkey_attested: attestedBy !== undefined,
      ...(isRecovery ? { passkey_recovered: true } : {}),
    },
  }
}

/**
 * Refuses to register a passkey with the enrollment of a user who has one, or had one: that needs a verdict of its own.
 * @throws DomainError passkey_proof_required
 */
export async function assertFirstPasskey(
  store: StoreReader,
  passkeys: PasskeyVault,
  settings: PasskeySettings,
  subject: Subject | null,
): Promise<void> {
  if (subject && strongestOf(settings, subject.record, await passkeys.of(store, subject)) !== null)
    throw new DomainError('passkey_proof_required')
}
