/** What the service in memory is sent, and what it refuses of it. */
import type { ErrorDetail } from './errors.js'
import { FAKE_ERRORS, FakeRefusal } from './testing-errors.js'
import { photoDetail } from './testing-hints.js'
import { outcomeOf } from './testing-outcomes.js'

/** What was sent, for assertions. */
export interface FakeRequest {
  method: string
  /** After /v1. */
  path: string
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies freely
  body: any
}

export interface Call extends FakeRequest {
  query: URLSearchParams
  requestId: string
  signal: AbortSignal | null | undefined
}

export function refuseRequest({ requestId }: Call, path: string, issue: string): never {
  throw new FakeRefusal('invalid_request', requestId, [{ path, issue }])
}

export function photosOf(call: Call): string[] {
  const { user_id, image, images, challenge } = call.body
  const photos = challenge?.frames.map((frame: { image: unknown }) => frame.image) ?? images ?? [image]
  if (!user_id) refuseRequest(call, 'user_id', 'is required')
  if (photos.length === 0 || !photos.every((photo: unknown) => typeof photo === 'string' && photo))
    refuseRequest(call, 'image', 'is required')
  return photos
}

/** Nobody is enrolled under an identifier that people cannot tell from another. */
export function refuseUnseen(call: Call): void {
  if (/[\p{C}\p{Default_Ignorable_Code_Point}\u2028\u2029]/u.test(call.body.user_id))
    refuseRequest(
      call,
      'user_id',
      'must not hold control, format, invisible, private-use or unassigned characters',
    )
}

export function refuseBusy(userId: string, { requestId }: Call): void {
  const outcome = outcomeOf(userId)
  if (outcome === '+rate_limited') throw new FakeRefusal('rate_limited', requestId)
  if (outcome === '+unavailable') throw new FakeRefusal('overloaded', requestId)
}

const GUIDANCE = {
  face_not_found: 'no_face',
  multiple_faces: 'several_faces',
  different_people: 'different_people',
  liveness_failed: 'not_live',
} as const

export function blame({ body }: Call, code: keyof typeof GUIDANCE): ErrorDetail[] {
  const index = code === 'different_people' && body.images ? body.images.length - 1 : 0
  return [photoDetail(body.images ? `images.${index}` : 'image', FAKE_ERRORS[code][2], GUIDANCE[code])]
}
