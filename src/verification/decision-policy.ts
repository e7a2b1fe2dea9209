/** Reaches the verdict of a verify from lockout, comparison, liveness and replay, and writes what it changes for the user. */

import type { Config } from '../config/config.js'
import type { Events } from '../events/events.js'
import type { Clock } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'
import type { Standing } from '../storage/records.js'
import type { StoreTransaction } from '../storage/store.js'
import type { Subject, TemplateVault } from '../users/template-vault.js'
import { comparedTemplate, type TemplateRecord } from '../users/templates.js'
import { type BiometricProvider, embeddingsByImage } from './biometric-provider.js'
import type { CaptureInput, UserCall } from './call.js'
import type { Capture, CaptureMemory, Replay } from './capture/capture-memory.js'
import { firstAnswer } from './capture/innocent-repeat.js'
import type { Lockout, LockoutRefusal } from './lockout/attempt-lockout.js'
import { announceLockout } from './lockout/lockout-event.js'
import { comparableTemplate, decidingProvider } from './references/deciding-model.js'
import type { UserQuota } from './sandbox/user-quota.js'
import type { Examination, Verdict, VerdictTerms, VerifyCall, VerifyEvidence } from './verdict.js'
import { holdsTwins, isCounted, reasonAgainst, refusesReplay, replayed } from './verdict-reasons.js'

const NO_FACES: Capture['faces'] = new Map()

/** Whose images are compared with which template, by the provider of the model that decides. */
interface Compared {
  subject: Subject | null
  template: TemplateRecord | null
  provider: BiometricProvider
}

/** The parts that `DecisionPolicy` reaches a verdict with. */
interface DecisionParts {
  vault: TemplateVault
  clock: Clock
  config: Pick<Config, 'fmr' | 'replayPolicy'>
  provider: BiometricProvider
  lockout: Lockout
  captures: CaptureMemory
  userQuota: UserQuota
  events: Events
}

export class DecisionPolicy {
  /** @param alsoEmbed names the models that embed the images besides the one that decides */
  constructor(
    private readonly parts: DecisionParts,
    private readonly alsoEmbed: (call: Pick<VerifyCall, 'tenant'>, subject: Subject | null) => string[],
  ) {}

  /**
   * Has the images compared, unless the user is locked out, or a condition would refuse an approval in any case.
   * @throws DomainError reference_not_found, reference_model_mismatch, and the errors of the conditions and of `BiometricProvider.verify`
   */
  async examine(
    call: VerifyCall,
    subject: Subject | null,
    evidence: VerifyEvidence,
    terms: VerdictTerms,
  ): Promise<Examination> {
    const { clock, lockout } = this.parts
    const { environment, user, tenant } = call
    const provider = decidingProvider(this.parts.provider, tenant)
    const template = comparableTemplate(subject, provider, environment)
    const refusal = lockout.refusal(user.id, subject?.record ?? null, clock.now())
    if (refusal && !call.isDiscreet) return { subject, evidence, refusal }
    for (const condition of terms.conditions) await condition?.assertOffered(subject, evidence, terms)
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
   * @param termsInForce the terms that are in force for a user who stands so; null for one who is not enrolled
   * @param at milliseconds since the Unix epoch
   * @throws DomainError reference_not_found
   */
  async decide(
    tx: StoreTransaction,
    call: VerifyCall,
    examination: Examination,
    termsInForce: (standing: Standing | null) => Promise<VerdictTerms>,
    at: number,
  ): Promise<Verdict> {
    const { subject } = examination
    const { lockout, captures, events, userQuota } = this.parts
    if (!subject) return held(tx, this.verdictOn(examination, null, await termsInForce(null)), at)
    // A user who is locked out has had no images compared, which later captures could repeat.
    const last = examination.refusal ? Number.MAX_SAFE_INTEGER : examination.recollection.last
    const standing = await tx.standing(subject.record.blindIndex, last)
    // The user was erased, and perhaps enrolled again, while this verify ran: its verdict is about nobody.
    if (standing?.id !== subject.record.id) throw new DomainError('reference_not_found')
    const { failures, lockedUntil, disabledAt, captures: later } = standing
    const record = { ...subject.record, failures, lockedUntil, disabledAt }
    const terms = await termsInForce(standing)
    const refusal = examination.refusal ?? lockout.refusal(call.user.id, record, at)
    if (refusal) return refused(examination, terms, refusal)
    const { capture, replay } = examination as Extract<Examination, { refusal: null }>
    const since = captures.findReplaySince(subject, capture, later)
    const reached = this.verdictOn(examination, since, terms)
    const isSameFile = replay === 'file' || since === 'file'
    if (isSameFile && this.parts.config.replayPolicy !== 'report') {
      const repeated = await firstAnswer(tx, call, subject, at)
      if (repeated !== null) return { ...reached, repeated }
    }
    const verdict = await held(tx, reached, at)
    const approved = verdict.reason === null || verdict.attempt === 'succeeded'
    const effect = isCounted(verdict) ? await lockout.count(tx, record, { approved, at }) : undefined
    await captures.remember(tx, subject, capture)
    await userQuota.noteUse(tx, record)
    await announceLockout(tx, events, call, { subject, begun: effect })
    return { ...verdict, effect }
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
    const alsoEmbed = this.alsoEmbed(call, subject)
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
      evidence,
      refusal: null,
      comparison,
      capture,
      replay,
      recollection,
    }
  }

  /** @param since replay of a capture that was remembered while the images were examined */
  private verdictOn(examination: Examination, since: Replay | null, terms: VerdictTerms): Verdict {
    const { subject, evidence, refusal } = examination
    if (refusal) return refused(examination, terms, refusal)
    const { capture, replay: before } = examination
    const replay = since === 'file' ? since : (before ?? since)
    const comparison =
      evidence.film && (replay === 'file' || holdsTwins(capture.digests))
        ? replayed(examination.comparison)
        : examination.comparison
    // A policy that was set since the comparison may ask for a higher score.
    const matches =
      comparison.matches && (comparison.score === null || comparison.score >= terms.point.threshold)
    const isRefused = refusesReplay(this.parts.config.replayPolicy, replay)
    const reason = reasonAgainst({ ...comparison, matches }, isRefused)
    const replaySuspected = replay !== null
    const { possession } = evidence
    return { subject, evidence, possession, terms, reason, comparison, replaySuspected, withheld: null }
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
    details: guidance === undefined ? [] : [{ path: evidence.field.name, issue: 'is not live', guidance }],
  })
}

function refused(
  { subject, evidence }: Examination,
  terms: VerdictTerms,
  { reason, waitMs }: LockoutRefusal,
): Verdict {
  return {
    subject,
    evidence,
    possession: null,
    terms,
    reason,
    comparison: null,
    replaySuspected: false,
    waitMs,
    withheld: null,
  }
}

/** Holds an approval to its conditions: it stands, becomes a rejection, or may not be given. A rejection stays what it is. */
async function held(tx: StoreTransaction, verdict: Verdict, at: number): Promise<Verdict> {
  if (verdict.reason !== null) return verdict
  for (const condition of verdict.terms.conditions) {
    const judgement = await condition?.judge(tx, verdict, at)
    if (judgement) return { ...verdict, ...judgement }
  }
  return verdict
}
