/**
 * Requests that an application has signed instead of pushed (RFC 9101). They stand in the address of the browser, so each is good for a
 * few minutes and for one interaction.
 */
import { createHash } from 'node:crypto'
import { errors } from 'oidc-provider'
import type { Environment } from '../../config/config.js'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../lib/clock.js'
import { StateAdapter, type StateAdapterParts } from './state-adapter.js'

/** Age up to which a request without `exp` counts. */
const MAX_AGE_MS = 10 * MINUTE_MS
/** How far ahead `exp` may lie. */
const MAX_LIFETIME_MS = HOUR_MS
/** How far the clocks may differ. */
const SKEW_MS = 2 * MINUTE_MS
/** How long a used request is remembered: longer than it counts. */
const REMEMBERED_SECONDS = (MAX_LIFETIME_MS + 2 * SKEW_MS) / SECOND_MS

export class SignedRequests {
  private readonly used: StateAdapter

  constructor(
    private readonly parts: StateAdapterParts,
    environment: Environment,
  ) {
    this.used = new StateAdapter(parts, `${environment} SignedRequest`)
  }

  /** The library has refused an `exp` that is over. @throws InvalidRequestObject */
  assertFresh({ exp, iat }: Record<string, unknown>): void {
    const now = this.parts.clock.now()
    if (typeof exp === 'number') {
      if (exp * SECOND_MS > now + MAX_LIFETIME_MS + SKEW_MS)
        throw new errors.InvalidRequestObject('exp lies more than an hour ahead')
      return
    }
    if (typeof iat !== 'number') throw new errors.InvalidRequestObject('the request has neither exp nor iat')
    const issuedAt = iat * SECOND_MS
    if (issuedAt > now + SKEW_MS || issuedAt <= now - MAX_AGE_MS)
      throw new errors.InvalidRequestObject('iat is not of the last 10 minutes')
  }

  /** Gives a request to an interaction. @throws InvalidRequestObject where another one has it */
  async use(request: string, uid: string): Promise<void> {
    const earlier = await this.used.claim(signedDigest(request), { uid } as never, REMEMBERED_SECONDS)
    if (earlier) throw new errors.InvalidRequestObject('the request was used before')
  }

  /** @returns the interaction that has the request */
  async interactionOf(request: string): Promise<string | undefined> {
    return (await this.used.find(signedDigest(request)))?.uid
  }
}

/** Digest of the signed part of a token. The signature can be spelled in several ways: nobody reads the last bits of its base64url. */
export function signedDigest(token: string): string {
  const signedPart = token.slice(0, token.lastIndexOf('.'))
  return createHash('sha256').update(signedPart).digest('base64url')
}
