/** The policy of a tenant as JSON: its schema, its checks, and its canonical form, whose hash is its version. */
import { createHash } from 'node:crypto'
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { MAX_FMR } from '../../config/false-match-rate.js'
import { checksOf } from '../../contract/acr.js'
import { type ActionPolicy, POLICY_ACTION_TYPES, POLICY_AMOUNT } from '../../contract/action-policy.js'
import { canonicalJson } from '../../contract/canonical-json.js'
import { CodedError } from '../../lib/errors.js'

export class PolicyError extends CodedError<'invalid_policy'> {}

/** Largest policy, in bytes of its canonical form. */
const MAX_POLICY_BYTES = 32_768
const MAX_RULES = 64
const MAX_ISSUES = 5

const strict = { additionalProperties: false } as const

const requirements = Type.Object(
  {
    acr: Type.Optional(Type.String({ maxLength: 64 })),
    max_fmr: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: MAX_FMR })),
    max_reference_age_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 36_500 })),
    min_reference_photos: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    min_photos: Type.Optional(Type.Integer({ minimum: 1, maximum: 64 })),
    consent_id: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    integrity: Type.Optional(Type.Literal('review')),
    capture_binding: Type.Optional(Type.Literal('same')),
    second_approver: Type.Optional(
      Type.Object(
        {
          within_minutes: Type.Integer({ minimum: 1, maximum: 10_080 }),
          user_ids: Type.Optional(
            Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
              minItems: 1,
              maxItems: 100,
              uniqueItems: true,
            }),
          ),
        },
        strict,
      ),
    ),
  },
  strict,
)

const rule = Type.Object(
  {
    name: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' }),
    when: Type.Optional(
      Type.Object(
        {
          types: Type.Optional(
            Type.Array(Type.Enum([...POLICY_ACTION_TYPES]), { minItems: 1, uniqueItems: true }),
          ),
          min_amount: Type.Optional(
            Type.Record(Type.String({ pattern: '^[A-Z]{3}$' }), Type.String({ pattern: POLICY_AMOUNT }), {
              minProperties: 1,
              additionalProperties: false,
            }),
          ),
        },
        strict,
      ),
    ),
    require: requirements,
  },
  strict,
)

export const policySchema = Type.Object(
  {
    rules: Type.Array(rule, { minItems: 1, maxItems: MAX_RULES }),
    retention: Type.Optional(
      Type.Object(
        {
          inactive_days: Type.Integer({ minimum: 2, maximum: 36_500 }),
          notice_days: Type.Integer({ minimum: 1, maximum: 365 }),
        },
        strict,
      ),
    ),
  },
  { ...strict, title: 'ActionPolicy' },
)
const schema = Compile(policySchema)

/** A policy with the text and the hash by which it is kept. */
export interface PolicyVersion {
  policy: ActionPolicy
  /** RFC 8785 canonical form. */
  text: string
  /** SHA-256 of `text`, in lower-case hex. */
  hash: string
}

/** Checks a policy. @param value parsed JSON @throws PolicyError invalid_policy, with the place and the fault */
export function checkedPolicy(value: unknown): PolicyVersion {
  if (!schema.Check(value))
    throw refusal(schema.Errors(value).slice(0, MAX_ISSUES).map(describeIssue).join('; '))
  const policy = value as ActionPolicy
  const fault = findFault(policy)
  if (fault) throw refusal(fault)
  const text = canonicalJson(policy)
  if (Buffer.byteLength(text) > MAX_POLICY_BYTES)
    throw refusal(`it has more than ${MAX_POLICY_BYTES} bytes in RFC 8785 canonical form`)
  return { policy, text, hash: policyHashOf(text) }
}

/** @throws PolicyError invalid_policy */
export function parsePolicy(text: string): PolicyVersion {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw refusal(`it is not JSON: ${(cause as Error).message}`)
  }
  return checkedPolicy(value)
}

/** @param text policy in canonical form */
export function policyHashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Rules that a schema cannot state. */
function findFault({ rules, retention }: ActionPolicy): string | null {
  if (retention && retention.notice_days >= retention.inactive_days)
    return 'retention.notice_days must be less than retention.inactive_days'
  const names = rules.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice) return `two rules are named ${twice}`
  const unknown = rules.find(({ require: { acr } }) => acr !== undefined && checksOf(acr) === null)
  if (unknown)
    return `rules: ${unknown.name} requires ${JSON.stringify(unknown.require.acr)}, which is no acr of an approval`
  const early = rules.slice(0, -1).find(({ when = {} }) => Object.keys(when).length === 0)
  if (early) return `rules: ${early.name} is for every action, so the rules after it would never decide`
  if (Object.keys(rules.at(-1)!.when ?? {}).length > 0)
    return 'the last rule must have no `when`, so that every action has a rule'
  return null
}

function describeIssue(error: { instancePath: string; message: string; params: object }): string {
  const where = error.instancePath.slice(1).replaceAll('/', '.') || 'the document'
  const names = 'additionalProperties' in error.params ? error.params.additionalProperties : undefined
  return Array.isArray(names)
    ? `${where} has unknown fields: ${names.join(', ')}`
    : `${where} ${error.message}`
}

function refusal(issue: string): PolicyError {
  return new PolicyError('invalid_policy', `The policy is not valid: ${issue}.`)
}
