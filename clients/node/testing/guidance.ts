/** Answers `POST /v1/guidance` of the service in memory by the sandbox's rules. No frame is decoded. */
import { scriptedGuidance } from '../../../src/contract/sandbox-rules.js'
import { type Call, refuseBusy, refuseRequest } from './requests.js'
import type { FakeAnswer } from './signatures.js'

/** @throws FakeRefusal invalid_request, rate_limited, overloaded */
export function guidanceAnswer(call: Call): FakeAnswer {
  const { image, step = 'frontal', user_id = '' } = call.body
  if (typeof image !== 'string' || !image) refuseRequest(call, 'image', 'is required')
  refuseBusy(user_id, call)
  return { status: 200, body: { step, guidance: scriptedGuidance(user_id, step) } }
}
