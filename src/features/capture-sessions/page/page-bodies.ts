/** The bodies that the hosted page sends: each is read within its bounds and checked by its schema. */
import Type, { type Static } from 'typebox'
import { SMALL_BODY_BYTES } from '../../../api/endpoint.js'
import { captureReport, image, SHA256_HEX, words } from '../../../api/schemas.js'
import type { DisplayLocale } from '../../../contract/locales.js'
import { inputParser } from '../../../http/bodies/json-body.js'
import type { IncomingRequest } from '../../../http/listeners/listener.js'
import { framesField, GUIDANCE_BODY_BYTES } from '../../challenges/exports.js'
import { STEPS } from '../../challenges/film/exports.js'
import { authenticationResponse, registrationResponse } from '../../passkeys/exports.js'
import { MAX_VERSION_CHARACTERS } from '../capture-page-settings.js'
import type { CaptureSession } from '../capture-session-book.js'
import { UPLOAD_MS } from '../capture-session-events.js'

/** A request of the page's script, with the session of its link. */
export interface Visit {
  request: IncomingRequest
  token: string
  session: CaptureSession
  language: DisplayLocale
}

/** Time for the upload of a frame for guidance: the component gives up after 3 seconds. */
const GUIDANCE_UPLOAD_MS = 5000

/** @returns reads such a body. It throws the DomainErrors of `IncomingRequest.body` and `inputParser`. */
function bodyOf<Fields extends Type.TProperties>(
  fields: Fields,
  { isOptional = false, uploadMs = UPLOAD_MS, mostBytes = SMALL_BODY_BYTES } = {},
) {
  const body = Type.Object(fields, { additionalProperties: false })
  const parse = inputParser({ body, bodyOptional: isOptional })
  return async ({ request, session }: Pick<Visit, 'request' | 'session'>) => {
    const bytes = await request.body(performance.now() + uploadMs, mostBytes, session.record.tenantId)
    return parse(bytes, request.headers['content-type'], '') as Static<typeof body>
  }
}

export const readNothing = bodyOf({}, { isOptional: true })

export const readCode = bodyOf({ code: Type.String({ minLength: 1, maxLength: 32 }) })

/** The agreement of the person. The page names the text that it showed. */
export const readConsent = bodyOf({
  agree: Type.Literal(true),
  version: Type.String({ minLength: 1, maxLength: MAX_VERSION_CHARACTERS }),
  sha256: Type.String({ pattern: SHA256_HEX }),
})
export type ConsentBody = Awaited<ReturnType<typeof readConsent>>

/** The page names the text of the typed action that it shows, if it shows one. */
export const readChallenge = bodyOf(
  { display: Type.Optional(Type.String({ pattern: SHA256_HEX })) },
  { isOptional: true },
)
export type ChallengeBody = Awaited<ReturnType<typeof readChallenge>>

/** The frames, and the answer of the person's passkey where the page asked for one. The API checks the answer. */
export const readFrames = bodyOf(
  {
    frames: framesField,
    signals: Type.Optional(captureReport.properties.signals),
    passkey: Type.Optional(Type.Union([authenticationResponse, registrationResponse])),
  },
  // The listener's own limit holds.
  { mostBytes: Number.POSITIVE_INFINITY },
)
export type FramesBody = Awaited<ReturnType<typeof readFrames>>

/** A small frame, and an earlier one in which the person looks ahead. The page keeps the earlier one; the service stores neither. */
export const readGuidance = bodyOf(
  {
    image: image('A frame.'),
    step: words(STEPS),
    frontal: Type.Optional(image('A frame in which the person looks ahead.')),
  },
  { uploadMs: GUIDANCE_UPLOAD_MS, mostBytes: GUIDANCE_BODY_BYTES },
)
export type GuidanceBody = Awaited<ReturnType<typeof readGuidance>>
