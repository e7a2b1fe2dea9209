/** The bodies that the hosted page sends: their schemas, and the parsers that check them. */
import Type, { type Static } from 'typebox'
import { captureReport, framesField, image as imageField } from '../api/schemas.js'
import { STEPS } from '../biometrics/challenge/steps.js'
import { inputParser } from '../http/bodies/json-body.js'
import { MAX_VERSION_CHARACTERS } from '../tenants/capture-page-settings.js'

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
const framesBody = Type.Object(
  { frames: framesField, signals: Type.Optional(captureReport.properties.signals) },
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
export type FramesBody = Static<typeof framesBody>
export type GuidanceBody = Static<typeof guidanceBody>

export const parseNothing = inputParser({ body: nothing, bodyOptional: true })
export const parseCode = inputParser({ body: codeBody })
export const parseConsent = inputParser({ body: consentBody })
export const parseFrames = inputParser({ body: framesBody })
export const parseGuidance = inputParser({ body: guidanceBody })
export type CodeBody = Static<typeof codeBody>
