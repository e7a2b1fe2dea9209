/** Announces a lockout in the transaction in which it begins. */
import { type Events, eventAbout } from '../../events/events.js'
import { isoTime } from '../../lib/clock.js'
import type { StoreTransaction } from '../../storage/store.js'
import type { Subject } from '../../users/template-vault.js'
import type { Call } from '../call.js'
import type { LockoutReason } from './lockout.js'

/** @param begun lockout that the rejection just counted began; undefined where it began none */
export async function announceLockout(
  tx: StoreTransaction,
  events: Events,
  { input }: Pick<Call<{ user_id: string }>, 'input'>,
  { subject, begun }: { subject: Subject; begun: LockoutReason | undefined },
): Promise<void> {
  if (begun === undefined) return
  const { failures, lockedUntil } = (await tx.subjectWithoutReference(subject.record.blindIndex))!
  const isDisabled = begun === 'reference_disabled'
  const data = { user_id: input.user_id, rejections: failures }
  const event = isDisabled
    ? eventAbout(subject, 'user.disabled', data)
    : eventAbout(subject, 'user.locked_out', { ...data, ends_at: isoTime(lockedUntil!) })
  await events.put(tx, event)
}
