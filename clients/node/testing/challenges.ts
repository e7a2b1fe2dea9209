/** Challenges of the service in memory: each is bound to what it is for, and can be used once. No frame is decoded. */
import { displayAction } from '../../../src/contract/actions/display-action.js'
import { canonicalJson } from '../../../src/contract/canonical-json.js'
import { PASSKEY_SIGNATURES } from '../../../src/contract/sandbox-passkeys.js'
import { displayHash } from '../display-hash.js'
import type { Challenge, ChallengeStep, DisplayedText } from '../types.js'
import { FakeRefusal, refuseRequest } from './refusals.js'
import { type Call, refuseUnseen } from './requests.js'
import { fakeId } from './signatures.js'
import { isoTime, type TestClock } from './test-clock.js'
import { base64url } from './tokens.js'

type Mode = 'turn' | 'nod'
const MOVEMENTS = { turn: ['turn_left', 'turn_right'], nod: ['nod_up', 'nod_down'] } as const
const DEFAULT_MODES: readonly Mode[] = ['turn', 'nod']

/** A challenge that a request may answer. */
export interface OpenedChallenge {
  /** Method of liveness, such as `active-geometry@1`; null where the challenge asks for no movement. */
  method: string | null
  /** The text of the action that the answer with the challenge held; undefined for none. */
  display?: DisplayedText | undefined
  isUsed: boolean
}

interface Issued extends OpenedChallenge {
  nonce: string
  binding: string
  expiresMs: number
}

export class FakeChallenges {
  private readonly issued = new Map<string, Issued>()

  constructor(private readonly clock: TestClock) {}

  /** @param subject kind of the challenge, user, and what it is for */
  issue(
    subject: readonly unknown[],
    ttlMs: number,
    asked: Omit<OpenedChallenge, 'isUsed'> = { method: null },
  ): Pick<Challenge, 'challenge_id' | 'nonce' | 'expires_at'> {
    const challenge_id = fakeId('chl')
    const nonce = base64url(crypto.getRandomValues(new Uint8Array(32)))
    const binding = canonicalJson(subject)
    const expiresMs = this.clock.now() + ttlMs
    this.issued.set(challenge_id, { ...asked, nonce, binding, expiresMs, isUsed: false })
    return { challenge_id, nonce, expires_at: isoTime(expiresMs) }
  }

  /** @throws FakeRefusal challenge_not_found, challenge_used, challenge_expired, challenge_mismatch */
  open(given: { challenge_id: string; nonce: string }, subject: readonly unknown[]): OpenedChallenge {
    const found = this.issued.get(given.challenge_id)
    if (!found) throw new FakeRefusal('challenge_not_found')
    if (found.isUsed) throw new FakeRefusal('challenge_used')
    if (found.expiresMs <= this.clock.now()) throw new FakeRefusal('challenge_expired')
    if (found.nonce !== given.nonce || found.binding !== canonicalJson(subject))
      throw new FakeRefusal('challenge_mismatch')
    return found
  }
}

/** Uses challenges up after an answer, and after a refusal of the frames or of the passkey; other refusals leave them usable. */
export async function usingUp<T>(
  challenges: readonly OpenedChallenge[],
  work: () => T | Promise<T>,
): Promise<T> {
  const use = () => {
    for (const challenge of challenges) challenge.isUsed = true
  }
  try {
    const answer = await work()
    use()
    return answer
  } catch (error) {
    if (error instanceof FakeRefusal && isOfCapture(error)) use()
    throw error
  }
}

/** The refusals of a passkey that count as those of frames are the codes that a scripted answer can ask for. */
function isOfCapture({ category, code }: FakeRefusal): boolean {
  return category === 'biometric_rejected' || (PASSKEY_SIGNATURES as readonly string[]).includes(code)
}

/** @returns what a challenge of frames is bound to */
export function subjectOf(purpose: 'verify' | 'enroll', { user_id, action }: Call['body']): unknown[] {
  return ['frames', purpose, user_id, purpose === 'verify' ? action : null]
}

/** @returns the text of the action, where the request names a language @throws FakeRefusal invalid_request */
export async function displayFor({ action, locale, payees }: Call['body']): Promise<Challenge['display']> {
  if (locale === undefined)
    return payees === undefined ? undefined : refuseRequest('payees', 'needs `locale`')
  const display = displayAction(action, locale, payees)
  if (!display) return refuseRequest('locale', 'needs a typed action')
  return { hash: await displayHash(display), ...display }
}

/** @returns the text as a verdict names it */
export function shownAs(
  { hash, locale, version }: Omit<DisplayedText, 'source'>,
  source: DisplayedText['source'],
): DisplayedText {
  return { hash, locale, version, source }
}

/** @throws FakeRefusal invalid_request */
export function assertChallengeRequest({ user_id, purpose = 'verify', action }: Call['body']): void {
  if (purpose === 'verify' && action === undefined) refuseRequest('action', 'is required')
  if (purpose === 'enroll' && action !== undefined) refuseRequest('action', 'an enrollment has no action')
  if (purpose === 'enroll') refuseUnseen(user_id)
}

/** @returns the steps of a challenge: the first movement is to the left or up, the second to the right or down */
export function stepsFor(modes = DEFAULT_MODES): ChallengeStep[] {
  const [first, second = first] = modes
  return first && second ? ['frontal', MOVEMENTS[first][0], MOVEMENTS[second][1], 'frontal'] : ['frontal']
}

/** @returns the method of liveness of a challenge with these movements; null for none */
export function methodFor(modes = DEFAULT_MODES): string | null {
  if (modes.length === 0) return null
  return new Set(modes).size > 1 ? 'active-geometry@1' : `active-${modes[0]}@1`
}
