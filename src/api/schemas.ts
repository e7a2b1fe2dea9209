/** Parts that the schemas of several endpoints share: JSON Schema 2020-12, as OpenAPI 3.1 embeds it. */
import Type from 'typebox'
import { QUALITY_COMPONENTS } from '../../models/pack/quality-components.js'
import { FINDINGS } from '../biometrics/challenge/active-geometry.js'
import { CAPTURE } from '../biometrics/challenge/capture-limits.js'
import { GUIDANCE } from '../biometrics/challenge/frame-faults.js'
import { LIVENESS_REQUIREMENTS } from '../config/liveness-requirement.js'
import { NONCE_LENGTH } from '../verification/challenge-book.js'

/** Pattern of a whole number, sent as text. */
export const DIGITS = '^[0-9]{1,15}$'

export const userId = Type.String({
  minLength: 1,
  maxLength: 128,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
  description:
    "The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an identifier that holds format, invisible, private-use or unassigned characters of Unicode.",
  examples: ['user-4711'],
})

export const image = (description: string) =>
  Type.String({
    minLength: 1,
    contentEncoding: 'base64',
    description,
    examples: ['/9j/4AAQSkZJRgABAQAAAQABAAD…'],
  })

const MAX_IMAGES = 5
/** Steps of a challenge: a look ahead, three movements, a look ahead. */
const MAX_STEPS = 5

/** Frames of a challenge. */
export const framesField = Type.Array(
  Type.Object(
    {
      step: Type.Integer({
        minimum: 0,
        maximum: MAX_STEPS - 1,
        description: 'Index of the step that the person was shown.',
      }),
      t_ms: Type.Integer({
        minimum: 0,
        maximum: 120_000,
        description: 'Milliseconds since the capture began.',
      }),
      image: image('The frame, not mirrored: a file as in `image`.'),
    },
    { additionalProperties: false },
  ),
  {
    minItems: CAPTURE.minFrames,
    maxItems: CAPTURE.maxFrames,
    description: 'The frames, in the order of their capture.',
  },
)

/** `image`, `images` or `challenge`: exactly one of them is required, which `decodeImages` checks. */
export const imageFields = {
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
  challenge: Type.Optional(
    Type.Object(
      {
        challenge_id: Type.String({ minLength: 1, maxLength: 64 }),
        nonce: Type.String({ minLength: NONCE_LENGTH, maxLength: NONCE_LENGTH }),
        frames: framesField,
      },
      {
        title: 'ChallengeAnswer',
        additionalProperties: false,
        description: 'The frames of a person who did what a challenge asked, instead of photos.',
      },
    ),
  ),
}

/** JSON Schema for "exactly one of image, images and challenge". */
export const exactlyOneImageField = {
  oneOf: [{ required: ['image'] }, { required: ['images'] }, { required: ['challenge'] }],
}

export const requireLiveness = Type.Union(
  LIVENESS_REQUIREMENTS.map((name) => Type.Literal(name)),
  {
    default: 'none',
    description:
      'Liveness checks that this capture must have passed through: `passive` by a network, `active` by a challenge. The requirements of the installation and of the tenant’s contract apply as well.',
  },
)

export const time = (description: string) => Type.String({ format: 'date-time', description })

export const consent = Type.Object(
  {
    id: Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'Where the customer keeps the consent: the customer’s own id of it.',
    }),
    at: time('When the consent was given.'),
  },
  { title: 'Consent', additionalProperties: false, description: 'Recorded with the reference.' },
)

export const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])

const qualityFields = {
  score: Type.Number({ description: 'Overall, 0 to 1, higher is better.' }),
  face_width_px: Type.Number({ description: 'Width of the face between its outer edges, in pixels.' }),
  detection: Type.Number({ description: 'Confidence of the face detector, 0 to 1.' }),
  sharpness: Type.Number({ description: 'Variance of the Laplacian of the aligned face.' }),
  brightness: Type.Number({ description: 'Mean grey level of the aligned face, 0 to 255.' }),
  contrast: Type.Number({ description: 'Standard deviation of the grey level of the aligned face.' }),
}

export const quality = Type.Object(qualityFields, {
  title: 'Quality',
  description: 'Measured on the face that was compared.',
})

const imageQuality = Type.Object({
  passed: Type.Boolean({ description: 'Whether every component keeps to its bound.' }),
  components: Type.Array(
    Type.Object({
      component: Type.Union(
        QUALITY_COMPONENTS.map((name) => Type.Literal(name)),
        { description: 'Quality component, by its name in ISO/IEC 29794-5.' },
      ),
      value: Type.Number(),
      bound: nullable(
        Type.Object(
          { min: Type.Optional(Type.Number()), max: Type.Optional(Type.Number()) },
          { description: 'Bound for an enrollment photo; null where every value will do.' },
        ),
      ),
      passed: Type.Boolean(),
      hint: nullable(Type.String({ description: 'Advice to show to the person.' })),
    }),
  ),
})

export const enrolmentQuality = Type.Object(
  {
    ...qualityFields,
    views: Type.Integer({
      minimum: 1,
      description:
        'Number of photos that the reference was made of: with three, far fewer people are missed than with one.',
    }),
    images: Type.Array(imageQuality, {
      description: 'One entry for each image of the request, in their order.',
    }),
  },
  { title: 'EnrolmentQuality', description: 'Measured on the best face.' },
)

export const liveness = Type.Object(
  {
    checked: Type.Boolean({
      description: 'False when nothing was checked: the statement then claims nothing.',
    }),
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
    passed: nullable(Type.Boolean({ description: 'Whether the capture passed every method.' })),
    guidance: Type.Optional(
      Type.Union(
        GUIDANCE.map((name) => Type.Literal(name)),
        { description: 'Advice for the person after a capture that failed.' },
      ),
    ),
    findings: Type.Optional(
      Type.Array(Type.Union(FINDINGS.map((name) => Type.Literal(name))), {
        description: 'Suspicion about the failed capture: for the backend, never for the person.',
      }),
    ),
  },
  { title: 'Liveness', description: 'Presentation attack detection.' },
)
