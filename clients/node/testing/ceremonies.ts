/** Challenges that only a passkey answers in the service in memory, and the rule by which challenges are used up. */
import { canonicalJson } from '../../../src/contract/canonical-json.js'
import { randomNonce } from './challenges.js'
import { FakeRefusal } from './refusals.js'
import type { Call } from './requests.js'
import { fakeId } from './signatures.js'

/** Time that a person has for a passkey, in milliseconds. */
export const CEREMONY_MS = 300_000

/** Refusals of a passkey that use its challenge up, as a capture does that is refused. */
const PASSKEY_REFUSALS: ReadonlySet<string> = new Set([
  'passkey_not_found',
  'passkey_invalid',
  'passkey_challenge_mismatch',
  'passkey_origin_not_allowed',
  'passkey_rp_mismatch',
  'passkey_user_not_verified',
  'passkey_counter_reversed',
  'passkey_not_allowed',
])

/** A valid challenge of a request. */
export interface Usable {
  /** Marks the challenge as used. */
  use(): void
}

interface Issued {
  nonce: string
  binding: string
  expiresMs: number
  used: boolean
}

export class FakeCeremonies {
  private readonly issued = new Map<string, Issued>()

  /** @param subject kind of the ceremony, user, and what it is for */
  issue(
    subject: readonly unknown[],
    nowMs: number,
  ): { challenge_id: string; nonce: string; expiresMs: number } {
    const [challenge_id, nonce, expiresMs] = [fakeId('chl'), randomNonce(), nowMs + CEREMONY_MS]
    this.issued.set(challenge_id, { nonce, binding: canonicalJson(subject), expiresMs, used: false })
    return { challenge_id, nonce, expiresMs }
  }

  /** @throws FakeRefusal challenge_not_found, challenge_used, challenge_expired, challenge_mismatch */
  open(
    { requestId }: Call,
    given: { challenge_id: string; nonce: string },
    subject: readonly unknown[],
    nowMs: number,
  ): Usable {
    const found = this.issued.get(given.challenge_id)
    if (!found) throw new FakeRefusal('challenge_not_found', requestId)
    if (found.used) throw new FakeRefusal('challenge_used', requestId)
    if (found.expiresMs <= nowMs) throw new FakeRefusal('challenge_expired', requestId)
    if (found.nonce !== given.nonce || found.binding !== canonicalJson(subject))
      throw new FakeRefusal('challenge_mismatch', requestId)
    const use = () => {
      found.used = true
    }
    return { use }
  }
}

/** Uses challenges up after an answer, and after a refusal of the frames or of the passkey; other refusals leave them usable. */
export async function usingUp<T>(challenges: readonly Usable[], work: () => T | Promise<T>): Promise<T> {
  const use = () => {
    for (const challenge of challenges) challenge.use()
  }
  try {
    const answer = await work()
    use()
    return answer
  } catch (error) {
    const isRefused =
      error instanceof FakeRefusal &&
      (error.category === 'biometric_rejected' || PASSKEY_REFUSALS.has(error.code))
    if (isRefused) use()
    throw error
  }
}
