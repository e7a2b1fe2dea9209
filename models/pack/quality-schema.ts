/** What a pack may say of the quality that photos need: bounds of components. */
import Type, { type Static } from 'typebox'
import { QUALITY_COMPONENTS, type QualityComponent } from './quality-components.js'

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
