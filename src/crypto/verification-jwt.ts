/** Signs a verdict as a JWT (RFC 7519) that is bound to the action, by HS256 under the tenant's signing secret. */

import { createHash, createHmac } from 'node:crypto'
import type { SigningSecret } from './response-signature.js'

/** Explicit typing (RFC 8725, section 3.11): a verdict cannot pass for another kind of token. */
export const TOKEN_TYPE = 'stepup+jwt'

/**
 * JWS compact serialization (RFC 7515, section 7.1) with HS256. Synchronous on purpose: a library on WebCrypto takes ten times as long
 * and queues for the thread pool that decodes images.
 */
export function signVerification(claims: Record<string, unknown>, { id, secret }: SigningSecret): string {
  const input = `${tokenHeader('HS256', id)}.${part(JSON.stringify(claims))}`
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
}

/** The header of a verdict's token. @param kid an id of this service, which JSON writes as it is */
export function tokenHeader(alg: 'HS256' | 'ES256', kid: string): string {
  return part(`{"alg":"${alg}","typ":"${TOKEN_TYPE}","kid":"${kid}"}`)
}

function part(json: string): string {
  return Buffer.from(json).toString('base64url')
}

/** SHA-256 of an action in canonical form, in lower-case hex. A backend compares it with the action that it is about to run. */
export function actionHash(canonicalAction: string): string {
  return createHash('sha256').update(canonicalAction).digest('hex')
}
