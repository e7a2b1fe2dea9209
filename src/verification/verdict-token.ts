/** The verdict as JWTs: its claims, and the choice of the tenant's secret that signs them. */
import { acrOf } from '../contract/action-policy.js'
import type { VerdictSignature, VerdictSigner } from '../crypto/verdict-signer.js'
import {
  actionHash,
  signPublicly,
  signVerification,
  type VerificationClaims,
} from '../crypto/verification-jwt.js'
import { SECOND_MS } from '../lib/clock.js'
import type { Call, ShownDisplay } from './call.js'
import type { LivenessStatement } from './liveness.js'
import type { Possession } from './passkey-check.js'
import type { ProvenPasskey } from './passkey-proof.js'
import type { Reason } from './reasons.js'

/** The `acr` of a verdict that authenticates nobody (OpenID Connect Core, section 2). */
const NO_ACR = '0'

interface VerdictFacts {
  call: Call<{ user_id: string; action: unknown; nonce?: string }>
  issuer: string
  verificationId: string
  /** Unix seconds. */
  issuedAt: number
  expiresAt: number
  verdict: 'approved' | 'rejected'
  /** Reason of a rejection; null for an approval. */
  reason: Reason | null
  score: number | null
  fmr: number
  fmr_basis: VerificationClaims['fmr_basis']
  model_grade: VerificationClaims['model_grade']
  /** The action in RFC 8785 canonical form. */
  action: string
  liveness: Pick<LivenessStatement, 'checked' | 'passed' | 'methods' | 'score'>
  /** Id of the challenge whose frames were judged; undefined for photos. */
  challengeId: string | undefined
  /** The passkey that has signed for this action; null where none was asked. */
  passkey: Pick<ProvenPasskey, 'id' | 'possession'> | null
  model: string
  replaySuspected: boolean
  /** Hash of the policy that was in force, with the name of the rule that decided; undefined where the tenant has no policy. */
  policy_hash?: string | undefined
  policy_rule?: string | undefined
  /** The other person's verdict that this approval has used up. */
  approval_id?: string | undefined
}

/** Computes when a verdict's JWT is issued and expires, in Unix seconds. @param at time of the verdict, milliseconds since the Unix epoch */
export type VerdictLifetime = (userId: string, at: number) => { issuedAt: number; expiresAt: number }

/** @param ttlSeconds lifetime of a JWT */
export function verdictLifetime(ttlSeconds: number): VerdictLifetime {
  return (_userId, at) => {
    const issuedAt = Math.floor(at / SECOND_MS)
    return { issuedAt, expiresAt: issuedAt + ttlSeconds }
  }
}

/** The text that the person was shown, as the JWT names it; nothing where the verdict names none. */
function displayFacts(display: ShownDisplay | undefined) {
  return display
    ? {
        display_hash: display.hash,
        display_locale: display.locale,
        display_version: display.version,
        ...(display.source === undefined ? {} : { display_source: display.source }),
      }
    : {}
}

/** Only an approval claims possession: a rejection authenticates nobody. */
function provenBy(reason: Reason | null, possession: Possession | null): Possession | null {
  return reason === null ? possession : null
}

/**
 * Returns the `amr` of a verdict.
 * @param reason reason of a rejection; null for an approval
 * @param possession proof of the passkey that has signed; null for none
 */
export function amrOf(reason: Reason | null, possession: Possession | null): VerificationClaims['amr'] {
  const proven = provenBy(reason, possession)
  return proven === null ? ['face'] : ['face', proven]
}

/**
 * A token is signed, not sealed, and may come to the browser of somebody who tries again and again. So a rejection's has no number that grows as a picture
 * comes nearer to passing: the signed response has them, which only the backend reads.
 */
export function verdictClaims(facts: VerdictFacts): VerificationClaims {
  const { call, reason, issuedAt } = facts
  const possession = provenBy(reason, facts.passkey?.possession ?? null)
  const { input, tenant, environment, requestId } = call
  const { checked, passed, methods } = facts.liveness
  return {
    iss: facts.issuer,
    aud: tenant.id,
    sub: input.user_id,
    iat: issuedAt,
    nbf: issuedAt,
    exp: facts.expiresAt,
    jti: facts.verificationId,
    txn: requestId,
    env: environment,
    verdict: facts.verdict,
    ...(reason ? { reason } : {}),
    ...(reason === null && facts.score !== null ? { score: facts.score } : {}),
    fmr: facts.fmr,
    fmr_basis: facts.fmr_basis,
    action: input.action,
    action_hash: actionHash(facts.action),
    ...displayFacts(call.display),
    ...(input.nonce === undefined ? {} : { nonce: input.nonce }),
    ...(call.captureSession
      ? { capture_session: call.captureSession.id, capture_binding: call.captureSession.binding }
      : {}),
    amr: amrOf(reason, possession),
    acr: reason ? NO_ACR : acrOf(methods, facts.challengeId !== undefined, possession),
    liveness: { checked, passed, methods, ...(reason === null ? { score: facts.liveness.score } : {}) },
    ...(facts.challengeId === undefined ? {} : { challenge_id: facts.challengeId }),
    ...(facts.passkey === null ? {} : { passkey_id: facts.passkey.id }),
    auth_time: issuedAt,
    model: facts.model,
    model_grade: facts.model_grade,
    replay: { suspected: facts.replaySuspected },
    ...(facts.policy_hash === undefined ? {} : { policy_hash: facts.policy_hash }),
    ...(facts.policy_rule === undefined ? {} : { policy_rule: facts.policy_rule }),
    ...(facts.approval_id === undefined ? {} : { approval_id: facts.approval_id }),
  }
}

/** The tokens of one verdict: all have the same claims. */
export interface VerdictTokens {
  jwt: string
  jwt_next: string | null
  /** Under a key of the issuer, whose public half anyone may have. */
  jwt_public: string
}

/**
 * Signs the claims with one secret, or with two during a rotation overlap: then `jwt` is for backends that were not redeployed, and
 * `jwt_next` holds the same claims under the new secret. A caller that names the new secret gets only that one, in `jwt`.
 * @throws SignatureAwaited
 */
export function signVerdict(
  call: Pick<Call<unknown>, 'secrets' | 'signingKeyId'>,
  claims: VerificationClaims,
  signer: VerdictSigner,
  signature: VerdictSignature,
): VerdictTokens {
  const tokens = signForTenant(call, claims)
  return { ...tokens, jwt_public: signPublicly(tokens.jwt, signer, signature) }
}

function signForTenant(
  { secrets, signingKeyId }: Pick<Call<unknown>, 'secrets' | 'signingKeyId'>,
  claims: VerificationClaims,
): Pick<VerdictTokens, 'jwt' | 'jwt_next'> {
  const { outgoing, incoming } = secrets
  if (!incoming) return { jwt: signVerification(claims, outgoing), jwt_next: null }
  if (signingKeyId === incoming.id) return { jwt: signVerification(claims, incoming), jwt_next: null }
  return { jwt: signVerification(claims, outgoing), jwt_next: signVerification(claims, incoming) }
}
