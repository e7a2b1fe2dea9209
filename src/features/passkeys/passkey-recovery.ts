/**
 * The recovery of a lost passkey: an approved verify with a check of liveness, for an action of the type `recover_passkey`, begins it. After
 * the tenant's waiting time its verification id allows one registration. An approved verify with a passkey that is strong enough cancels it,
 * and so does the backend.
 */
import type { Possession } from '../../contract/acr.js'
import { eventAbout } from '../../events/events.js'
import { DAY_MS, HOUR_MS, isoTime, MINUTE_MS } from '../../lib/clock.js'
import { DomainError } from '../../lib/domain-error.js'
import type { SubjectRecord } from '../../storage/records.js'
import type { StoreTransaction } from '../../storage/store.js'
import type { Subject } from '../../users/template-vault.js'
import { strongerOf, strongestOf } from './checks/passkey-check.js'
import type { PasskeyServices } from './passkey-services.js'
import type { PasskeySettings } from './passkey-settings.js'
import { passkeyWriter } from './passkey-table.js'

/** How long a registration can follow once the waiting time is over. */
const USABLE_MS = 7 * DAY_MS

export const NOTHING_WAITS = { passkeyRecovery: null, passkeyRecoveryAt: null }

interface RecoveringUser {
  userId: string
  subject: Subject
}

type Parts = Pick<PasskeyServices, 'passkeys' | 'events'>

/**
 * Begins the recovery in the transaction of the verdict. An earlier recovery of the user ends, and its wait does not count.
 * @returns facts for the audit entry; none for a user who never had a passkey
 */
export async function beginRecovery(
  tx: StoreTransaction,
  { passkeys, events }: Parts,
  settings: PasskeySettings,
  { userId, subject }: RecoveringUser,
  { verificationId, at }: { verificationId: string; at: number },
): Promise<{ passkey_recovery_ready_at?: string }> {
  const { record } = subject
  if (strongestOf(settings, record, await passkeys.of(tx, subject)) === null) return {}
  const readyAt = at + (record.environment === 'sandbox' ? MINUTE_MS : settings.recoveryHours * HOUR_MS)
  const waiting = { passkeyRecovery: verificationId, passkeyRecoveryAt: readyAt }
  await tx.statements(passkeyWriter).setState({ ...record, ...waiting })
  const event = eventAbout(subject, 'user.passkey_recovery_begun', {
    user_id: userId,
    verification_id: verificationId,
    ready_at: isoTime(readyAt),
    expires_at: isoTime(readyAt + USABLE_MS),
  })
  await events.put(tx, event)
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
  { userId, subject }: RecoveringUser,
): Promise<string> {
  const { passkeyRecovery } = subject.record
  if (passkeyRecovery === null) throw new DomainError('passkey_recovery_not_found')
  await tx.statements(passkeyWriter).setState({ ...subject.record, ...NOTHING_WAITS })
  const data = { user_id: userId, verification_id: passkeyRecovery }
  await events.put(tx, eventAbout(subject, 'user.passkey_recovery_cancelled', data))
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
