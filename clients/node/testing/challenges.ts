/** Challenges of the service in memory: each is bound to a user and an action, and can be used once. No frame is decoded. */
import { displayAction } from '../../../src/contract/actions/display-action.js'
import { canonicalJson } from '../../../src/contract/canonical-json.js'
import { CAPTURE_LIMITS } from '../../../src/contract/capture-limits.js'
import { scriptedFault } from '../../../src/contract/sandbox-rules.js'
import { displayHash } from '../display-hash.js'
import type { Challenge, ChallengeStep, DisplayedText, Liveness } from '../types.js'
import { FakeRefusal } from './refusals.js'
import { type Call, refuseRequest, refuseUnseen } from './requests.js'
import { fakeId } from './signatures.js'
import { base64url } from './tokens.js'

/** Life of a challenge, in seconds. */
const TTL_SECONDS = 90
const MOVEMENTS = { turn: ['turn_left', 'turn_right'], nod: ['nod_up', 'nod_down'] } as const

interface Issued {
  nonce: string
  binding: string
  steps: ChallengeStep[]
  expiresMs: number
  used: boolean
  display: DisplayedText | undefined
}

/** A valid challenge of a request. */
export interface OpenedChallenge {
  /** Method of liveness, such as `active-geometry@1`; null where the challenge asks for no movement. */
  method: string | null
  /** The text of the action that the answer with the challenge held; undefined for none. */
  display: DisplayedText | undefined
  /** Marks the challenge as used. */
  use(): void
}

export class FakeChallenges {
  private readonly issued = new Map<string, Issued>()

  async issue(call: Call, nowMs: number): Promise<Challenge> {
    const { body } = call
    const { user_id, purpose = 'verify', action, modes = ['turn', 'nod'] } = body
    const challenge_id = fakeId('chl')
    const nonce = randomNonce()
    const steps = draw(modes)
    const expiresMs = nowMs + TTL_SECONDS * 1000
    const binding = bindingOf(user_id, purpose, action)
    const given = await displayFor(call)
    const display = given && {
      hash: given.hash,
      locale: given.locale,
      version: given.version,
      source: 'challenge' as const,
    }
    this.issued.set(challenge_id, { nonce, binding, steps, expiresMs, used: false, display })
    return {
      challenge_id,
      nonce,
      user_id,
      purpose,
      method: methodOf(steps),
      steps,
      capture: CAPTURE_LIMITS,
      expires_in: TTL_SECONDS,
      expires_at: new Date(expiresMs).toISOString(),
      ...(given && { display: given }),
    }
  }

  /** @returns null for a request with photos @throws FakeRefusal challenge_not_found, challenge_used, challenge_expired, challenge_mismatch */
  open(call: Call, purpose: 'verify' | 'enroll', nowMs: number): OpenedChallenge | null {
    const { user_id, action, challenge } = call.body
    if (!challenge) return null
    const { requestId } = call
    const found = this.issued.get(challenge.challenge_id)
    if (!found) throw new FakeRefusal('challenge_not_found', requestId)
    if (found.used) throw new FakeRefusal('challenge_used', requestId)
    if (found.expiresMs <= nowMs) throw new FakeRefusal('challenge_expired', requestId)
    if (found.nonce !== challenge.nonce || found.binding !== bindingOf(user_id, purpose, action))
      throw new FakeRefusal('challenge_mismatch', requestId)
    const use = () => {
      found.used = true
    }
    return { method: methodOf(found.steps), display: found.display, use }
  }
}

/** @returns the text of the action, where the request names a language @throws FakeRefusal invalid_request */
async function displayFor(call: Call): Promise<Challenge['display']> {
  const { action, locale, payees } = call.body
  if (locale === undefined) {
    if (payees !== undefined) refuseRequest(call, 'payees', 'needs `locale`')
    return undefined
  }
  const display = displayAction(action, locale, payees)
  if (!display) refuseRequest(call, 'locale', 'needs a typed action')
  return { hash: await displayHash(display!), ...display! }
}

/** @param passive the statement about photos @returns the sandbox's statement about the frames of a challenge */
export function challengeLiveness(userId: string, passive: Liveness, method: string | null): Liveness {
  const fault = scriptedFault(userId)
  const methods = [...(method ? [method] : []), ...passive.methods]
  return {
    checked: methods.length > 0,
    score: passive.score,
    passed: methods.length > 0 || fault ? !fault && passive.passed !== false : null,
    methods,
    guidance: fault ? [fault.guidance] : passive.guidance,
    findings: fault?.finding ? [fault.finding] : [],
  }
}

function bindingOf(userId: string, purpose: string, action: unknown): string {
  return canonicalJson([userId, purpose, purpose === 'verify' ? action : null])
}

/** @throws FakeRefusal invalid_request */
export function assertChallengeRequest(call: Call): void {
  const { user_id, purpose = 'verify', action } = call.body
  if (!user_id) refuseRequest(call, 'user_id', 'is required')
  if (purpose === 'verify' && action === undefined) refuseRequest(call, 'action', 'is required')
  if (purpose === 'enroll' && action !== undefined)
    refuseRequest(call, 'action', 'an enrollment has no action')
  if (purpose === 'enroll') refuseUnseen(call)
}

function draw(modes: Array<keyof typeof MOVEMENTS>): ChallengeStep[] {
  const [first, second = first] = modes
  if (!first || !second) return ['frontal']
  return ['frontal', ...[first, second].map((mode) => MOVEMENTS[mode][randomBit()]!), 'frontal']
}

/** @param modes as a request names them @returns the method of a challenge with these movements; null for none */
export function methodFor(modes: ReadonlyArray<keyof typeof MOVEMENTS> = ['turn', 'nod']): string | null {
  return methodOf(modes.map((mode) => MOVEMENTS[mode][0]))
}

function methodOf(steps: readonly ChallengeStep[]): string | null {
  const turns = steps.some((step) => step.startsWith('turn_'))
  const nods = steps.some((step) => step.startsWith('nod_'))
  if (!turns && !nods) return null
  return `active-${turns && nods ? 'geometry' : turns ? 'turn' : 'nod'}@1`
}

function randomBit(): 0 | 1 {
  return crypto.getRandomValues(new Uint8Array(1))[0]! < 128 ? 0 : 1
}

/** @returns 32 random bytes in base64url */
export function randomNonce(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)))
}
