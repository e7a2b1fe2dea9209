/** The same capture again, by the same request, seconds later: a double click or an impatient tap, which gets the first answer again. */
import { SECOND_MS } from '../../lib/clock.js'
import type { StoreTransaction } from '../../storage/store.js'
import type { Subject } from '../../users/template-vault.js'
import type { UserCall } from '../call.js'

/** Twice the time that a caller waits for one attempt: who gave up on the first answer and asks again still gets it. */
const REPEAT_WINDOW_MS = 30 * SECOND_MS

/**
 * The body of the first answer, where the request repeats one of the last seconds to the byte: then pictures, action, nonce and everything
 * else agree. It holds the same verdict under the same id, which can still be used only once. An answer about a reference that was
 * replaced since is none.
 * @param at milliseconds since the Unix epoch
 */
export async function firstAnswer(
  tx: StoreTransaction,
  { earlierAnswer }: Pick<UserCall<unknown>, 'earlierAnswer'>,
  subject: Subject,
  at: number,
): Promise<string | null> {
  const body = await earlierAnswer?.(tx, subject, at - REPEAT_WINDOW_MS)
  if (!body) return null
  // A repeat is kept under its own key as well: only the time of the verdict itself says how old it is.
  const { verified_at } = JSON.parse(body) as { verified_at?: string }
  const verifiedAt = verified_at === undefined ? Number.NaN : Date.parse(verified_at)
  return verifiedAt >= Math.max(at - REPEAT_WINDOW_MS, subject.reference?.createdAt ?? 0) ? body : null
}
