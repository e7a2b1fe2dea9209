/** The schemas of the bodies that the pages send. The contract takes its types from them. */
import Type from 'typebox'
import { userId } from '../api/schemas.js'
import { LIVENESS_REQUIREMENTS } from '../config/liveness-requirement.js'
import { environment, userQuestion } from './lib/user-question.js'

export { userQuestion }

const MAX_GRACE_SECONDS = 30 * 24 * 3600

const closed = { additionalProperties: false }
const rate = Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000 })
const fmr = Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 })

export const credentials = Type.Union([
  Type.Object(
    {
      login_token: Type.String({ maxLength: 64 }),
      /** Code of the second factor, where the link is of a person who has one. */
      code: Type.Optional(Type.String({ maxLength: 32 })),
    },
    closed,
  ),
  Type.Object(
    {
      name: Type.Optional(Type.String({ maxLength: 128 })),
      password: Type.String({ maxLength: 1024 }),
      /** Code of the second factor, for a person who has one. */
      code: Type.Optional(Type.String({ maxLength: 32 })),
    },
    closed,
  ),
])

const requireLiveness = Type.Union([Type.Enum(LIVENESS_REQUIREMENTS), Type.Null()])

export const newTenant = Type.Object(
  { name: Type.String({ maxLength: 64 }), rate_per_second: Type.Optional(rate), fmr: Type.Optional(fmr) },
  closed,
)

export const tenantContract = Type.Object(
  {
    rate_per_second: rate,
    fmr: Type.Union([fmr, Type.Null()]),
    require_liveness: Type.Optional(requireLiveness),
    /** Null when a reference may be replaced without a verdict. */
    replace_verdict_minutes: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1, maximum: 1440 }), Type.Null()]),
    ),
  },
  closed,
)

export const tenantDeletion = Type.Object(
  { /** The tenant's, again. */ name: Type.String({ maxLength: 64 }) },
  closed,
)

const operatorName = Type.String({ maxLength: 128 })
const role = Type.Union([Type.Literal('admin'), Type.Literal('viewer')])

export const namedOperator = Type.Object({ name: operatorName }, closed)

export const newOperator = Type.Object({ name: operatorName, role }, closed)

export const operatorRole = Type.Object({ name: operatorName, role }, closed)

export const verdictKeyRotation = Type.Object(
  { environment, /** Removes the present keys at once. */ emergency: Type.Boolean() },
  closed,
)

/** When the decision moves automatically; null where only an operator moves it. */
const moveConditions = {
  /** Share of a tenant's users, over 0 and at most 1. */
  at_coverage: Type.Union([Type.Number({ exclusiveMinimum: 0, maximum: 1 }), Type.Null()]),
  /** ISO 8601. */
  at_date: Type.Union([Type.String({ maxLength: 40 }), Type.Null()]),
}
const model = Type.String({ maxLength: 256 })

export const modelChange = Type.Object(
  {
    /** Id of the model that is to decide in the end. */
    to: model,
    /** False match rate at which a capture must match; null for a tenth of the rate in force. */
    strict_fmr: Type.Union([fmr, Type.Null()]),
    ...moveConditions,
  },
  closed,
)

export const modelPlan = Type.Object(moveConditions, closed)

export const modelDecision = Type.Object(
  {
    /** Id of the tenant; null for all. */
    tenant: Type.Union([Type.String({ maxLength: 64 }), Type.Null()]),
    /** Moves it also where under 95 % of the users have a template. */
    force: Type.Boolean(),
  },
  closed,
)

export const modelFinish = Type.Object(
  { /** Id of the model whose templates are deleted. */ dropping: model },
  closed,
)

export const chosenPassword = Type.Object({ password: Type.String({ maxLength: 1024 }) }, closed)

export const sessionChoice = Type.Object({ session: Type.String({ maxLength: 64 }) }, closed)

export const confirmation = Type.Object(
  { password: Type.String({ maxLength: 1024 }), code: Type.Optional(Type.String({ maxLength: 32 })) },
  closed,
)

export const secondFactorCode = Type.Object({ code: Type.String({ maxLength: 32 }) }, closed)

export const keyRevocation = Type.Object({ type: environment }, closed)

const keyName = Type.String({ maxLength: 64 })

export const newKey = Type.Object(
  {
    type: environment,
    name: keyName,
    /** Scopes of the key; null for all. */
    scopes: Type.Union([Type.Array(Type.String({ maxLength: 16 }), { maxItems: 32 }), Type.Null()]),
    /** Networks from which the key may be used; null for any. */
    networks: Type.Union([Type.Array(Type.String({ maxLength: 64 }), { maxItems: 64 }), Type.Null()]),
    /** Client certificate that the key requires; null for none. */
    certificate: Type.Optional(Type.Union([Type.String({ maxLength: 160 }), Type.Null()])),
  },
  closed,
)

export const namedKeyReissue = Type.Object(
  {
    type: environment,
    name: keyName,
    grace_seconds: Type.Integer({ minimum: 0, maximum: MAX_GRACE_SECONDS }),
  },
  closed,
)

export const namedKey = Type.Object({ type: environment, name: keyName }, closed)

export const keyReissue = Type.Object(
  { type: environment, grace_seconds: Type.Integer({ minimum: 0, maximum: MAX_GRACE_SECONDS }) },
  closed,
)

/** `new_secret` asks for a new signing secret as well, which replaces the one used with the sandbox. */
export const keyReveal = Type.Object({ new_secret: Type.Optional(Type.Boolean()) }, closed)

export const rotation = Type.Object({ force: Type.Boolean() }, closed)

export const erasure = Type.Object({ user_id: userId, environment }, closed)

export const unlocking = Type.Object({ user_id: userId }, closed)

export const newWebhook = Type.Object(
  {
    url: Type.String({ maxLength: 2048 }),
    environment,
    /** Types of event to send; an empty list stands for all. */
    events: Type.Array(Type.String({ maxLength: 64 }), { maxItems: 32 }),
  },
  closed,
)

export const webhookChoice = Type.Object({ webhook: Type.String({ maxLength: 64 }) }, closed)

export const deliveryChoice = Type.Object({ delivery: Type.String({ maxLength: 64 }) }, closed)

export const subjectQuestion = Type.Object({ user_id: userId }, closed)

export const inspection = Type.Object(
  { image: Type.String({ minLength: 1, contentEncoding: 'base64' }) },
  closed,
)
