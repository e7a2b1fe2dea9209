/** Uses up the challenges of a request, in the transaction of the request's outcome. */
import type { ErrorCode } from '../contract/error-codes.js'
import { DomainError } from '../lib/domain-error.js'
import type { StoreTransaction } from '../storage/store.js'
import type { Challenge } from '../verification/challenge/challenge-book.js'
import type { AuditFacts, Commit, Outcome } from './endpoint.js'
import type { Services } from './services.js'

/**
 * Runs the work and adds the use of the challenges to its commit. A capture that is refused uses them up as well:
 * otherwise one challenge would give as many tries as somebody likes. Any other error leaves the challenges as they were.
 * @param challenges of the request; empty for one without a challenge
 * @param spendingErrors further refusals that use them up
 * @param onRefused runs in the transaction that uses the challenges up, and returns further facts for the audit entry
 */
export async function spendChallenges(
  book: Pick<Services['challenges'], 'use'>,
  challenges: readonly Challenge[],
  spendingErrors: ReadonlySet<ErrorCode>,
  work: () => Promise<Commit | Outcome>,
  onRefused: (tx: StoreTransaction, error: DomainError) => Promise<AuditFacts> = async () => ({}),
): Promise<Commit | Outcome> {
  if (challenges.length === 0) return work()
  try {
    const result = await work()
    return async (tx) => {
      for (const challenge of challenges) await book.use(tx, challenge)
      return typeof result === 'function' ? result(tx) : result
    }
  } catch (error) {
    if (
      !(error instanceof DomainError) ||
      !(error.category === 'biometric_rejected' || spendingErrors.has(error.code))
    )
      throw error
    return async (tx) => {
      for (const challenge of challenges) await book.use(tx, challenge)
      return { refused: error, audit: { challenge_id: challenges[0]!.id, ...(await onRefused(tx, error)) } }
    }
  }
}
