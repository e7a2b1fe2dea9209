/** The tokens of one verdict, and which of them the configured secrets made. */
import { compactVerify, decodeProtectedHeader, errors } from 'jose'
import { VerdictError } from './errors.js'
import { candidates, type SigningSecret } from './signing-secret.js'

/** As the answer of `verify` has them: during a rotation the same claims under either secret. */
export interface VerdictTokens {
  jwt: string
  jwt_next?: string | undefined
}

export interface SignedToken {
  jwt: string
  /** The HMAC key that made it. */
  key: Uint8Array
}

/**
 * A backend may hold either secret of a rotation alone, so the first token that one of its secrets made is the verdict.
 * Null when they made none. @throws VerdictError malformed, and jose's errors for what is no HS256 token
 */
export async function findSigned(
  tokens: string | VerdictTokens,
  secrets: readonly SigningSecret[],
): Promise<SignedToken | null> {
  const { jwt: first, jwt_next: next } = typeof tokens === 'string' ? { jwt: tokens } : tokens
  for (const jwt of next === undefined ? [first] : [first, next])
    for (const { secret } of candidates(secrets, keyId(jwt))) {
      const key = new TextEncoder().encode(secret)
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
