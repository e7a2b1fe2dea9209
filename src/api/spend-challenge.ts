/** Uses up the challenges of a request, in the transaction of the request's outcome. */
import type { ErrorCode } from '../contract/error-codes.js'
import { DomainError } from '../lib/domain-error.js'
import type { StoreTransaction } from '../storage/store.js'
import type { Challenge } from '../verification/challenge-book.js'
import type { AuditFacts, Commit, Outcome } from './endpoint.js'
import type { Services } from './services.js'

/** Refusals of a passkey that use its challenge up, like a capture that the engine refuses. */
const PASSKEY_REFUSALS = [
  'passkey_not_found',
  'passkey_invalid',
  'passkey_challenge_mismatch',
  'passkey_origin_not_allowed',
  'passkey_rp_mismatch',
  'passkey_user_not_verified',
  'passkey_counter_reversed',
  'passkey_became_synced',
  'passkey_not_allowed',
] as const satisfies readonly ErrorCode[]

/** Error codes of an endpoint that takes the answer of an authenticator. */
export const PASSKEY_ERRORS = ['passkeys_unavailable', ...PASSKEY_REFUSALS] as const

/**
 * Runs the work and adds the use of the challenges to its commit. A capture or a passkey that is refused uses them up as well:
 * otherwise one challenge would give as many tries as somebody likes. Any other error leaves the challenges as they were.
 * @param challenges of frames and of a passkey; empty for a request that has neither
 * @param onRefused runs in the transaction that uses the challenges up, and returns further facts for the audit entry
 */
export async function spendChallenges(
  book: Pick<Services['challenges'], 'use'>,
  challenges: readonly Challenge[],
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
    if (!(error instanceof DomainError) || !usesUp(error)) throw error
    return async (tx) => {
      for (const challenge of challenges) await book.use(tx, challenge)
      return { refused: error, audit: { challenge_id: challenges[0]!.id, ...(await onRefused(tx, error)) } }
    }
  }
}

function usesUp({ category, code }: DomainError): boolean {
  return category === 'biometric_rejected' || (PASSKEY_REFUSALS as readonly string[]).includes(code)
}
