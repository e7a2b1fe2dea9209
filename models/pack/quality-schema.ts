/** Schema of a pack's bounds of quality components. */
import Type, { type Static } from 'typebox'
import { QUALITY_COMPONENTS, type QualityComponent } from './quality-components.js'

const strict = { additionalProperties: false } as const

/** Both ends are included in the good range; a missing end is open. */
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

/**
 * `verify` applies at verify and at enrollment, `enrol` only at enrollment. A pack's bound replaces the default's,
 * end by end.
 */
export const QualitySpecSchema = Type.Object(
  { verify: Type.Optional(BoundsSchema), enrol: Type.Optional(BoundsSchema) },
  strict,
)

export type QualityBound = Static<typeof BoundSchema>
export type QualityBounds = Static<typeof BoundsSchema>
export type QualitySpec = Static<typeof QualitySpecSchema>
