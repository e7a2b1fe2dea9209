/** Requests to the service in memory, and the checks that every call passes. */
import { sha256Hex } from '../../../src/contract/action-hash.js'
import { isPlainIdentifier, NO_UNSEEN_CHARACTERS } from '../../../src/contract/actions/readable-text.js'
import {
  payeesFaults,
  TYPED_ACTION_REMEDY,
  typedActionFaults,
} from '../../../src/contract/actions/typed-action-check.js'
import { DISPLAY_LOCALES } from '../../../src/contract/locales.js'
import { sandboxRule } from '../../../src/contract/sandbox-rules.js'
import type { ErrorDetail } from '../errors.js'
import type { CaptureBinding, DisplayedText, Scope } from '../types.js'
import { FakeRefusal, refuseRequest } from './refusals.js'
import { type CallName, FAKE_CALLS, type FakeCall } from './service-calls.js'

/** A request as it was sent, for assertions. */
export interface FakeRequest {
  method: string
  /** Path after /v1. */
  path: string
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies freely
  body: any
}

export interface Call extends FakeRequest {
  query: URLSearchParams
  requestId: string
  signal: AbortSignal | null | undefined
  /** Text that the hosted page showed for the action; undefined for any other caller. */
  display?: DisplayedText | undefined
  /** The session of the hosted page that makes the call; undefined for any other caller. */
  captureSession?: { id: string; binding: CaptureBinding }
}

/** Calls whose action may be the recovery of a passkey. */
const RECOVERING: readonly string[] = ['POST /verify', 'POST /challenges', 'POST /capture-sessions']

const FORMS = (Object.keys(FAKE_CALLS) as CallName[]).map((name) => ({
  name,
  form: new RegExp(`^${name.replace(/\{\w+\}/g, '([^/]+)')}$`),
}))

/**
 * @returns the call as the API describes it, and what stands in its path for the variables
 * @throws FakeRefusal unknown_endpoint, invalid_request
 */
export function describedCall({ method, path }: FakeRequest): { name: CallName; variables: string[] } {
  for (const { name, form } of FORMS) {
    const match = form.exec(`${method} ${path}`)
    if (match) return { name, variables: match.slice(1).map(decoded) }
  }
  throw new FakeRefusal('unknown_endpoint')
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return refuseRequest('user_id', 'is not UTF-8 in percent-encoding')
  }
}

/** Refuses a misspelled field, an unknown language and a missing user. @throws FakeRefusal invalid_request */
export function assertKnownFields(name: CallName, body: Call['body']): void {
  const { fields }: FakeCall = FAKE_CALLS[name]
  const details: ErrorDetail[] = Object.keys(body ?? {})
    .filter((field) => !fields.includes(field))
    .map((field) => ({ path: field, issue: 'is not a known field' }))
  if (fields.includes('locale') && body?.locale !== undefined && !DISPLAY_LOCALES.includes(body.locale))
    details.push({ path: 'locale', issue: `must be one of ${DISPLAY_LOCALES.join(', ')}` })
  // Advice on a frame needs no user.
  if (fields.includes('user_id') && name !== 'POST /guidance' && !body?.user_id)
    details.push({ path: 'user_id', issue: 'is required' })
  if (details.length > 0) throw new FakeRefusal('invalid_request', details)
}

/** @param held scopes of the key; undefined for a key that may make every call @throws FakeRefusal insufficient_scope */
export function assertScopes(name: CallName, body: Call['body'], held: readonly Scope[] | undefined): void {
  if (held === undefined) return
  const { scopes, fields }: FakeCall = FAKE_CALLS[name]
  const { purpose = 'verify', action, replace, add } = body ?? {}
  const wanted: Array<readonly [path: string, scopes: readonly Scope[]]> = [
    ['Authorization', scopes],
    ['purpose', fields.includes('purpose') ? [purpose] : []],
    ['action', RECOVERING.includes(name) && action?.type === 'recover_passkey' ? ['recover'] : []],
    ['replace', replace ? ['replace'] : []],
    ['add', add ? ['replace'] : []],
  ]
  for (const [path, scopes] of wanted)
    if (scopes.length > 0 && !scopes.some((scope) => held.includes(scope)))
      throw new FakeRefusal(
        'insufficient_scope',
        scopes.map((scope) => ({ path, issue: `needs an API key with the scope "${scope}"`, scope })),
      )
}

/** Refuses a typed action that does not fit its schema, and a list that is not the batch's. @throws FakeRefusal invalid_request */
export async function assertTypedAction(name: CallName, body: Call['body']): Promise<void> {
  const { fields }: FakeCall = FAKE_CALLS[name]
  if (!fields.includes('action')) return
  const { action, payees, locale } = body
  const faults = typedActionFaults(action)
  if (faults.length > 0) throw new FakeRefusal('invalid_request', faults, TYPED_ACTION_REMEDY)
  if (!fields.includes('payees') || (name === 'POST /challenges' && locale === undefined)) return
  const hash = typeof payees === 'string' ? await sha256Hex(payees) : ''
  const wrong = payeesFaults(action, payees, () => hash)
  if (wrong.length > 0) throw new FakeRefusal('invalid_request', wrong)
}

/** Refuses a user whose id asks for it. @throws FakeRefusal rate_limited, overloaded */
export function refuseBusy(userId: string): void {
  const { busy } = sandboxRule(userId)
  if (busy) throw new FakeRefusal(busy)
}

/** Refuses to enroll under an id that people cannot tell from another one. @throws FakeRefusal invalid_request */
export function refuseUnseen(userId: string): void {
  if (!isPlainIdentifier(userId)) refuseRequest('user_id', NO_UNSEEN_CHARACTERS)
}
