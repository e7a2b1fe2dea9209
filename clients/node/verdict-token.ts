/** Finds the token of a verdict that a configured secret made. */
import { compactVerify, decodeProtectedHeader, errors } from 'jose'
import { VerdictError } from './errors.js'
import { candidates, hmacKey, type SigningSecret } from './signing-secret.js'

/** The tokens of an answer of `verify`: during a rotation, `jwt_next` has the same claims under the new secret. */
export interface VerdictTokens {
  jwt: string
  jwt_next?: string | null | undefined
  /** The same claims under a key of the issuer. */
  jwt_public?: string | undefined
}

export interface SignedToken {
  jwt: string
  /** The HMAC key that made it. */
  key: Awaited<ReturnType<typeof hmacKey>>
}

/**
 * During a rotation, a backend may hold only one of the two secrets, so the first token that one of its secrets made is the verdict.
 * @returns null when they made none of the tokens
 * @throws VerdictError malformed, and jose's errors for a token that is not HS256
 */
export async function findSigned(
  tokens: string | VerdictTokens,
  secrets: readonly SigningSecret[],
): Promise<SignedToken | null> {
  const { jwt: first, jwt_next: next } = typeof tokens === 'string' ? { jwt: tokens } : tokens
  for (const jwt of next ? [first, next] : [first])
    for (const { secret } of candidates(secrets, keyId(jwt))) {
      const key = await hmacKey(secret, 'verify')
      try {
        await compactVerify(jwt, key, { algorithms: ['HS256'] })
        return { jwt, key }
      } catch (error) {
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error
      }
    }
  return null
}

function keyId(jwt: string): string | undefined {
  try {
    return decodeProtectedHeader(jwt).kid
  } catch {
    throw new VerdictError('malformed', 'This is not a JWT.')
  }
}
