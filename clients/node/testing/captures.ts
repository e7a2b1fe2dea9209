/** Captures of the service in memory: what the ending of a user id says about photos and frames. None is decoded. */
import { ERRORS } from '../../../src/contract/error-codes.js'
import {
  isFirstPhotoPoor,
  photoRefusal,
  SANDBOX_MODEL,
  SLOW_MS,
  sandboxOutcome,
  scriptedLiveness,
} from '../../../src/contract/sandbox-rules.js'
import type { Liveness, VerifyFacts } from '../types.js'
import { challengeLiveness, type OpenedChallenge } from './challenges.js'
import { qualityDetail } from './quality.js'
import { FakeRefusal, photoDetail } from './refusals.js'
import { blame, type Call, photosOf, refuseBusy } from './requests.js'
import { UNCHECKED } from './signatures.js'
import type { TestClock } from './test-clock.js'

type CaptureIntegrity = NonNullable<VerifyFacts['capture_integrity']>

/** Refuses a capture as the ending of the user id asks, after the wait of `+slow`. @throws FakeRefusal */
export async function screen(call: Call, clock: TestClock): Promise<void> {
  const { user_id } = call.body
  refuseBusy(user_id, call)
  const outcome = sandboxOutcome(user_id)
  if (outcome === '+slow') await clock.sleep(SLOW_MS, call.signal)
  if (call.body.challenge && outcome === '+challenge_expired')
    throw new FakeRefusal('challenge_expired', call.requestId)
  const code = photoRefusal(user_id)
  if (code && !call.body.challenge) throw new FakeRefusal(code, call.requestId, blame(call, code))
}

/** @throws FakeRefusal low_quality */
export function refusePoor(call: Call, purpose: 'enrol' | 'verify'): void {
  const { user_id, images } = call.body
  if (!isFirstPhotoPoor(user_id)) return
  const details = [qualityDetail(images ? 'images.0' : 'image', purpose)]
  throw new FakeRefusal('low_quality', call.requestId, details)
}

export function livenessOf(
  userId: string,
  opened: OpenedChallenge | null,
  checksLiveness: boolean,
): Liveness {
  const scripted = scriptedLiveness(userId, checksLiveness)
  const methods = scripted.checked ? [`passive:${SANDBOX_MODEL}`] : []
  const passive = { ...UNCHECKED, ...scripted, methods }
  return opened ? challengeLiveness(userId, passive, opened.method) : passive
}

export function livenessDetails(call: Call, { guidance }: Liveness) {
  if (!call.body.challenge) return blame(call, 'liveness_failed')
  return [photoDetail('challenge.frames', ERRORS.liveness_failed.message, guidance[0] ?? 'not_live')]
}

/** The methods that the frames of a challenge, or photos, would pass, for the `acr` that they offer. */
export function offeredMethods(method: string | null, checksLiveness: boolean): string[] {
  return [...(method ? [method] : []), ...(checksLiveness ? [`passive:${SANDBOX_MODEL}`] : [])]
}

export function includesQuality({ body }: Call): boolean {
  return body.include?.includes('quality') ?? false
}

/** Signals of a capture: those that the request reports, and equal files. @returns null for a request without a report */
export function integrityOf(call: Call): CaptureIntegrity | null {
  const { capture_integrity: report } = call.body
  if (!report) return null
  const pictures = photosOf(call)
  const isRepeated = new Set(pictures).size < pictures.length
  return {
    signals: [
      ...report.signals.map((code: string) => ({ code, source: 'client' })),
      ...(isRepeated ? [{ code: 'repeated_picture', source: 'server' } as const] : []),
    ],
  }
}
