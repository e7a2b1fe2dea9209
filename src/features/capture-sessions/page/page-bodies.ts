/** The bodies that the hosted page sends: their schemas, and the parsers that check them. */
import Type, { type Static } from 'typebox'
import { captureReport, image as imageField } from '../../../api/schemas.js'
import { inputParser } from '../../../http/bodies/json-body.js'
import { framesField } from '../../challenges/exports.js'
import { STEPS } from '../../challenges/film/exports.js'
import { authenticationResponse, registrationResponse } from '../../passkeys/exports.js'
import { MAX_VERSION_CHARACTERS } from '../capture-page-settings.js'

const codeBody = Type.Object(
  { code: Type.String({ minLength: 1, maxLength: 32 }) },
  { additionalProperties: false },
)
/** The agreement of the person. The page names the text that it showed. */
const consentBody = Type.Object(
  {
    agree: Type.Literal(true),
    version: Type.String({ minLength: 1, maxLength: MAX_VERSION_CHARACTERS }),
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  },
  { additionalProperties: false },
)
/** The page names the text of the typed action that it shows, if it shows one. */
const challengeBody = Type.Object(
  { display: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })) },
  { additionalProperties: false },
)
/** The frames, and the answer of the person's passkey where the page asked for one. The API checks the answer. */
const framesBody = Type.Object(
  {
    frames: framesField,
    signals: Type.Optional(captureReport.properties.signals),
    passkey: Type.Optional(Type.Union([authenticationResponse, registrationResponse])),
  },
  { additionalProperties: false },
)
/** A small frame, and an earlier one in which the person looks ahead. The page keeps the earlier one; the service stores neither. */
const guidanceBody = Type.Object(
  {
    image: imageField('A frame.'),
    step: Type.Union(STEPS.map((step) => Type.Literal(step))),
    frontal: Type.Optional(imageField('A frame in which the person looks ahead.')),
  },
  { additionalProperties: false },
)
const nothing = Type.Object({}, { additionalProperties: false })

export type ConsentBody = Static<typeof consentBody>
export type ChallengeBody = Static<typeof challengeBody>
export type FramesBody = Static<typeof framesBody>
export type GuidanceBody = Static<typeof guidanceBody>

export const parseNothing = inputParser({ body: nothing, bodyOptional: true })
export const parseCode = inputParser({ body: codeBody })
export const parseConsent = inputParser({ body: consentBody })
export const parseChallenge = inputParser({ body: challengeBody, bodyOptional: true })
export const parseFrames = inputParser({ body: framesBody })
export const parseGuidance = inputParser({ body: guidanceBody })
export type CodeBody = Static<typeof codeBody>
