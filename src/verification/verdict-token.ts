/** The verdict as JWTs: its claims, and the choice of the tenant's secret that signs them. */

import { signVerification } from '../crypto/verification-jwt.js'
import { SECOND_MS } from '../lib/clock.js'
import type { Call } from './call.js'

/** Computes when a verdict's JWT is issued and expires, in Unix seconds. @param at time of the verdict, milliseconds since the Unix epoch */
export type VerdictLifetime = (userId: string, at: number) => { issuedAt: number; expiresAt: number }

/** @param ttlSeconds lifetime of a JWT */
export function verdictLifetime(ttlSeconds: number): VerdictLifetime {
  return (_userId, at) => {
    const issuedAt = Math.floor(at / SECOND_MS)
    return { issuedAt, expiresAt: issuedAt + ttlSeconds }
  }
}

/** The tokens of one verdict for its tenant: both have the same claims. */
export interface VerdictTokens {
  jwt: string
  jwt_next: string | null
}

/** Thrown in a transaction that needs a signature which takes time: it is to be rolled back, and run again after `signed`. */
export class SignatureAwaited extends Error {
  /** @param signed rejects with a DomainError where there is no signature */
  constructor(readonly signed: Promise<void>) {
    super('a verdict waits for its signature')
    // The transaction ends before anybody awaits this.
    signed.catch(() => {})
  }
}

/**
 * Signs the claims with one secret, or with two during a rotation overlap: then `jwt` is for backends that were not redeployed, and
 * `jwt_next` holds the same claims under the new secret. A caller that names the new secret gets only that one, in `jwt`.
 */
export function signVerdict(
  { secrets, signingKeyId }: Pick<Call<unknown>, 'secrets' | 'signingKeyId'>,
  claims: Record<string, unknown>,
): VerdictTokens {
  const { outgoing, incoming } = secrets
  if (!incoming) return { jwt: signVerification(claims, outgoing), jwt_next: null }
  if (signingKeyId === incoming.id) return { jwt: signVerification(claims, incoming), jwt_next: null }
  return { jwt: signVerification(claims, outgoing), jwt_next: signVerification(claims, incoming) }
}
