/** Verdicts of the service in memory: reached by the sandbox's rules and the tenant's policy, and signed. */

import { acrOf } from '../../../src/contract/acr.js'
import {
  LOCKED_OUT_SECONDS,
  SANDBOX_MODEL,
  sandboxScript,
  scriptedRejection,
} from '../../../src/contract/sandbox-rules.js'
import type { SigningSecret } from '../signing-secret.js'
import type { Liveness, RejectionReason, VerifyResult } from '../types.js'
import { includesQuality, integrityOf, livenessOf, offeredMethods, refusePoor, screen } from './captures.js'
import type { OpenedChallenge } from './challenges.js'
import type { FakeInstallation } from './installation.js'
import type { FakePasskeys, ProvenFakePasskey } from './passkeys.js'
import type { FakeTerms } from './policy.js'
import { qualityAnswer } from './quality.js'
import type { FakeUser } from './records.js'
import { FakeRefusal } from './refusals.js'
import { type Call, photoPaths } from './requests.js'
import { type FakeAnswer, fakeId, UNCHECKED } from './signatures.js'
import type { FakeVerifications } from './verifications.js'

const THRESHOLD = 0.7
/** False match rate of the threshold. */
const FMR = 0.0001
/** Scores in answers: of a face that matches, and of one that does not. */
const SCORES = { match: 0.8, noMatch: 0.6 }

/** A verification whose challenge and passkey have been checked. */
interface Examined {
  opened: OpenedChallenge | null
  passkey: ProvenFakePasskey | null
  /** Undefined for a user who is not enrolled. */
  user: FakeUser | undefined
}

export class FakeVerdicts {
  constructor(
    private readonly service: FakeInstallation,
    private readonly passkeys: Pick<FakePasskeys, 'noteApproval'>,
    private readonly verifications: FakeVerifications,
  ) {}

  async reach(call: Call, examined: Examined): Promise<FakeAnswer> {
    const { service } = this
    const { user_id, action, approval_id } = call.body
    const { opened, passkey, user } = examined
    const script = sandboxScript(user_id)
    const nowMs = service.clock.now()
    const terms = await service.policy.termsOf(action)
    // A lockout is reported before the photo is looked at.
    if (!script.lockedOutForMs) {
      this.assertOffered(call, terms, examined, nowMs)
      if (!script.isScripted && !user) throw new FakeRefusal('reference_not_found', call.requestId)
      await screen(call, service.clock)
      if (!opened) refusePoor(call, 'verify')
    }
    const { reason: found, liveness } = this.judge(user_id, opened)
    const verificationId = fakeId('ver')
    const integrity = integrityOf(call)
    const isReviewed = terms?.rule.require.integrity === 'review' && (integrity?.signals.length ?? 0) > 0
    const judged = found === null && isReviewed ? 'review_required' : found
    const isSecondNeeded = judged === null && terms?.rule.require.second_approver !== undefined
    const isWaiting = isSecondNeeded && approval_id === undefined
    const reason = isWaiting ? 'second_approval_required' : judged
    if (isWaiting && !script.replayed) service.policy.keep(verificationId, call, terms!, nowMs)
    const approvalId = isSecondNeeded && !isWaiting ? approval_id : undefined
    if (approvalId !== undefined) service.policy.use(approvalId)
    passkey?.use()
    if (reason === null && !script.replayed && user)
      this.passkeys.noteApproval(verificationId, user_id, action, {
        possession: passkey?.amr ?? null,
        isLive: liveness.passed === true,
      })
    return this.answer(call, { verificationId, reason, liveness, integrity, terms, approvalId, passkey })
  }

  private judge(
    userId: string,
    opened: OpenedChallenge | null,
  ): { reason: RejectionReason | null; liveness: Liveness } {
    const { replayPolicy, checksLiveness } = this.service
    const scripted = scriptedRejection(userId)
    if (scripted === 'locked_out') return { reason: scripted, liveness: UNCHECKED }
    const liveness = livenessOf(userId, opened, checksLiveness)
    if (liveness.passed === false) return { reason: 'liveness_failed', liveness }
    const isRefused = sandboxScript(userId).replayed && replayPolicy === 'reject'
    return { reason: scripted ?? (isRefused ? 'replayed_capture' : null), liveness }
  }

  /** @throws FakeRefusal policy_not_met */
  private assertOffered(
    call: Call,
    terms: FakeTerms | null,
    { opened, passkey, user }: Examined,
    at: number,
  ): void {
    const { image, images, challenge } = call.body
    const methods = offeredMethods(opened?.method ?? null, this.service.checksLiveness)
    const acr = acrOf(methods, opened !== null, passkey?.amr)
    const count = challenge?.frames.length ?? images?.length ?? (image ? 1 : 0)
    const reference = user ? policyReference(user) : null
    const isReported = call.body.capture_integrity !== undefined
    const binding = call.captureSession?.binding ?? null
    const facts = { acr, images: count, isReported, binding, fmr: FMR, reference, at }
    this.service.policy.assertOffered(terms, facts, call)
  }

  private async answer(
    call: Call,
    facts: {
      verificationId: string
      reason: RejectionReason | null
      liveness: Liveness
      integrity: ReturnType<typeof integrityOf>
      terms: FakeTerms | null
      approvalId: string | undefined
      passkey: ProvenFakePasskey | null
    },
  ): Promise<FakeAnswer> {
    const { clock, signing, verdictKeys, jwtTtlSeconds, modelGrade } = this.service
    const { user_id, action, nonce, challenge } = call.body
    const { verificationId, reason, liveness, integrity, terms, approvalId, passkey } = facts
    const script = sandboxScript(user_id)
    const compared = reason !== 'locked_out'
    const score =
      compared && liveness.guidance.length === 0
        ? reason === 'no_match'
          ? SCORES.noMatch
          : SCORES.match
        : null
    const proven = passkey ? { passkey_id: passkey.passkey_id, amr: passkey.amr } : undefined
    const policy = {
      ...(terms ? { policy_hash: terms.hash, policy_rule: terms.rule.name } : {}),
      ...(approvalId === undefined ? {} : { approval_id: approvalId }),
    }
    const atMs = clock.now() - (script.expired ? 2000 * jwtTtlSeconds : 0)
    const sign = (secret: SigningSecret) =>
      this.service.signVerdict(
        {
          userId: user_id,
          action,
          reason,
          nonce,
          display: call.display,
          score,
          liveness,
          policy,
          captureSession: call.captureSession,
          replaySuspected: script.replayed,
          challengeId: challenge?.challenge_id,
          passkey: proven,
          verificationId,
          requestId: call.requestId,
        },
        secret,
        atMs,
      )
    const [newest, older] = signing.active
    const asked = call.headers.get('x-svc-signing-key-id')
    const tokens =
      older && asked !== newest.id
        ? { jwt: await sign(older), jwt_next: await sign(newest) }
        : { jwt: await sign(newest), jwt_next: null }
    const body = {
      verification_id: verificationId,
      user_id,
      verdict: reason === null ? 'approved' : 'rejected',
      reason,
      score,
      threshold: THRESHOLD,
      fmr: FMR,
      fmr_basis: 'measured',
      model_grade: modelGrade,
      liveness,
      quality: compared ? qualityAnswer(user_id, photoPaths(call, 1), includesQuality(call)) : null,
      replay: { suspected: script.replayed },
      capture_integrity: integrity,
      model: SANDBOX_MODEL,
      display: call.display ?? null,
      verified_at: new Date(clock.now()).toISOString(),
      ...tokens,
      jwt_public: await verdictKeys.sign(tokens.jwt),
      policy_hash: null,
      policy_rule: null,
      approval_id: null,
      ...policy,
      production_key: null,
      jwt_expires_at: new Date((Math.floor(atMs / 1000) + jwtTtlSeconds) * 1000).toISOString(),
      passkey: proven ?? null,
    }
    await this.verifications.keep(call, body as VerifyResult, call.captureSession?.id ?? null)
    return {
      status: 200,
      body,
      ...(compared ? {} : { headers: { 'Retry-After': String(LOCKED_OUT_SECONDS) } }),
    }
  }
}

function policyReference({ reference }: FakeUser) {
  return {
    createdAt: Date.parse(reference.created_at),
    describe: () => ({ photoCount: reference.views, consentId: reference.consent?.id ?? null }),
  }
}
