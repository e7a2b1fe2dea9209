/** What the service in memory is sent, and what it refuses of it. */
import type { ErrorDetail } from '../errors.js'
import { busyRefusal, refusedPhoto } from '../sandbox-rules.js'
import { FakeRefusal, photoDetail } from './refusals.js'
import { FAKE_ERRORS } from './service-texts.js'

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
  const code = busyRefusal(userId)
  if (code) throw new FakeRefusal(code, requestId)
}

const GUIDANCE = {
  face_not_found: 'no_face',
  multiple_faces: 'several_faces',
  different_people: 'different_people',
  liveness_failed: 'not_live',
} as const

export function blame({ body }: Call, code: keyof typeof GUIDANCE): ErrorDetail[] {
  const path = body.images ? `images.${refusedPhoto(code, body.images.length)}` : 'image'
  return [photoDetail(path, FAKE_ERRORS[code].message, GUIDANCE[code])]
}
