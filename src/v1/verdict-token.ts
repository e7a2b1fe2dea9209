/** The verdict as JWTs: what it claims, and under which of the tenant's secrets it is signed. */
import { actionHash, signVerification, type VerificationClaims } from '../crypto/verification-jwt.js'
import type { Call } from './endpoint.js'
import type { Reason } from './reasons.js'

/** Authentication contexts that a verdict claims (OpenID Connect's `acr`): "0" when it claims none. */
const ACR = { face: 'urn:countersign:acr:face', faceWithLiveness: 'urn:countersign:acr:face-pad', none: '0' }

interface VerdictFacts {
  call: Call<{ user_id: string; action: unknown; nonce?: string }>
  issuer: string
  verificationId: string
  /** Unix seconds. */
  issuedAt: number
  expiresAt: number
  verdict: 'approved' | 'rejected'
  /** Null for an approval. */
  reason: Reason | null
  score: number | null
  fmr: number
  fmr_basis: VerificationClaims['fmr_basis']
  model_grade: VerificationClaims['model_grade']
  /** RFC 8785 canonical form. */
  action: string
  livenessChecked: boolean
  model: string
  replaySuspected: boolean
}

export function verdictClaims(facts: VerdictFacts): VerificationClaims {
  const { call, reason, issuedAt } = facts
  const { input, tenant, environment, requestId } = call
  const approvedAcr = facts.livenessChecked ? ACR.faceWithLiveness : ACR.face
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
    score: facts.score,
    fmr: facts.fmr,
    fmr_basis: facts.fmr_basis,
    action: input.action,
    action_hash: actionHash(facts.action),
    ...(input.nonce === undefined ? {} : { nonce: input.nonce }),
    amr: ['face'],
    acr: reason ? ACR.none : approvedAcr,
    auth_time: issuedAt,
    model: facts.model,
    model_grade: facts.model_grade,
    replay: { suspected: facts.replaySuspected },
  }
}

/**
 * One token outside an overlap. In it, `jwt` is for backends that were not redeployed and `jwt_next` the same under the
 * new secret; a caller that names the new secret gets that one in `jwt`.
 */
export function signVerdict(
  { secrets, signingKeyId }: Pick<Call<unknown>, 'secrets' | 'signingKeyId'>,
  claims: VerificationClaims,
): { jwt: string; jwt_next?: string } {
  const { outgoing, incoming } = secrets
  if (!incoming) return { jwt: signVerification(claims, outgoing) }
  if (signingKeyId === incoming.id) return { jwt: signVerification(claims, incoming) }
  return { jwt: signVerification(claims, outgoing), jwt_next: signVerification(claims, incoming) }
}
