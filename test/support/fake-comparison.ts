/** Compares the answers of the service in memory with those of the real one. */
import type Type from 'typebox'
import { expect } from 'vitest'
import { ApiError, type Countersign } from '../../clients/node/index.js'
import { FakeCountersign, type FakePasskeySettings } from '../../clients/node/testing.js'
import type { ActionPolicy } from '../../src/contract/action-policy.js'
import { CLAIMS, RESPONSE_ORDER } from '../../src/contract/verdict.js'
import { ALL_CLAIMS, FIELDS } from '../../tools/generators/verdict-page.js'
import { usePasskeys } from './passkeys.js'
import { setPolicy } from './policies.js'
import { sandboxSdk } from './sdk.js'
import type { TestService } from './service.js'
import { decodeJwt } from './trust.js'

/** Values of facts, types of the rest: ids, times and measurements are each side's own. */
const FACTS = [
  'attempts',
  'browser',
  'code',
  'error',
  'result_withheld',
  'version',
  'step',
  'guidance',
  'status',
  'verdict',
  'reason',
  'user_id',
  'suspected',
  'views',
  'fmr_basis',
  'passed',
  'checked',
  'env',
  'acr',
  'model',
  'model_grade',
  'grade',
  'aud',
  'amr',
  'backed_up',
  'policy_hash',
  'policy_rule',
  'purpose',
  'synced',
  'timeout',
  'transports',
  'userVerification',
]
/** Lists whose length is drawn by lot. */
const DRAWN = ['steps']

/** Members and claims of features that the contract does not name: the service in memory knows nothing of them. */
const UNKNOWN_TO_SDK = [
  ...Object.keys((FIELDS.schema as Type.TObject).properties).filter((name) => !RESPONSE_ORDER.includes(name)),
  ...Object.keys(ALL_CLAIMS).filter((name) => !(name in CLAIMS)),
]

/** Fields that the service in memory leaves out. */
const LEFT_OUT = [...UNKNOWN_TO_SDK, 'production_key', 'details']

/** @returns the value with its facts, and only the types of the rest */
export function shape(value: unknown, name = ''): unknown {
  if (FACTS.includes(name)) return value
  if (DRAWN.includes(name)) return 'list'
  if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([field]) => !LEFT_OUT.includes(field))
      .map(([field, inner]) => [field, shape(inner, field)]),
  )
}

/**
 * Runs a call of the SDK. @returns its answer or error, in a form in which the service in memory and the real one can be compared.
 * @param secret checks the JWT of a verdict
 */
export async function told(call: Promise<object>, secret: string): Promise<unknown> {
  try {
    const answer = await call
    const { jwt, response } = answer as {
      jwt?: string
      response: { status: number; retryAfterSeconds?: number }
    }
    const claims = jwt ? decodeJwt(jwt, secret) : undefined
    const { aud: _, ...comparable } = claims?.claims ?? {}
    const { status, retryAfterSeconds } = response
    return {
      answer: shape(answer),
      status,
      retryAfterSeconds,
      valid: claims?.valid,
      claims: shape(comparable),
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { code, category, httpStatus: status, details, retryAfterSeconds, verified } = error
    return { code, category, status, details, retryAfterSeconds, verified }
  }
}

/** The service in memory, or the real one. */
export interface Side {
  client: Countersign
  /** Notes what a call was answered, and returns the answer where there is one. */
  note<T extends object>(call: Promise<T>): Promise<T>
  advance(ms: number): void
}

/** Settings of a real service that answers as the one in memory. */
export const STEADY = { COUNTERSIGN_SANDBOX_RATE_LIMIT: '1000/s', COUNTERSIGN_REPLAY_POLICY: '' }

/** Runs the same calls on both sides, and compares what they noted. */
export async function both(
  running: TestService,
  settings: { passkeys?: FakePasskeySettings; policy?: ActionPolicy },
  scenario: (side: Side) => Promise<void>,
): Promise<void> {
  const { passkeys, policy } = settings
  const tenant = await running.tenant()
  if (passkeys) await usePasskeys(running, tenant, { registration: 'verified', ...passkeys })
  if (policy) await setPolicy(running, tenant.name, policy, ['sandbox'])
  const fake = new FakeCountersign({ ...(passkeys && { passkeys }), ...(policy && { policy }) })
  const real = sandboxSdk(running, tenant, { maxRetries: 0 })
  const noted = async (client: Countersign, secret: string, advance: Side['advance']) => {
    const notes: unknown[] = []
    const note = async <T extends object>(call: Promise<T>): Promise<T> => {
      notes.push(await told(call, secret))
      return call.catch(() => ({}) as T)
    }
    await scenario({ client, note, advance })
    return notes
  }
  const expected = await noted(real, tenant.secret.secret, (ms) => running.clock.advance(ms))
  const answered = await noted(fake.client(), fake.signingSecret.secret, (ms) => fake.clock.advance(ms))
  expect(answered).toEqual(expected)
}
