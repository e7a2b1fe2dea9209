/**
 * Signs a verdict as JWTs (RFC 7519) that are bound to the action: HS256 under the tenant's signing secret, and ES256 under a key of the
 * issuer.
 */

import { createHash, createHmac } from 'node:crypto'
import type { PackGrade } from '../../models/pack/grades.js'
import type { SigningSecret } from './response-signature.js'
import type { VerdictSignature, VerdictSigner } from './verdict-signer.js'

export interface VerificationClaims {
  /** Base URL of the environment. */
  iss: string
  /** Tenant id. */
  aud: string
  /** User id. */
  sub: string
  /** Unix seconds. */
  iat: number
  nbf: number
  exp: number
  /** Verification id. */
  jti: string
  /** Request id. */
  txn: string
  env: 'production' | 'sandbox'
  verdict: 'approved' | 'rejected'
  reason?: string
  /** Similarity of the faces. Only in an approval: how near a rejection came would guide somebody who tries picture after picture. */
  score?: number
  /** The false match rate that the threshold has reached on calibration data. */
  fmr: number
  fmr_basis: 'measured' | 'extrapolated'
  action: unknown
  action_hash: string
  /** SHA-256 of the text that the hosted page showed for the action, its language and the version of its template. */
  display_hash?: string
  display_locale?: string
  display_version?: string
  display_source?: 'challenge'
  nonce?: string
  /** Session of the hosted page that made the verify, and whether its result needs the proof of the browser that captured. */
  capture_session?: string
  capture_binding?: 'same' | 'any'
  /** Methods of RFC 8176: a passkey adds `hwk` for a key in hardware, `swk` for one in software. */
  amr: ['face'] | ['face', 'hwk' | 'swk']
  acr: string
  /** Unix seconds of the capture's evaluation. */
  auth_time: number
  /** Model pack id. */
  model: string
  /** Grade of the model pack at this false match rate. */
  model_grade: PackGrade
  /**
   * Whether the capture's liveness was checked, by which methods, with which result. Nothing beyond these methods is claimed. Its score,
   * too, is only in an approval.
   */
  liveness: { checked: boolean; passed: boolean | null; methods: string[]; score?: number | null }
  /** Id of the challenge whose frames were judged. */
  challenge_id?: string
  /** Id of the passkey that has signed for this action. */
  passkey_id?: string
  replay: { suspected: boolean }
  /** SHA-256 of the policy that was in force, and the name of its rule that decided; absent where the tenant has no policy. */
  policy_hash?: string
  policy_rule?: string
  /** Id of the other person's verdict that this approval has used up. */
  approval_id?: string
}

/** Explicit typing (RFC 8725, section 3.11): a verdict cannot pass for another kind of token. */
export const TOKEN_TYPE = 'stepup+jwt'

/**
 * JWS compact serialization (RFC 7515, section 7.1) with HS256. Synchronous on purpose: a library on WebCrypto takes ten times as long
 * and queues for the thread pool that decodes images.
 */
export function signVerification(claims: VerificationClaims, { id, secret }: SigningSecret): string {
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
