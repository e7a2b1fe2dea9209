/**
 * The recovery of a lost passkey: an approved verify with a check of liveness, for an action of the type `recover_passkey`, begins it. After
 * the tenant's waiting time its verification id allows one registration. An approved verify with a passkey that is strong enough cancels it,
 * and so does the backend.
 */
import type { Environment } from '../../config/config.js'
import type { Possession } from '../../contract/acr.js'
import type { Events } from '../../events/events.js'
import { DAY_MS, HOUR_MS, isoTime, MINUTE_MS } from '../../lib/clock.js'
import { DomainError } from '../../lib/domain-error.js'
import type { SubjectRecord } from '../../storage/records.js'
import type { StoreTransaction } from '../../storage/store.js'
import { ownerOf, type Subject } from '../../users/template-vault.js'
import { strongerOf, strongestOf } from './checks/passkey-check.js'
import type { PasskeySettings } from './passkey-settings.js'
import { passkeyWriter } from './passkey-table.js'
import type { PasskeyVault } from './passkey-vault.js'

/** How long a registration can follow once the waiting time is over. */
const USABLE_MS = 7 * DAY_MS

/** The user whose passkey is recovered, as a call or an operator names the user. */
interface RecoveringUser {
  tenantId: string
  environment: Environment
  userId: string
  subject: Subject
}

interface Parts {
  passkeys: PasskeyVault
  events: Events
}

/**
 * Begins the recovery in the transaction of the verdict. An earlier recovery of the user ends, and its wait does not count.
 * @returns facts for the audit entry; none for a user who never had a passkey
 */
export async function beginRecovery(
  tx: StoreTransaction,
  { passkeys, events }: Parts,
  settings: PasskeySettings,
  user: RecoveringUser,
  { verificationId, at }: { verificationId: string; at: number },
): Promise<{ passkey_recovery_ready_at?: string }> {
  const { tenantId, environment, userId, subject } = user
  if (strongestOf(settings, subject.record, await passkeys.of(tx, subject)) === null) return {}
  const readyAt = at + (environment === 'sandbox' ? MINUTE_MS : settings.recoveryHours * HOUR_MS)
  const { revokedPasskey } = subject.record
  await tx.statements(passkeyWriter).setState(subject.record.id, {
    passkeyRecovery: verificationId,
    passkeyRecoveryAt: readyAt,
    revokedPasskey,
  })
  await events.put(tx, {
    tenantId,
    environment,
    type: 'user.passkey_recovery_begun',
    data: {
      user_id: userId,
      verification_id: verificationId,
      ready_at: isoTime(readyAt),
      expires_at: isoTime(readyAt + USABLE_MS),
    },
    subject: ownerOf(subject),
  })
  return { passkey_recovery_ready_at: isoTime(readyAt) }
}

/**
 * Cancels a recovery by an approved verify with a passkey which could have allowed the registration itself: the person has it still.
 * @returns facts for the audit entry; none where nothing waits
 */
export async function cancelByPasskey(
  tx: StoreTransaction,
  parts: Parts,
  settings: PasskeySettings,
  user: RecoveringUser,
  possession: Possession,
): Promise<{ passkey_recovery_cancelled?: string }> {
  const { subject } = user
  if (subject.record.passkeyRecovery === null) return {}
  const needed = strongestOf(settings, subject.record, await parts.passkeys.of(tx, subject))
  if (strongerOf(possession, needed) !== possession) return {}
  return { passkey_recovery_cancelled: await cancelRecovery(tx, parts, user) }
}

/** @returns id of the verification that had begun it @throws DomainError passkey_recovery_not_found */
export async function cancelRecovery(
  tx: StoreTransaction,
  { events }: Pick<Parts, 'events'>,
  { tenantId, environment, userId, subject }: RecoveringUser,
): Promise<string> {
  const { id, passkeyRecovery, revokedPasskey } = subject.record
  if (passkeyRecovery === null) throw new DomainError('passkey_recovery_not_found')
  await tx
    .statements(passkeyWriter)
    .setState(id, { passkeyRecovery: null, passkeyRecoveryAt: null, revokedPasskey })
  await events.put(tx, {
    tenantId,
    environment,
    type: 'user.passkey_recovery_cancelled',
    data: { user_id: userId, verification_id: passkeyRecovery },
    subject: ownerOf(subject),
  })
  return passkeyRecovery
}

/** @throws DomainError passkey_recovery_pending before its time, passkey_verdict_required long after it */
export function assertRecovered(
  { passkeyRecoveryAt }: Pick<SubjectRecord, 'passkeyRecoveryAt'>,
  now: number,
): void {
  const waitMs = passkeyRecoveryAt! - now
  if (waitMs > 0) throw new DomainError('passkey_recovery_pending')
  if (-waitMs >= USABLE_MS) throw new DomainError('passkey_verdict_required')
}
