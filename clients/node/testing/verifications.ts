/** Verifications of the service in memory that are looked up later. */
import { decodeJwt } from 'jose'
import { actionHash } from '../../../src/contract/action-hash.js'
import type { VerdictClaims, Verification, VerifyResult } from '../types.js'
import { FakeRefusal } from './refusals.js'
import { type Call, refuseBusy, refuseRequest } from './requests.js'
import type { FakeAnswer } from './signatures.js'

interface KeptVerification {
  userId: string
  actionHash: string
  displayHash: string | undefined
  verification: Omit<Verification, 'user_id' | 'action_matches' | 'display_matches'>
}

/** Keeps every verification until its user is erased. */
export class FakeVerifications {
  private readonly kept = new Map<string, KeptVerification>()

  /** @param captureSession id of the hosted page's session that took the capture; null for any other caller */
  async keep(call: Call, answer: VerifyResult, captureSession: string | null): Promise<void> {
    const claims = decodeJwt<VerdictClaims>(answer.jwt)
    const { acr, amr, policy_hash, policy_rule, approval_id } = claims
    const { verification_id, verdict, reason, score, threshold, fmr, fmr_basis, model_grade } = answer
    this.kept.set(verification_id, {
      userId: answer.user_id,
      actionHash: await actionHash(call.body.action),
      displayHash: claims.display_hash,
      verification: {
        verification_id,
        verdict,
        reason,
        score,
        threshold,
        fmr,
        fmr_basis,
        model_grade,
        acr,
        amr,
        display_locale: claims.display_locale ?? null,
        display_version: claims.display_version ?? null,
        policy_hash: policy_hash ?? null,
        policy_rule: policy_rule ?? null,
        approval_id: approval_id ?? null,
        model: answer.model,
        replay: answer.replay,
        challenge_id: call.body.challenge?.challenge_id ?? null,
        capture_session_id: captureSession,
        request_id: call.requestId,
        verified_at: answer.verified_at,
      },
    })
  }

  /** @throws FakeRefusal verification_not_found, invalid_request */
  read(verificationId: string, call: Call): FakeAnswer {
    const userId = call.query.get('user_id')
    const hash = call.query.get('action_hash')
    const shown = call.query.get('display_hash')
    if (userId !== null) refuseBusy(userId, call)
    if (hash !== null && userId === null) refuseRequest(call, 'action_hash', 'needs `user_id`')
    if (shown !== null && userId === null) refuseRequest(call, 'display_hash', 'needs `user_id`')
    const found = this.kept.get(verificationId)
    if (!found || (userId !== null && userId !== found.userId))
      throw new FakeRefusal('verification_not_found', call.requestId)
    const body: Verification = {
      ...found.verification,
      user_id: userId,
      action_matches: hash === null ? null : hash === found.actionHash,
      display_matches: shown === null ? null : shown === found.displayHash,
    }
    return { status: 200, body }
  }

  forget(userId: string): void {
    for (const [id, { userId: owner }] of this.kept) if (owner === userId) this.kept.delete(id)
  }
}

/** @returns the id of the verification that a path names, or null where it names none */
export function verificationOfPath({ method, path }: Call): string | null {
  const [, id] = /^\/verifications\/([\w-]{1,64})$/.exec(path) ?? []
  return method === 'GET' && id !== undefined ? id : null
}
