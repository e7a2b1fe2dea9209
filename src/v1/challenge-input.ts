/** A challenge as a request brings it: opened, its frames described, and used up with whatever comes of it. */

import { ApiError } from '../api-error.js'
import { type Mode, modesOf } from '../biometrics/challenge/steps.js'
import type { ChallengeFrames } from '../biometrics/types.js'
import type { LivenessRequirement } from '../config/liveness-requirement.js'
import type { StoreTransaction } from '../storage/store.js'
import type { Challenge, ChallengeSubject } from '../subjects/challenge-book.js'
import type { Call, Commit, Outcome } from './endpoint.js'
import type { ImageInput } from './images.js'
import { missingLiveness, strictest } from './liveness.js'
import type { Services } from './services.js'

export interface OpenedChallenge {
  challenge: Challenge
  frames: ChallengeFrames
}

export type CaptureCall = Call<ImageInput & { user_id: string; require_liveness?: LivenessRequirement }>

type ChallengeServices = Pick<Services, 'challenges' | 'store' | 'config' | 'recogniser'>

/**
 * Null for a request with photos.
 * @throws ApiError challenge_not_found, challenge_used, challenge_expired, challenge_mismatch, liveness_required, liveness_unavailable
 */
export async function openChallenge(
  { challenges, store, config, recogniser }: ChallengeServices,
  { input, tenant, environment }: CaptureCall,
  subject: Pick<ChallengeSubject, 'lookup' | 'purpose' | 'action'>,
): Promise<OpenedChallenge | null> {
  const given = input.challenge
  const challenge =
    given && (await challenges.open(store.read, given, { tenantId: tenant.id, environment, ...subject }))
  const modes = challenge ? modesOf(challenge.steps) : []
  assertLivenessOffered({ config, recogniser }, { input, tenant }, modes)
  if (!challenge) return null
  const notes = given!.frames.map(({ step, t_ms: tMs }) => ({ step, tMs }))
  return { challenge, frames: { notes, steps: challenge.steps } }
}

/**
 * @param modes of the challenge; none where there is none
 * @throws ApiError liveness_required, liveness_unavailable
 */
export function assertLivenessOffered(
  { config, recogniser }: Pick<ChallengeServices, 'config' | 'recogniser'>,
  { input, tenant }: Pick<Call<{ require_liveness?: LivenessRequirement }>, 'input' | 'tenant'>,
  modes: readonly Mode[],
): void {
  const requirement = strictest(
    config.requireLiveness,
    tenant.requireLiveness ?? 'none',
    input.require_liveness ?? 'none',
  )
  const missing = missingLiveness(requirement, { passive: recogniser.passiveLiveness !== null, modes })
  if (missing === 'passive') throw new ApiError('liveness_unavailable')
  if (missing === 'active') throw new ApiError('liveness_required')
}

/** What came of the call uses the challenge up, whatever it is: a refusal of the capture as well. */
export async function usingUp(
  { challenges }: Pick<Services, 'challenges'>,
  opened: OpenedChallenge | null,
  { requestId, errorsUrl, user }: CaptureCall,
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
    if (!(error instanceof ApiError) || error.category !== 'biometric_rejected') throw error
    return async (tx) => {
      await use(tx)
      return {
        status: error.status,
        code: error.code,
        body: error.toBody({ requestId, errorsUrl }),
        ...(user ? { owner: { lookup: user.lookup, subject: null } } : {}),
        audit: { challenge_id: opened.challenge.id },
      }
    }
  }
}
