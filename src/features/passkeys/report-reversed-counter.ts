/** Reports a passkey that was refused because its counter did not grow: by webhook, with the passkey, and for the audit entry of the call. */
import type { DomainError } from '../../lib/domain-error.js'
import type { StoreTransaction } from '../../storage/store.js'
import { ownerOf } from '../../users/template-vault.js'
import type { UserCall } from '../../verification/call.js'
import { CounterReversedError } from './passkey-proof.js'
import type { PasskeyServices } from './passkey-services.js'

/**
 * Does nothing for any other refusal. The signature of the assertion was checked before its counter, so that only a holder of the key, or of
 * a copy, brings a report about.
 * @returns facts for the audit entry of the refused call
 */
export async function reportReversedCounter(
  { vault, passkeys, outbox }: Pick<PasskeyServices, 'vault' | 'passkeys' | 'outbox'>,
  tx: StoreTransaction,
  { tenant, environment, user }: Pick<UserCall<unknown>, 'tenant' | 'environment' | 'user'>,
  error: DomainError,
): Promise<{ passkey_id?: string }> {
  if (!(error instanceof CounterReversedError)) return {}
  const { passkeyId } = error
  const subject = await vault.find(tx, user.blindIndex, user.id)
  const passkey = subject && (await passkeys.of(tx, subject)).find(({ record }) => record.id === passkeyId)
  // The passkey was revoked, or the user erased, since the assertion was checked.
  if (!subject || !passkey) return {}
  await passkeys.noteReversedCounter(tx, subject, passkey)
  await outbox.put(tx, {
    tenantId: tenant.id,
    environment,
    type: 'user.passkey_counter_reversed',
    data: { user_id: user.id, passkey_id: passkeyId },
    subject: ownerOf(subject),
  })
  return { passkey_id: passkeyId }
}
