/** Uses up the challenge of a request, in the transaction of the request's outcome. */
import { DomainError } from '../lib/domain-error.js'
import type { OpenedChallenge } from '../verification/opened-challenge.js'
import type { Commit, Outcome } from './endpoint.js'
import type { Services } from './services.js'

/**
 * Runs the work and adds the use of the challenge to its commit. A capture that the engine refuses uses the challenge up as well:
 * otherwise one challenge would give as many tries as somebody likes. Any other error leaves the challenge as it was.
 * @param opened null for a request with photos, which has no challenge
 */
export async function spendChallenge(
  challenges: Pick<Services['challenges'], 'use'>,
  opened: OpenedChallenge | null,
  work: () => Promise<Commit | Outcome>,
): Promise<Commit | Outcome> {
  if (!opened) return work()
  const { challenge } = opened
  try {
    const result = await work()
    return async (tx) => {
      await challenges.use(tx, challenge)
      return typeof result === 'function' ? result(tx) : result
    }
  } catch (error) {
    if (!(error instanceof DomainError) || error.category !== 'biometric_rejected') throw error
    return async (tx) => {
      await challenges.use(tx, challenge)
      return { refused: error, audit: { challenge_id: challenge.id } }
    }
  }
}
