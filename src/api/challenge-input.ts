/** Uses up the challenge of a request, whatever comes of the request. */

import { DomainError } from '../lib/domain-error.js'
import type { StoreTransaction } from '../storage/store.js'
import type { OpenedChallenge } from '../verification/opened-challenge.js'
import type { CaptureCall } from '../verification/verification-call.js'
import type { Call, Commit, Outcome } from './endpoint.js'
import { errorBody, statusOf } from './error-response.js'
import type { Services } from './services.js'

/** What came of the call uses the challenge up, whatever it is: a refusal of the capture as well. */
export async function usingUp(
  { challenges }: Pick<Services, 'challenges'>,
  opened: OpenedChallenge | null,
  { requestId, errorsUrl, user }: Pick<Call<CaptureCall['input']>, 'requestId' | 'errorsUrl' | 'user'>,
  work: () => Promise<Commit | Outcome>,
): Promise<Commit | Outcome> {
  if (!opened) return work()
  const use = (tx: StoreTransaction) => challenges.use(tx, opened.challenge)
  try {
    const result = await work()
    return async (tx) => {
      await use(tx)
      return typeof result === 'function' ? result(tx) : result
    }
  } catch (error) {
    if (!(error instanceof DomainError) || error.category !== 'biometric_rejected') throw error
    return async (tx) => {
      await use(tx)
      return {
        status: statusOf(error),
        code: error.code,
        body: errorBody(error, { requestId, errorsUrl }),
        ...(user ? { owner: { blindIndex: user.blindIndex, subject: null } } : {}),
        audit: { challenge_id: opened.challenge.id },
      }
    }
  }
}
