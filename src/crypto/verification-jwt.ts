/**
 * Signs a verdict as JWTs (RFC 7519) that are bound to the action: HS256 under the tenant's signing secret, and ES256 under a key of the
 * issuer.
 */

import { createHash, createHmac } from 'node:crypto'
import type { SigningSecret } from './response-signature.js'
import type { VerdictSignature, VerdictSigner } from './verdict-signer.js'

/** Explicit typing (RFC 8725, section 3.11): a verdict cannot pass for another kind of token. */
export const TOKEN_TYPE = 'stepup+jwt'

/**
 * JWS compact serialization (RFC 7515, section 7.1) with HS256. Synchronous on purpose: a library on WebCrypto takes ten times as long
 * and queues for the thread pool that decodes images.
 */
export function signVerification(claims: Record<string, unknown>, { id, secret }: SigningSecret): string {
  const input = `${header('HS256', id)}.${part(JSON.stringify(claims))}`
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
}

/** The same claims as those of a token, to the byte, as an ES256 token that anyone can check and only the issuer can make. @throws SignatureAwaited */
export function signPublicly(token: string, signer: VerdictSigner, signature: VerdictSignature): string {
  const [, claims] = token.split('.')
  const input = `${header('ES256', signer.kid)}.${claims}`
  return `${input}.${signature.of(input, signer).toString('base64url')}`
}

/** @param kid an id of this service, which JSON writes as it is */
function header(alg: 'HS256' | 'ES256', kid: string): string {
  return part(`{"alg":"${alg}","typ":"${TOKEN_TYPE}","kid":"${kid}"}`)
}

function part(json: string): string {
  return Buffer.from(json).toString('base64url')
}

/** SHA-256 of an action in canonical form, in lower-case hex. A backend compares it with the action that it is about to run. */
export function actionHash(canonicalAction: string): string {
  return createHash('sha256').update(canonicalAction).digest('hex')
}
