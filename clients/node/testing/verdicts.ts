/** Verdicts of the service in memory: reached by the sandbox's rules and the tenant's policy, signed, and looked up later. */
import { decodeJwt } from 'jose'
import { acrOf } from '../../../src/contract/acr.js'
import { actionHash } from '../../../src/contract/action-hash.js'
import { unmetOf } from '../../../src/contract/policy-requirements.js'
import {
  LOCKED_OUT_SECONDS,
  SANDBOX_MODEL,
  sandboxOutcome,
  sandboxRule,
} from '../../../src/contract/sandbox-rules.js'
import type { SigningSecret } from '../signing-secret.js'
import type { Liveness, RejectionReason, User, VerdictClaims } from '../types.js'
import { integrityOf, livenessMethods, livenessOf, photoPaths, qualityOf, screen } from './captures.js'
import type { OpenedChallenge } from './challenges.js'
import type { FakeInstallation } from './installation.js'
import type { FakePasskeys, ProvenFakePasskey } from './passkeys.js'
import { type FakeTerms, type KeptVerdict, refuseUnmet, termsOf, unmetApproval } from './policy.js'
import { FakeRefusal, refuseRequest } from './refusals.js'
import type { Call } from './requests.js'
import { type FakeAnswer, fakeId, UNCHECKED } from './signatures.js'
import { isoTime } from './test-clock.js'

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
  reference: User['reference'] | undefined
}

export class FakeVerdicts {
  private readonly kept = new Map<string, KeptVerdict>()

  constructor(
    private readonly service: FakeInstallation,
    private readonly passkeys: Pick<FakePasskeys, 'noteApproval'>,
  ) {}

  async reach(call: Call, examined: Examined): Promise<FakeAnswer> {
    const { clock, policy, modelGrade, jwtTtlSeconds, verdictKeys } = this.service
    const { user_id, action, nonce, challenge, approval_id } = call.body
    const { opened, passkey, reference } = examined
    const display = call.display ?? opened?.display
    const outcome = sandboxOutcome(user_id)
    const isReplayed = outcome === '+replayed'
    const terms = await termsOf(policy, action)
    const hash = await actionHash(action)
    // A lockout is reported before the photo is looked at.
    if (outcome !== '+locked_out') {
      if (terms) this.assertOffered(call, terms, hash, examined)
      if (outcome === null && !reference) throw new FakeRefusal('reference_not_found')
      await screen(call, 'verify', clock)
    }
    const { reason: found, liveness } = this.judge(user_id, opened)
    const integrity = integrityOf(call.body)
    const required = terms?.rule.require
    const isReviewed = required?.integrity === 'review' && (integrity?.signals.length ?? 0) > 0
    const judged = found ?? (isReviewed ? 'review_required' : null)
    const isSecondNeeded = judged === null && required?.second_approver !== undefined
    const reason = isSecondNeeded && approval_id === undefined ? 'second_approval_required' : judged
    const approvalId: string | null = isSecondNeeded && reason === null ? approval_id : null
    const first = this.kept.get(approvalId ?? '')
    if (first) first.isUsed = true
    const verificationId = fakeId('ver')
    const possession = passkey?.amr ?? null
    if (passkey) passkey.passkey.last_used_at = isoTime(clock.now())
    if (reason === null && !isReplayed && reference)
      this.passkeys.noteApproval(verificationId, user_id, action, {
        possession,
        isLive: liveness.passed === true,
      })
    const isCompared = reason !== 'locked_out'
    const hasScore = isCompared && liveness.guidance.length === 0
    const score = hasScore ? (reason === 'no_match' ? SCORES.noMatch : SCORES.match) : null
    const proven = passkey ? { passkey_id: passkey.passkey.passkey_id, amr: passkey.amr } : undefined
    const atMs = clock.now() - (outcome === '+expired' ? 2000 * jwtTtlSeconds : 0)
    const tokens = await this.tokens(call, (secret) =>
      this.service.signVerdict(
        {
          userId: user_id,
          action,
          reason,
          nonce,
          display,
          score,
          liveness,
          policy: {
            ...(terms && { policy_hash: terms.hash, policy_rule: terms.rule.name }),
            ...(approvalId !== null && { approval_id: approvalId }),
          },
          captureSession: call.captureSession,
          replaySuspected: isReplayed,
          challengeId: challenge?.challenge_id,
          passkey: proven,
          verificationId,
          requestId: call.requestId,
        },
        secret,
        atMs,
      ),
    )
    // The answer has them, and so has a later look at the verification.
    const facts = {
      verification_id: verificationId,
      user_id,
      verdict: reason === null ? ('approved' as const) : ('rejected' as const),
      reason,
      score,
      threshold: THRESHOLD,
      fmr: FMR,
      fmr_basis: 'measured' as const,
      model_grade: modelGrade,
      model: SANDBOX_MODEL,
      replay: { suspected: isReplayed },
      verified_at: isoTime(clock.now()),
      policy_hash: terms?.hash ?? null,
      policy_rule: terms?.rule.name ?? null,
      approval_id: approvalId,
    }
    const { acr, amr } = decodeJwt<VerdictClaims>(tokens.jwt)
    this.kept.set(verificationId, {
      actionHash: hash,
      displayHash: display?.hash,
      isUsed: false,
      verification: {
        ...facts,
        acr,
        amr,
        display_locale: display?.locale ?? null,
        display_version: display?.version ?? null,
        challenge_id: challenge?.challenge_id ?? null,
        capture_session_id: call.captureSession?.id ?? null,
        request_id: call.requestId,
        action_matches: null,
        display_matches: null,
      },
    })
    const body = {
      ...facts,
      liveness,
      quality: isCompared ? qualityOf(call.body, photoPaths(call.body, 1)) : null,
      capture_integrity: integrity,
      display: display ?? null,
      ...tokens,
      jwt_public: await verdictKeys.sign(tokens.jwt),
      jwt_expires_at: isoTime((Math.floor(atMs / 1000) + jwtTtlSeconds) * 1000),
      production_key: null,
      passkey: proven ?? null,
    }
    const headers: FakeAnswer['headers'] = isCompared ? {} : { 'Retry-After': String(LOCKED_OUT_SECONDS) }
    return { status: 200, body, headers }
  }

  /** @throws FakeRefusal verification_not_found, invalid_request */
  read(verificationId: string, query: URLSearchParams): FakeAnswer {
    const userId = query.get('user_id')
    const hash = query.get('action_hash')
    const shown = query.get('display_hash')
    if (hash !== null && userId === null) refuseRequest('action_hash', 'needs `user_id`')
    if (shown !== null && userId === null) refuseRequest('display_hash', 'needs `user_id`')
    const found = this.kept.get(verificationId)
    if (!found || (userId !== null && userId !== found.verification.user_id))
      throw new FakeRefusal('verification_not_found')
    const body = {
      ...found.verification,
      user_id: userId,
      action_matches: hash === null ? null : hash === found.actionHash,
      display_matches: shown === null ? null : shown === found.displayHash,
    }
    return { status: 200, body }
  }

  forget(userId: string): void {
    for (const [id, { verification }] of this.kept) if (verification.user_id === userId) this.kept.delete(id)
  }

  private judge(
    userId: string,
    opened: OpenedChallenge | null,
  ): { reason: RejectionReason | null; liveness: Liveness } {
    const { replayPolicy, checksLiveness } = this.service
    const { rejection = null } = sandboxRule(userId)
    if (rejection === 'locked_out') return { reason: rejection, liveness: UNCHECKED }
    const liveness = livenessOf(userId, opened, checksLiveness)
    if (liveness.passed === false) return { reason: 'liveness_failed', liveness }
    const isRefused = sandboxOutcome(userId) === '+replayed' && replayPolicy === 'reject'
    return { reason: rejection ?? (isRefused ? 'replayed_capture' : null), liveness }
  }

  /** @throws FakeRefusal policy_not_met */
  private assertOffered(
    { body, captureSession }: Call,
    terms: FakeTerms,
    hash: string,
    { opened, passkey, reference }: Examined,
  ): void {
    const { user_id, images, challenge, capture_integrity, approval_id } = body
    const methods = livenessMethods(opened?.method ?? null, this.service.checksLiveness)
    const nowMs = this.service.clock.now()
    const unmet = unmetOf(terms.rule.require, {
      acr: acrOf(methods, opened !== null, passkey?.amr),
      images: challenge?.frames.length ?? images?.length ?? 1,
      isReported: capture_integrity !== undefined,
      binding: captureSession?.binding ?? null,
      fmr: FMR,
      reference: reference
        ? {
            createdAt: Date.parse(reference.created_at),
            describe: () => ({ photoCount: reference.views, consentId: reference.consent?.id ?? null }),
          }
        : null,
      at: nowMs,
    })
    const second = { userId: user_id, actionHash: hash, nowMs }
    const ofFirst = approval_id === undefined ? [] : unmetApproval(this.kept.get(approval_id), terms, second)
    refuseUnmet([...unmet, ...ofFirst])
  }

  /** The JWT under the secret that the caller holds, and in an overlap under both. */
  private async tokens(
    { headers }: Call,
    sign: (secret: SigningSecret) => Promise<string>,
  ): Promise<{ jwt: string; jwt_next: string | null }> {
    const [newest, older] = this.service.signing.active
    if (!older || headers.get('x-svc-signing-key-id') === newest.id)
      return { jwt: await sign(newest), jwt_next: null }
    return { jwt: await sign(older), jwt_next: await sign(newest) }
  }
}
