/** Policy of a tenant: which rule an action falls under, and what the rule asks of an approval. Service, SDK and fake decide with this module. */
import { TYPED_ACTION_TYPES, typedActionType } from './actions/typed-actions.js'

/** The requirements of a rule, which an approval must meet. A requirement that is left out asks for nothing. */
export interface PolicyRequirements {
  /** Least `acr`: the capture must have passed every check that this one names. */
  acr?: string
  /** Greatest false match rate at which faces are compared, above 0 and at most 0.01. */
  max_fmr?: number
  /** Greatest age of the reference, in days since its last enrollment or added photo. */
  max_reference_age_days?: number
  /** Least number of photos that the reference was made of. */
  min_reference_photos?: number
  /** Least number of images in the request: photos, or frames of a challenge. */
  min_photos?: number
  /** Id of the consent that the user must have given at the last enrollment. */
  consent_id?: string
  /**
   * `review`: a capture with signals of its integrity is rejected as `review_required`, so that a person looks at it. The request must bring
   * the report of the capture.
   */
  integrity?: 'review'
  /** `same`: the capture was made by a session of the hosted page with `browser: "same"`. */
  capture_binding?: 'same'
  /** Another user of the tenant must have approved the same action. */
  second_approver?: {
    /** Greatest age of the other user's approval. */
    within_minutes: number
    /** The users who may give the second approval. Default: every other user. */
    user_ids?: string[]
  }
}

/** Which actions a rule is for. */
export interface PolicyCondition {
  /** Types of actions; `untyped` for an action whose type has no published schema. Default: all. */
  types?: string[]
  /**
   * Amounts by currency, as decimal text. The rule is for an action of at least this amount. It is also for an action whose amount cannot
   * be compared: one without an amount, or in a currency that is not named here.
   */
  min_amount?: Record<string, string>
}

export interface PolicyRule {
  /** Name of the rule, in the claim `policy_rule`. */
  name: string
  /** Default: every action. */
  when?: PolicyCondition
  require: PolicyRequirements
}

export interface ActionPolicy {
  /** In order: the first rule that is for an action decides. The last one has no `when`. */
  rules: PolicyRule[]
  /** Erases production users that were neither enrolled nor approved for so long. Default: users are kept. */
  retention?: {
    inactive_days: number
    /** How many days before the erasure the webhook `user.erasure_scheduled` announces it. */
    notice_days: number
  }
}

/** Types by which a rule can choose actions. */
export const POLICY_ACTION_TYPES = [...TYPED_ACTION_TYPES, 'untyped'] as const

/** An amount as decimal text: no sign, no exponent, no leading zero. */
export const POLICY_AMOUNT = '^(0|[1-9][0-9]{0,17})(\\.[0-9]{1,6})?$'
const AMOUNT = new RegExp(POLICY_AMOUNT)

/** @returns the rule that decides about the action: the first that is for it */
export function ruleFor(policy: ActionPolicy, action: unknown): PolicyRule {
  const rule = policy.rules.find(({ when = {} }) => isFor(when, action))
  // A policy whose last rule has a condition is refused when it is set.
  if (!rule) throw new TypeError('a policy without a last rule for every action')
  return rule
}

function isFor({ types, min_amount: least }: PolicyCondition, action: unknown): boolean {
  if (types && !types.includes(typeOf(action))) return false
  return least === undefined || !isBelow(action, least)
}

function typeOf(action: unknown): string {
  return typedActionType(action) ?? 'untyped'
}

/** Whether the action's amount is known and below the one of its currency. Anything that cannot be compared is not below. */
function isBelow(action: unknown, least: Record<string, string>): boolean {
  const amount = fieldOf(action, typeOf(action) === 'payment_batch' ? 'total' : 'amount')
  const currency = fieldOf(action, 'currency')
  if (typeof amount !== 'string' || typeof currency !== 'string' || !AMOUNT.test(amount)) return false
  const bound = Object.hasOwn(least, currency) ? least[currency]! : null
  return bound !== null && scaled(amount) < scaled(bound)
}

/** The amount in millionths, exactly. @param amount as `POLICY_AMOUNT` describes it */
function scaled(amount: string): bigint {
  const [whole = '', fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.padEnd(6, '0'))
}

function fieldOf(action: unknown, name: string): unknown {
  return typeof action === 'object' && action !== null && Object.hasOwn(action, name)
    ? (action as Record<string, unknown>)[name]
    : undefined
}
