/** The quality components that are measured on a face, by the names of ISO/IEC 29794-5 in snake case, and what a pack may bound. */
import Type, { type Static } from 'typebox'

export const QUALITY_COMPONENTS = [
  'inter_eye_distance',
  'sharpness',
  'luminance_mean',
  'luminance_variance',
  'under_exposure_prevention',
  'over_exposure_prevention',
  'illumination_uniformity',
  'head_pose_yaw',
  'head_pose_pitch',
  'head_pose_roll',
  'eyes_open',
] as const

export type QualityComponent = (typeof QUALITY_COMPONENTS)[number]

const strict = { additionalProperties: false } as const

/** Both ends belong to what is good enough; an end that is missing is open. */
const BoundSchema = Type.Object(
  { min: Type.Optional(Type.Number()), max: Type.Optional(Type.Number()) },
  strict,
)

const BoundsSchema = Type.Object(
  Object.fromEntries(QUALITY_COMPONENTS.map((name) => [name, Type.Optional(BoundSchema)])) as Record<
    QualityComponent,
    Type.TOptional<typeof BoundSchema>
  >,
  strict,
)

/** `verify` holds at verify and at enrolment, `enrol` at enrolment besides. What a pack says takes the default's place, end by end. */
export const QualitySpecSchema = Type.Object(
  { verify: Type.Optional(BoundsSchema), enrol: Type.Optional(BoundsSchema) },
  strict,
)

export type QualityBound = Static<typeof BoundSchema>
export type QualityBounds = Static<typeof BoundsSchema>
export type QualitySpec = Static<typeof QualitySpecSchema>
