/** Captures of the service in memory: what the ending of a user id says about photos and frames. None is decoded. */
import { ERRORS } from '../../../src/contract/error-codes.js'
import {
  POOR_SHARPNESS,
  refusedPhoto,
  SANDBOX_MODEL,
  SLOW_MS,
  sandboxOutcome,
  sandboxRule,
  scriptedLiveness,
} from '../../../src/contract/sandbox-rules.js'
import type { ErrorDetail } from '../errors.js'
import type {
  Liveness,
  Quality,
  QualityBound,
  QualityComponent,
  QualityFinding,
  VerifyFacts,
} from '../types.js'
import type { OpenedChallenge } from './challenges.js'
import { adviceOf, FakeRefusal, photoDetail, refuseRequest } from './refusals.js'
import type { Call } from './requests.js'
import type { TestClock } from './test-clock.js'

type CaptureIntegrity = NonNullable<VerifyFacts['capture_integrity']>

/** A good value of each component, and its bounds for an enrollment photo; null where every value will do. */
const COMPONENTS: Record<QualityComponent, { value: number; bound: QualityBound | null }> = {
  inter_eye_distance: { value: 110, bound: null },
  sharpness: { value: 400, bound: { min: 15 } },
  luminance_mean: { value: 130, bound: { min: 30, max: 230 } },
  luminance_variance: { value: 1600, bound: { min: 25 } },
  under_exposure_prevention: { value: 0.99, bound: { min: 0.75 } },
  over_exposure_prevention: { value: 0.99, bound: null },
  illumination_uniformity: { value: 0.9, bound: { min: 0.4 } },
  head_pose_yaw: { value: 2, bound: { min: -40, max: 40 } },
  head_pose_pitch: { value: -3, bound: { min: -35, max: 35 } },
  head_pose_roll: { value: 1, bound: { min: -30, max: 30 } },
  eyes_open: { value: 0.28, bound: { min: 0.2 } },
}
/** Least sharpness of a photo. Verify refuses only photos that are far too poor. */
const SHARPNESS = { enroll: { min: 15 }, verify: { min: 3 } }
const BLURRED = { component: 'sharpness', value: POOR_SHARPNESS, ...adviceOf('blurred') } as const
const GUIDANCE = {
  face_not_found: 'no_face',
  multiple_faces: 'several_faces',
  different_people: 'different_people',
  liveness_failed: 'not_live',
} as const

/** @returns the photos or frames of a request @throws FakeRefusal invalid_request */
export function photosOf({ image, images, challenge }: Call['body']): string[] {
  const photos = challenge?.frames.map((frame: { image: unknown }) => frame.image) ?? images ?? [image]
  if (photos.length === 0 || !photos.every((photo: unknown) => typeof photo === 'string' && photo))
    refuseRequest('image', 'is required')
  return photos
}

/** @returns the fields that hold the first photos or frames of a request */
export function photoPaths(body: Call['body'], count: number): string[] {
  const pathOf = (index: number) =>
    body.challenge ? `challenge.frames.${index}.image` : body.images ? `images.${index}` : 'image'
  return Array.from({ length: count }, (_, index) => pathOf(index))
}

/** Refuses a capture as the ending of the user id asks, after the wait of `+slow`. @throws FakeRefusal */
export async function screen(
  { body, signal }: Call,
  purpose: 'enroll' | 'verify',
  clock: TestClock,
): Promise<void> {
  const { user_id, challenge, dry_run } = body
  const outcome = sandboxOutcome(user_id)
  if (outcome === '+slow') await clock.sleep(SLOW_MS, signal)
  if (challenge && outcome === '+challenge_expired') throw new FakeRefusal('challenge_expired')
  if (challenge) return
  const code = sandboxRule(user_id).refusal
  if (code) throw new FakeRefusal(code, blame(body, code))
  if (dry_run || outcome !== '+low_quality') return
  const bound = SHARPNESS[purpose]
  const issue = `sharpness is ${POOR_SHARPNESS}, must be at least ${bound.min}`
  throw new FakeRefusal('low_quality', [{ path: photoPaths(body, 1)[0]!, issue, ...BLURRED, bound }])
}

/** @returns the detail that names the photo at fault */
function blame({ images }: Call['body'], code: keyof typeof GUIDANCE): ErrorDetail[] {
  const path = images ? `images.${refusedPhoto(code, images.length)}` : 'image'
  return [photoDetail(path, ERRORS[code].message, GUIDANCE[code])]
}

/** @returns the sandbox's statement about photos, or about the frames of a challenge */
export function livenessOf(
  userId: string,
  opened: OpenedChallenge | null,
  checksLiveness: boolean,
): Liveness {
  const passive = scriptedLiveness(userId, checksLiveness)
  const fault = opened ? sandboxRule(userId).fault : undefined
  const methods = livenessMethods(opened?.method ?? null, passive.checked)
  const checked = methods.length > 0
  return {
    checked,
    score: passive.score,
    passed: checked || fault ? !fault && passive.passed !== false : null,
    methods,
    guidance: fault ? [fault.guidance] : [],
    findings: fault?.finding ? [fault.finding] : [],
  }
}

/** @param method of a challenge; null for none @returns the methods that a capture would pass */
export function livenessMethods(method: string | null, checksLiveness: boolean): string[] {
  return [...(method ? [method] : []), ...(checksLiveness ? [`passive:${SANDBOX_MODEL}`] : [])]
}

/** @throws FakeRefusal liveness_failed */
export function assertLive(body: Call['body'], { passed, guidance }: Liveness): void {
  if (passed !== false) return
  const issue = ERRORS.liveness_failed.message
  throw new FakeRefusal(
    'liveness_failed',
    body.challenge
      ? [photoDetail('challenge.frames', issue, guidance[0] ?? 'not_live')]
      : blame(body, 'liveness_failed'),
  )
}

/** @param paths fields of the request that hold the photos @returns good quality, except of the first photo of a `+low_quality` user */
export function qualityOf({ user_id, dry_run, include }: Call['body'], paths: readonly string[]): Quality {
  const isPoor = sandboxOutcome(user_id) === '+low_quality'
  const images = paths.map((path, index) => {
    const passed = !(isPoor && index === 0)
    const components = (Object.keys(COMPONENTS) as QualityComponent[]).map((component): QualityFinding => {
      const good = { component, ...COMPONENTS[component], passed: true }
      return passed || component !== 'sharpness' ? good : { ...good, value: POOR_SHARPNESS, passed }
    })
    return { path, passed, face_width_px: 240, detection: 0.95, components }
  })
  const isDetailed = dry_run || include?.includes('quality')
  return {
    score: 0.9,
    passed: !isPoor,
    issues: isPoor ? [{ path: paths[0]!, ...BLURRED, bound: SHARPNESS.enroll }] : [],
    ...(isDetailed && { images }),
  }
}

/** The signals that the request reports, and whether it has one picture twice. @returns null for a request without a report */
export function integrityOf(body: Call['body']): CaptureIntegrity | null {
  const { capture_integrity: report } = body
  if (!report) return null
  const photos = photosOf(body)
  const isRepeated = new Set(photos).size < photos.length
  return {
    signals: [
      ...report.signals.map((code: string) => ({ code, source: 'client' })),
      ...(isRepeated ? [{ code: 'repeated_picture', source: 'server' } as const] : []),
    ],
  }
}
