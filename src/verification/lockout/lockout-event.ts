/** Announces a lockout in the transaction in which it begins. */
import type { Events } from '../../events/events.js'
import { isoTime } from '../../lib/clock.js'
import type { StoreTransaction } from '../../storage/store.js'
import { ownerOf, type Subject } from '../../users/template-vault.js'
import type { Call } from '../call.js'
import type { LockoutReason } from './lockout.js'

/** @param begun lockout that the rejection just counted began; undefined where it began none */
export async function announceLockout(
  tx: StoreTransaction,
  events: Events,
  { tenant, environment, input }: Pick<Call<{ user_id: string }>, 'tenant' | 'environment' | 'input'>,
  { subject, begun }: { subject: Subject; begun: LockoutReason | undefined },
): Promise<void> {
  if (begun === undefined) return
  const { failures, lockedUntil } = (await tx.subjectWithoutReference(subject.record.blindIndex))!
  const isDisabled = begun === 'reference_disabled'
  await events.put(tx, {
    tenantId: tenant.id,
    environment,
    type: isDisabled ? 'user.disabled' : 'user.locked_out',
    data: {
      user_id: input.user_id,
      rejections: failures,
      ...(isDisabled ? {} : { ends_at: isoTime(lockedUntil!) }),
    },
    subject: ownerOf(subject),
  })
}
