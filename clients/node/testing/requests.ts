/** Requests to the service in memory, and their refusals. */
import { ERRORS } from '../../../src/contract/error-codes.js'
import { busyRefusal, refusedPhoto } from '../../../src/contract/sandbox-rules.js'
import type { ErrorDetail } from '../errors.js'
import type { CaptureBinding, DisplayedText } from '../types.js'
import { FakeRefusal, photoDetail } from './refusals.js'
import { FAKE_SCOPES } from './service-texts.js'

/** A request as it was sent, for assertions. */
export interface FakeRequest {
  method: string
  /** Path after /v1. */
  path: string
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies freely
  body: any
}

export interface Call extends FakeRequest {
  query: URLSearchParams
  requestId: string
  signal: AbortSignal | null | undefined
  /** Text that the hosted page showed for the action; undefined for any other caller. */
  display?: DisplayedText | undefined
  /** The session of the hosted page that makes the call; undefined for any other caller. */
  captureSession?: { id: string; binding: CaptureBinding }
}

const NAMES = Object.keys(FAKE_SCOPES).map((name) => ({
  name,
  form: new RegExp(`^${name.replace(/\{\w+\}/g, '[^/]+')}$`),
}))

/** Method and path of a call as the API describes it; empty for a call that it does not describe. */
export function describedName({ method, path }: FakeRequest): string {
  return NAMES.find(({ form }) => form.test(`${method} ${path}`))?.name ?? ''
}

export function refuseRequest({ requestId }: Call, path: string, issue: string): never {
  throw new FakeRefusal('invalid_request', requestId, [{ path, issue }])
}

/** @returns the photos or frames of a request @throws FakeRefusal invalid_request */
export function photosOf(call: Call): string[] {
  const { user_id, image, images, challenge } = call.body
  const photos = challenge?.frames.map((frame: { image: unknown }) => frame.image) ?? images ?? [image]
  if (!user_id) refuseRequest(call, 'user_id', 'is required')
  if (photos.length === 0 || !photos.every((photo: unknown) => typeof photo === 'string' && photo))
    refuseRequest(call, 'image', 'is required')
  return photos
}

/** @returns the fields that hold the first photos or frames of a request */
export function photoPaths({ body }: Call, count: number): string[] {
  const pathOf = (index: number) =>
    body.challenge ? `challenge.frames.${index}.image` : body.images ? `images.${index}` : 'image'
  return Array.from({ length: count }, (_, index) => pathOf(index))
}

/** Refuses an id of the service as nonce: it would look like a statement of the service. @throws FakeRefusal invalid_request */
export function refuseOwnId(call: Call): void {
  if (!call.captureSession && /^[a-z]{3}_[0-9a-f]{32}$/.test(call.body.nonce ?? ''))
    refuseRequest(call, 'nonce', 'must not have the form of an id of this service; send a random text')
}

/** Refuses to enroll under an id that people cannot tell from another one. @throws FakeRefusal invalid_request */
export function refuseUnseen(call: Call): void {
  if (/[\p{C}\p{Default_Ignorable_Code_Point}\u2028\u2029]/u.test(call.body.user_id))
    refuseRequest(
      call,
      'user_id',
      'must not hold control, format, invisible, private-use or unassigned characters',
    )
}

/** @throws FakeRefusal rate_limited, overloaded */
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

/** @returns the detail that names the photo at fault */
export function blame({ body }: Call, code: keyof typeof GUIDANCE): ErrorDetail[] {
  const path = body.images ? `images.${refusedPhoto(code, body.images.length)}` : 'image'
  return [photoDetail(path, ERRORS[code].message, GUIDANCE[code])]
}
