/** Guidance of the service in memory: as the sandbox's, chosen by the end of the user id; no frame is looked at. */
import { CHALLENGE_FAULTS, outcomeOf } from './testing-outcomes.js'
import { type Call, refuseBusy, refuseRequest } from './testing-requests.js'
import type { FakeAnswer } from './testing-signatures.js'
import type { ChallengeStep, LivenessGuidance } from './types.js'

/** In which steps a code is said; every other one in all of them. */
const SAID_IN: Partial<Record<LivenessGuidance, (step: ChallengeStep) => boolean>> = {
  blurred: (step) => step === 'frontal',
  not_frontal: (step) => step === 'frontal',
  wrong_direction: (step) => step !== 'frontal',
  turn_more: (step) => step.startsWith('turn_'),
  nod_more: (step) => step.startsWith('nod_'),
  slower: () => false,
  try_again: () => false,
}

export function guidanceAnswer(call: Call): FakeAnswer {
  const { image, step = 'frontal', user_id = '' } = call.body
  if (typeof image !== 'string' || !image) refuseRequest(call, 'image', 'is required')
  refuseBusy(user_id, call)
  const outcome = outcomeOf(user_id) ?? ''
  const code = outcome === '+low_quality' ? 'blurred' : CHALLENGE_FAULTS[outcome]?.guidance
  const isSaid = code !== undefined && (SAID_IN[code]?.(step) ?? true)
  return { status: 200, body: { step, guidance: isSaid ? [code] : [] } }
}
