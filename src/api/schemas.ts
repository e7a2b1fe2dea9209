/** Parts that the schemas of several endpoints share: JSON Schema 2020-12, as OpenAPI 3.1 embeds it. */
import Type, { type TLiteral, type TSchema, type TUnion } from 'typebox'
import { GUIDANCE, PHOTO_GUIDANCE } from '../../clients/capture/guidance-codes.js'
import { QUALITY_COMPONENTS } from '../../models/pack/quality-components.js'
import { LIVENESS_REQUIREMENTS } from '../config/liveness-requirement.js'
import { FINDINGS } from '../contract/capture-fault.js'
import { CLIENT_SIGNALS, SERVER_SIGNALS } from '../verification/capture/capture-integrity.js'

/** A text that needs only to be described. */
export const text = (description: string) => Type.String({ description })
export const flag = (description: string) => Type.Boolean({ description })
/** One of some words. @param initially the one that holds where the caller names none */
export const words = <const Word extends string>(
  values: readonly Word[],
  description?: string,
  initially?: NoInfer<Word>,
) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    { ...(initially && { default: initially }), ...(description && { description }) },
    // The static type of a union of unknown length is `never`.
  ) as unknown as TUnion<[TLiteral<Word>]>
/** A choice of the caller, who by default has not made it. */
export const choice = (description: string) => Type.Optional(Type.Boolean({ default: false, description }))
export const nullable = <T extends TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], { ...(description && { description }) })

/** An id that this service has given out. */
export const ownId = (description?: string) =>
  Type.String({ minLength: 1, maxLength: 64, ...(description && { description }) })

/** Characters of a nonce: 32 bytes in base64url. */
const NONCE_LENGTH = 43
export const nonceField = (description?: string) =>
  Type.String({ minLength: NONCE_LENGTH, maxLength: NONCE_LENGTH, ...(description && { description }) })

/** Pattern of a whole number, sent as text. */
export const DIGITS = '^[0-9]{1,15}$'
export const SHA256_HEX = '^[0-9a-f]{64}$'

/** Bounds of an identifier of a user. */
export const userIdBounds = {
  minLength: 1,
  maxLength: 128,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
}

export const userId = Type.String({
  ...userIdBounds,
  title: 'UserId',
  description:
    "The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an identifier that holds format, invisible, private-use or unassigned characters of Unicode.",
  examples: ['user-4711'],
})

/**
 * The fields of every list.
 * @param nextCursor the cursor with which the listing goes on
 */
export const listOf = <Entry extends TSchema, Cursor extends TSchema>(
  entry: Entry,
  order: string,
  nextCursor: Cursor,
) => ({
  data: Type.Array(entry, { description: order }),
  has_more: flag('Whether more entries follow.'),
  next_cursor: nextCursor,
})

export const image = (description: string) =>
  Type.String({
    minLength: 1,
    contentEncoding: 'base64',
    description,
    examples: ['/9j/4AAQSkZJRgABAQAAAQABAAD…'],
  })

const MAX_IMAGES = 5
/** The report of a browser about a capture. */
export const captureReport = Type.Object(
  {
    signals: Type.Array(words(CLIENT_SIGNALS), {
      uniqueItems: true,
      maxItems: CLIENT_SIGNALS.length,
      description: 'Signals that the browser saw; an empty list where it saw none.',
    }),
  },
  {
    title: 'CaptureReport',
    additionalProperties: false,
    description:
      'The browser’s report about the integrity of the capture. With it the answer has `capture_integrity`. The hosted page sends it.',
  },
)

export const captureIntegrityField = Type.Object(
  {
    signals: Type.Array(
      Type.Object(
        {
          code: words([...CLIENT_SIGNALS, ...SERVER_SIGNALS], 'Name of the signal.'),
          source: words(
            ['client', 'server'],
            '`client`: the browser reported it. `server`: the service found it in the pictures.',
          ),
        },
        {
          title: 'CaptureSignal',
          description: 'A sign that the pictures may not come from a camera of the device.',
        },
      ),
      { description: 'The signals; an empty list where nobody saw one.' },
    ),
  },
  {
    title: 'CaptureIntegrity',
    description: 'Signals of the capture: hints, no proof.',
  },
)

/** A field of a feature that brings pictures. */
type FurtherField = Readonly<{ field: { name: string }; schema: TSchema }>

/** `image`, `images`, or a field of a feature: exactly one of them is required, which `decodeImages` checks. */
export const pictureFields = (captures: readonly FurtherField[]) => ({
  image: Type.Optional(
    image('One photo: a JPEG, PNG or WebP file in base64, with padding, without a data: prefix.'),
  ),
  images: Type.Optional(
    Type.Array(image('A photo, as in `image`.'), {
      minItems: 1,
      maxItems: MAX_IMAGES,
      description: `1 to ${MAX_IMAGES} photos of the same person, instead of \`image\`.`,
    }),
  ),
  capture_integrity: Type.Optional(captureReport),
  ...Object.fromEntries(captures.map(({ field, schema }) => [field.name, Type.Optional(schema)])),
})

/** JSON Schema for "exactly one" of those fields. */
export const exactlyOnePictureField = (captures: readonly FurtherField[]) => ({
  oneOf: ['image', 'images', ...captures.map(({ field }) => field.name)].map((name) => ({
    required: [name],
  })),
})

export const requireLiveness = words(
  LIVENESS_REQUIREMENTS,
  'Liveness checks that this capture must have passed through: `passive` by a network, `active` by a challenge. The requirements of the installation and of the tenant’s contract apply as well.',
  'none',
)

export const time = (description: string) => Type.String({ format: 'date-time', description })

const consentId = Type.String({
  minLength: 1,
  maxLength: 256,
  description: 'The customer’s own id of the consent: of its record, or of the text that was agreed to.',
})

export const consent = Type.Object(
  {
    id: consentId,
    agreed_at: time('When the person agreed.'),
  },
  { title: 'Consent', additionalProperties: false, description: 'A person’s consent.' },
)

const component = words(QUALITY_COMPONENTS, 'Quality component, by its name in ISO/IEC 29794-5.')
const bound = Type.Object(
  { min: Type.Optional(Type.Number()), max: Type.Optional(Type.Number()) },
  { title: 'QualityBound', description: 'Range of good values, both ends included; an absent end is open.' },
)
const imageField = text('The field of the request that holds the photo.')

const qualityIssue = Type.Object(
  {
    path: imageField,
    component,
    value: Type.Number({ description: 'Measured value of the component.' }),
    bound,
    guidance: words(PHOTO_GUIDANCE, 'Advice to the person.'),
    hint: text('The advice as a sentence to show to the person.'),
  },
  { title: 'QualityIssue', description: 'A component that is beyond its bound for an enrollment photo.' },
)

const imageQuality = Type.Object(
  {
    path: imageField,
    passed: flag('Whether every component keeps to its bound.'),
    face_width_px: Type.Integer({ description: 'Width of the face between its outer edges, in pixels.' }),
    detection: Type.Number({ description: 'Confidence of the face detector, 0 to 1.' }),
    components: Type.Array(
      Type.Object(
        {
          component,
          value: Type.Number(),
          bound: nullable(bound),
          passed: flag('True also where no bound is set: `bound` is then null.'),
        },
        {
          title: 'QualityFinding',
          description: 'One measurement of a photo, held against its bound for an enrollment photo.',
        },
      ),
    ),
  },
  { title: 'ImageQuality', description: 'All measurements of one photo.' },
)

const qualityFields = {
  score: Type.Number({ description: 'Overall, 0 to 1, higher is better.' }),
  passed: flag('Whether every component keeps to its bound for an enrollment photo.'),
  issues: Type.Array(qualityIssue, { description: 'The components that failed; empty where all passed.' }),
}

export const quality = Type.Object(
  {
    ...qualityFields,
    images: Type.Optional(
      Type.Array(imageQuality, {
        description: 'The photo that was compared. Only where `include` asks for `quality`.',
      }),
    ),
  },
  {
    title: 'Quality',
    description:
      'Quality of the photo that was compared. Verify also compares photos that an enrollment refuses.',
  },
)

export const enrollmentQuality = Type.Object(
  {
    ...qualityFields,
    views: Type.Integer({
      minimum: 1,
      description:
        'Number of photos that the reference was made of: with three, far fewer people are missed than with one.',
    }),
    images: Type.Optional(
      Type.Array(imageQuality, {
        description:
          'One entry for each photo of the request, in their order. Only in a dry run, and where `include` asks for `quality`.',
      }),
    ),
  },
  { title: 'EnrollmentQuality', description: 'Quality of the photos. The score is that of the best one.' },
)

export const liveness = Type.Object(
  {
    checked: flag('False when nothing was checked: the statement then claims nothing.'),
    methods: Type.Array(Type.String(), {
      description:
        'Checks that were made: `passive:<pack>` by the liveness network of that pack, `active-geometry@1` by the movements of a challenge.',
    }),
    score: nullable(
      Type.Number({
        description:
          'Probability of a live person, 0 to 1, by the liveness network; null where it judged nothing, also for a face that is `too_close`.',
      }),
    ),
    passed: nullable(flag('Whether the capture passed every method.')),
    guidance: Type.Array(words(GUIDANCE), {
      description:
        'Advice for the person after a capture that failed, the most urgent first; empty where there is none.',
    }),
    findings: Type.Array(words(FINDINGS), {
      description:
        'Suspicions about a capture that failed; empty where there are none. For the backend, never for the person.',
    }),
  },
  { title: 'Liveness', description: 'Presentation attack detection.' },
)

/** A gray square of 64 pixels. No model runs in the sandbox, so that the examples work there as they are. */
export const EXAMPLE_IMAGE = 'UklGRiQAAABXRUJQVlA4TBcAAAAvP8APAAdQxCIWsf8BICH8f69F9D/1AwA='

/** The parameter of a path that names a user. */
export const userPath = { user_id: { schema: userId, description: 'The user, percent-encoded.' } }

/** The field `include` of a request: parts of the answer that are left out unless they are asked for. */
export const includeField = Type.Array(Type.Literal('quality'), {
  maxItems: 1,
  uniqueItems: true,
  description:
    'Parts of the answer that are left out otherwise. `quality`: `quality.images`, every measurement of every photo.',
})

export function includesQuality({ include = [] }: { include?: string[] }): boolean {
  return include.includes('quality')
}
