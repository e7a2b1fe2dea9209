/** Reaches the verdict of a verify from lockout, comparison, liveness and replay, and writes what it changes for the user. */

import { modesOf } from '../biometrics/challenge/steps.js'
import type { Config } from '../config/config.js'
import { acrOf } from '../contract/acr.js'
import type { Clock } from '../lib/clock.js'
import { DomainError, type ErrorDetail } from '../lib/domain-error.js'
import type { Store, StoreTransaction } from '../storage/store.js'
import type { Subject, TemplateVault } from '../users/template-vault.js'
import { comparedTemplate, type TemplateRecord } from '../users/templates.js'
import type { Outbox } from '../webhooks/outbox.js'
import {
  type BiometricProvider,
  type Comparison,
  type Evidence,
  embeddingsByImage,
} from './biometric-provider.js'
import type { CaptureInput, UserCall } from './call.js'
import type { CaptureIntegrity } from './capture/capture-integrity.js'
import type { Capture, CaptureMemory, Recollection, Replay } from './capture/capture-memory.js'
import { imageCount } from './capture/images.js'
import { firstAnswer } from './capture/innocent-repeat.js'
import type { Lockout, LockoutRefusal } from './lockout/attempt-lockout.js'
import type { LockoutReason } from './lockout/lockout.js'
import { announceLockout } from './lockout/lockout-event.js'
import { needsReview, offeredAcr, policyNotMet, unmetRequirements } from './policy/policy-check.js'
import { needsSecondApprover, type SecondApproval } from './policy/second-approval.js'
import type { VerdictTerms } from './policy/verdict-terms.js'
import type { Possession } from './possession.js'
import type { Reason } from './reasons.js'
import { comparableTemplate, decidingProvider } from './references/deciding-model.js'
import { type Aged, ReferenceAgeing } from './references/reference-ageing.js'
import { ReferenceFollowing } from './references/reference-following.js'
import type { UserQuota } from './sandbox/user-quota.js'
import {
  countedAs,
  holdsTwins,
  isMirrored,
  reasonAgainst,
  refusesReplay,
  replayed,
} from './verdict-reasons.js'

/** Evidence of a verify: images, and what is known before they are examined. */
export interface VerifyEvidence extends Evidence {
  possession: Possession | null
  /** Signals of the capture; null where the request brings no report. */
  integrity: CaptureIntegrity | null
}

/** The body of a verify, without the fields of its parts. */
export type VerifyInput = CaptureInput & {
  action: unknown
  approval_id?: string
  nonce?: string
  include?: 'quality'[]
}

export type VerifyCall = UserCall<VerifyInput>

/**
 * Reasons of a rejection after a face that matched. A replay is one of them: it is refused as what it is, and is no guess at the face, so
 * that impatient taps of the right person lock nobody out.
 */
const FACE_MATCHED: ReadonlySet<Reason | null> = new Set<Reason>([
  'review_required',
  'same_person',
  'replayed_capture',
])

const NO_FACES: Capture['faces'] = new Map()

/** Evidence of a verify, examined before the transaction. The transaction decides whether it counts. */
export type Examination = {
  /** The user's record and data key; null for a user who is not enrolled, whom only the sandbox verifies. */
  subject: Subject | null
  /** Proof that a passkey of the user has given; null for none. */
  possession: Possession | null
  /** Signals of the capture; null where the request brings no report. */
  integrity: CaptureIntegrity | null
} & (
  | { refusal: LockoutRefusal }
  | {
      refusal: null
      comparison: Comparison
      capture: Capture
      /** Replay of a capture that was remembered when the examination began. */
      replay: Replay | null
      recollection: Recollection
    }
)

export interface Verdict {
  /** Proof that a passkey of the user has given; null for none, and while the user is locked out. */
  possession: Possession | null
  /** Signals of the capture; null where the request brings no report. */
  integrity: CaptureIntegrity | null
  /** The user's record and data key; null for a user who is not enrolled, whom only the sandbox verifies. */
  subject: Subject | null
  /** The terms that were in force when the verdict was reached. */
  terms: VerdictTerms
  /** Reason of a rejection; null for an approval. */
  reason: Reason | null
  /** Result of the comparison; null while the user is locked out, when the verdict says nothing about the images. */
  comparison: Comparison | null
  replaySuspected: boolean
  /** Milliseconds until the user may try again; undefined where that is not known or not needed. */
  waitMs?: number | undefined
  /** Lockout that this verdict began for the user. */
  effect?: LockoutReason | undefined
  /** Model of which this verdict has added a template to the user's reference; null or undefined for none. */
  followed?: string | null
  /** The reference took the capture of this verdict in; null or undefined where it did not. */
  aged?: Aged | null
  /** The body of the first answer, which a repeat of the same request gets again: nothing is decided then. */
  repeated?: string
  /** Requirements of the policy that are not met: then no verdict may be given. Empty for any verdict. */
  unmet: ErrorDetail[]
}

/** Whose images are compared with which template, by the provider of the model that decides. */
interface Compared {
  subject: Subject | null
  template: TemplateRecord | null
  provider: BiometricProvider
}

/** The parts that `DecisionPolicy` reaches a verdict with. */
export interface DecisionParts {
  vault: TemplateVault
  store: Store
  clock: Clock
  config: Pick<Config, 'fmr' | 'replayPolicy' | 'referenceAgeingDays'>
  provider: BiometricProvider
  lockout: Lockout
  captures: CaptureMemory
  userQuota: UserQuota
  outbox: Outbox
  secondApproval: SecondApproval
}

export class DecisionPolicy {
  private readonly following: ReferenceFollowing
  private readonly ageing: ReferenceAgeing

  constructor(private readonly parts: DecisionParts) {
    this.following = new ReferenceFollowing(parts)
    this.ageing = new ReferenceAgeing(parts)
  }

  /**
   * Has the images compared, unless the user is locked out, or the policy would refuse an approval in any case.
   * @throws DomainError reference_not_found, reference_model_mismatch, policy_not_met, and the errors of `BiometricProvider.verify`
   */
  async examine(call: VerifyCall, evidence: VerifyEvidence, terms: VerdictTerms): Promise<Examination> {
    const { vault, store, clock, lockout } = this.parts
    const { environment, user, tenant } = call
    const provider = decidingProvider(this.parts.provider, tenant)
    const subject = await vault.find(store.read, user.blindIndex, user.id)
    const template = comparableTemplate(subject, provider, environment)
    const refusal = lockout.refusal(user.id, subject?.record ?? null, clock.now())
    const { possession, integrity } = evidence
    if (refusal && !call.isDiscreet) return { subject, possession, integrity, refusal }
    if (terms.policy) await this.assertOffered(call, subject, evidence, terms)
    if (call.isDiscreet) {
      const isUnknown = !template && provider.needsReference(user.id)
      const code = refusal ? 'locked_out' : isUnknown ? 'reference_not_found' : null
      if (code) return judgeStranger(code, call, provider, evidence, terms.point.threshold)
    }
    return this.compare(call, { subject, template, provider }, evidence, terms.point.threshold)
  }

  /**
   * Reaches the verdict inside the transaction, on the state that is committed there, and writes what it changes for the user: no
   * parallel verify can miss an attempt or a capture of this one.
   * @param termsUnder the terms in force, by the hash of the policy
   * @param at milliseconds since the Unix epoch
   * @throws DomainError reference_not_found
   */
  async decide(
    tx: StoreTransaction,
    call: VerifyCall,
    examination: Examination,
    termsUnder: (policyHash: string | null) => Promise<VerdictTerms>,
    at: number,
  ): Promise<Verdict> {
    const { subject } = examination
    const { lockout, captures, outbox, userQuota } = this.parts
    const held = (verdict: Verdict) => this.underPolicy(tx, call, verdict, at)
    if (!subject) {
      const terms = await termsUnder(await tx.policyHash(call.tenant.id, call.environment))
      return held(this.verdictOn(call, examination, null, terms))
    }
    // A user who is locked out has had no images compared, which later captures could repeat.
    const last = examination.refusal ? Number.MAX_SAFE_INTEGER : examination.recollection.last
    const standing = await tx.standing(subject.record.blindIndex, last)
    // The user was erased, and perhaps enrolled again, while this verify ran: its verdict is about nobody.
    if (standing?.id !== subject.record.id) throw new DomainError('reference_not_found')
    const { policyHash, captures: later, ...lockoutState } = standing
    const record = { ...subject.record, ...lockoutState }
    const terms = await termsUnder(policyHash)
    const refusal = examination.refusal ?? lockout.refusal(call.user.id, record, at)
    if (refusal) return refused(examination, terms, refusal)
    const { capture, replay } = examination as Extract<Examination, { refusal: null }>
    const since = captures.findReplaySince(subject, capture, later)
    const reached = this.verdictOn(call, examination, since, terms)
    const isSameFile = replay === 'file' || since === 'file'
    if (isSameFile && this.parts.config.replayPolicy !== 'report') {
      const repeated = await firstAnswer(tx, call, subject, at)
      if (repeated !== null) return { ...reached, repeated }
    }
    const verdict = await held(reached)
    // A face that matched is no failed attempt. Below the policy it is no approval either, which would end a series of rejections.
    const isNotCounted = FACE_MATCHED.has(verdict.reason) || isMirrored(verdict)
    const isCounted = verdict.unmet.length === 0 && !isNotCounted
    const effect = isCounted ? await lockout.count(tx, record, countedAs(verdict, at)) : undefined
    await captures.remember(tx, subject, capture)
    await userQuota.noteUse(tx, record)
    await announceLockout(tx, outbox, call, { subject, begun: effect })
    return { ...verdict, effect, ...(await this.learn(tx, call, verdict, at)) }
  }

  /**
   * An approval that stands, of a capture without signals that was never seen before, may add a template of the model that follows, or be
   * taken in by the reference.
   */
  private async learn(
    tx: StoreTransaction,
    call: VerifyCall,
    verdict: Verdict,
    at: number,
  ): Promise<Pick<Verdict, 'followed' | 'aged'>> {
    const { subject, comparison, terms, reason, replaySuspected, integrity, unmet } = verdict
    const hasSignals = integrity !== null && integrity.signals.length > 0
    const isClear = reason === null && !replaySuspected && unmet.length === 0 && !hasSignals
    if (!isClear || !subject || !comparison) return {}
    return {
      followed: await this.following.follow(tx, call, subject, comparison, terms),
      aged: await this.ageing.age(tx, call, subject, comparison, terms, at),
    }
  }

  private async compare(
    call: UserCall<CaptureInput>,
    { subject, template, provider }: Compared,
    evidence: VerifyEvidence,
    threshold: number,
  ): Promise<Examination> {
    const { vault, captures } = this.parts
    let embedding: Float32Array | undefined
    const reference = template
      ? () => {
          embedding ??= vault.openReference(subject!, comparedTemplate(subject!, template)).embedding
          return embedding
        }
      : null
    const alsoEmbed = this.following.modelsToEmbed(call, subject)
    const comparing = provider.verify(
      alsoEmbed.length > 0 ? { ...call, alsoEmbed } : call,
      evidence,
      reference,
      threshold,
    )
    const user = { id: call.user.id, subject }
    // The engine computes while this thread opens the reference and what is remembered.
    const recall = async () => captures.recall(user, evidence.images, reference?.().length ?? 0)
    const [comparison, recollection] = await Promise.all([comparing, recall()])
    Object.assign(call.timings, comparison.timingsMs)
    const { digests } = recollection
    const embeddings = embeddingsByImage(comparison.samples)
    const capture = {
      digests,
      faces: subject ? captures.facesOf(subject, embeddings) : NO_FACES,
      model: provider.model,
    }
    const replay = captures.findReplay(capture, recollection)
    return {
      subject,
      possession: evidence.possession,
      integrity: evidence.integrity,
      refusal: null,
      comparison,
      capture,
      replay,
      recollection,
    }
  }

  /** Refuses a request that cannot meet the policy, before the engine works for it. @throws DomainError policy_not_met */
  private async assertOffered(
    call: VerifyCall,
    subject: Subject | null,
    { images, challenge, possession, integrity }: VerifyEvidence,
    terms: VerdictTerms,
  ): Promise<void> {
    const { vault, store, clock, secondApproval } = this.parts
    const provider = decidingProvider(this.parts.provider, call.tenant)
    const at = clock.now()
    const acr = offeredAcr(provider, challenge && modesOf(challenge.steps), possession)
    const unmet = [
      ...unmetRequirements(
        terms,
        { acr, images: images.length, isReported: integrity !== null, binding: bindingOf(call), subject, at },
        vault,
      ),
      ...(await secondApproval.faultsOf(store.read, call, terms, at)),
    ]
    if (unmet.length > 0) throw policyNotMet(terms, unmet)
  }

  /** Holds an approval to the policy: it stands, waits for a person’s look or for a second person, or may not be given. A rejection stays what it is. */
  private async underPolicy(
    tx: StoreTransaction,
    call: VerifyCall,
    verdict: Verdict,
    at: number,
  ): Promise<Verdict> {
    const { terms, possession, integrity } = verdict
    if (!terms.policy || verdict.reason !== null) return verdict
    const { vault, secondApproval } = this.parts
    const { subject, comparison } = verdict
    const acr = acrOf(comparison!.sample.liveness.methods, call.input.challenge !== undefined, possession)
    const images = imageCount(call.input)
    const isReported = integrity !== null
    const unmet = unmetRequirements(
      terms,
      { acr, images, isReported, binding: bindingOf(call), subject, at },
      vault,
    )
    if (unmet.length > 0) return { ...verdict, unmet }
    if (needsReview(terms, integrity)) return { ...verdict, reason: 'review_required' }
    if (!needsSecondApprover(terms)) return verdict
    if (call.input.approval_id === undefined) return { ...verdict, reason: 'second_approval_required' }
    const provider = decidingProvider(this.parts.provider, call.tenant)
    const { threshold } = provider.operatingPoint(call.tenant.fmr ?? this.parts.config.fmr)
    const face = { subject, comparison: comparison!, provider, threshold }
    return { ...verdict, ...(await secondApproval.use(tx, call, terms, face, at)) }
  }

  /** @param since replay of a capture that was remembered while the images were examined */
  private verdictOn(
    call: UserCall<CaptureInput>,
    examination: Examination,
    since: Replay | null,
    terms: VerdictTerms,
  ): Verdict {
    const { subject, possession, integrity, refusal } = examination
    if (refusal) return refused(examination, terms, refusal)
    const { capture, replay: before } = examination
    const replay = since === 'file' ? since : (before ?? since)
    const isOfChallenge = call.input.challenge !== undefined
    const comparison =
      isOfChallenge && (replay === 'file' || holdsTwins(capture.digests))
        ? replayed(examination.comparison)
        : examination.comparison
    // A policy that was set since the comparison may ask for a higher score.
    const matches =
      comparison.matches && (comparison.score === null || comparison.score >= terms.point.threshold)
    const isRefused = refusesReplay(this.parts.config.replayPolicy, replay)
    const reason = reasonAgainst({ ...comparison, matches }, isRefused)
    const replaySuspected = replay !== null
    return { subject, possession, integrity, terms, reason, comparison, replaySuspected, unmet: [] }
  }
}

/**
 * Judges the capture of a user who is not enrolled, or is locked out, as that of any other user, so that advice and time of the answer
 * are the same.
 * @throws DomainError of the code, with the advice on the capture; as `BiometricProvider.verify`
 */
async function judgeStranger(
  code: 'locked_out' | 'reference_not_found',
  call: VerifyCall,
  provider: BiometricProvider,
  evidence: VerifyEvidence,
  threshold: number,
): Promise<never> {
  const { sample } = await provider.verify(call, evidence, () => provider.noFace, threshold)
  const { guidance } = sample.liveness
  throw new DomainError(code, {
    details: guidance === undefined ? [] : [{ path: 'challenge', issue: 'is not live', guidance }],
  })
}

function refused(
  { subject, integrity }: Examination,
  terms: VerdictTerms,
  { reason, waitMs }: LockoutRefusal,
): Verdict {
  return {
    subject,
    possession: null,
    integrity,
    terms,
    reason,
    comparison: null,
    replaySuspected: false,
    waitMs,
    unmet: [],
  }
}

function bindingOf({ captureSession }: VerifyCall) {
  return captureSession?.binding ?? null
}
