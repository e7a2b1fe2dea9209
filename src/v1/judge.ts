/** Reaches the verdict of a verify, from lockout, comparison, liveness and replay, and writes what it changes for the user. */
import { ApiError } from '../api-error.js'
import type { Environment } from '../config.js'
import type { ReferenceRecord } from '../storage/records.js'
import type { StoreTransaction } from '../storage/store.js'
import type { Capture } from '../subjects/capture-memory.js'
import type { LockoutReason } from '../subjects/lockout.js'
import type { Subject } from '../subjects/subject-vault.js'
import type { CaptureCall, OpenedChallenge } from './challenge-input.js'
import { tellOfLockout } from './lockout-event.js'
import type { Reason } from './reasons.js'
import { type Comparison, embeddingsByImage, type Recogniser } from './recogniser.js'
import type { Services } from './services.js'

type VerifyCall = CaptureCall

/** What is to be judged. */
interface Evidence {
  images: Buffer[]
  /** Where the images are frames of one. */
  opened: OpenedChallenge | null
}

export interface Verdict {
  /** Null for a user who is not enrolled, of whom the sandbox has a scripted verdict all the same. */
  subject: Subject | null
  /** Null for an approval. */
  reason: Reason | null
  /** Null while the user is locked out: the images were not looked at. */
  comparison: Comparison | null
  replaySuspected: boolean
  /** Of the images, to be remembered; null where they were not looked at. */
  capture: Capture | null
  /** Until the user may try again, where that is known. */
  waitMs?: number | undefined
}

type JudgeServices = Pick<
  Services,
  'vault' | 'store' | 'clock' | 'config' | 'recogniser' | 'lockout' | 'captures' | 'outbox'
>

/** @throws ApiError reference_model_mismatch */
export function assertComparable(
  { model }: Pick<ReferenceRecord, 'model'>,
  recogniser: Pick<Recogniser, 'model'>,
  environment: Environment,
): void {
  if (model !== recogniser.model)
    throw new ApiError('reference_model_mismatch', {
      message: `The reference was made with model ${model}; ${environment} runs ${recogniser.model}.`,
    })
}

export class Judge {
  constructor(private readonly services: JudgeServices) {}

  /** @throws ApiError reference_not_found, reference_model_mismatch; those of lockout and recogniser */
  async judge(call: VerifyCall, lookup: Buffer, evidence: Evidence, threshold: number): Promise<Verdict> {
    const { clock, lockout } = this.services
    await lockout.takeAttempt(lookup, call)
    const subject = await this.findSubject(call, lookup)
    const locked = this.scriptedLockout(call) ?? (subject && lockout.refusal(subject.record, clock.now()))
    if (locked) {
      const { reason, waitMs } = locked
      return { subject, reason, comparison: null, replaySuspected: false, capture: null, waitMs }
    }
    return this.compare(call, subject, evidence, threshold)
  }

  /** Inside the transaction. Resolves with what the verdict began for the user. @throws ApiError reference_not_found */
  async settle(
    tx: StoreTransaction,
    call: VerifyCall,
    verdict: Verdict,
    at: number,
  ): Promise<LockoutReason | undefined> {
    const { subject, capture, reason } = verdict
    if (!subject) return undefined
    const fresh = await tx.subject(subject.record.lookup)
    // Erased, or erased and enrolled anew, while this verify ran: its verdict is about nobody.
    if (fresh?.subject.id !== subject.record.id) throw new ApiError('reference_not_found')
    if (!capture) return undefined
    const { lockout, captures } = this.services
    const begun = await lockout.count(tx, fresh.subject, { approved: reason === null, at })
    await captures.remember(tx, subject, capture)
    await tellOfLockout(tx, this.services.outbox, call, { subject, begun })
    return begun
  }

  private scriptedLockout({ input }: VerifyCall): { reason: Reason; waitMs: number } | undefined {
    const waitMs = this.services.recogniser.script?.(input.user_id).lockedOutForMs
    return waitMs === undefined ? undefined : { reason: 'locked_out', waitMs }
  }

  private async findSubject({ input, environment }: VerifyCall, lookup: Buffer): Promise<Subject | null> {
    const { vault, store, recogniser } = this.services
    const subject = await vault.find(store.read, lookup, input.user_id)
    if (subject?.reference) assertComparable(subject.reference, recogniser, environment)
    return subject
  }

  private async compare(
    call: VerifyCall,
    subject: Subject | null,
    { images, opened }: Evidence,
    threshold: number,
  ): Promise<Verdict> {
    const { vault, recogniser, captures } = this.services
    const { input, deadlineMs, signal, share } = call
    const reference = subject?.reference ? vault.openReference(subject, subject.reference).embedding : null
    const challenge = opened?.frames ?? null
    const comparing = recogniser.verify(
      { userId: input.user_id, images, input, challenge, deadlineMs, signal, share },
      reference,
      threshold,
    )
    // Here and not when they are needed: meanwhile the engine computes.
    const hashing = subject && reference ? captures.hash(images) : []
    const digesting = Promise.resolve(hashing).then((hashes) =>
      subject && reference ? captures.digest(subject, hashes, reference.length) : [],
    )
    const [comparison, digests] = await Promise.all([comparing, digesting])
    Object.assign(call.timings, comparison.timingsMs)
    const capture = { digests, embeddings: embeddingsByImage(comparison.samples) }
    const replay = subject && (await captures.findReplay(subject, capture, call))
    const replaySuspected = recogniser.script?.(input.user_id).replayed || replay !== null
    if (challenge && (replay === 'file' || holdsTwins(digests))) markReplayed(comparison)
    const reason = this.reasonAgainst(comparison, replaySuspected)
    return { subject, reason, comparison, replaySuspected, capture }
  }

  private reasonAgainst({ matches, sample }: Comparison, replaySuspected: boolean): Reason | null {
    if (sample.liveness.passed === false) return 'liveness_failed'
    if (!matches) return 'no_match'
    return replaySuspected && this.services.config.replayPolicy === 'reject' ? 'replayed_capture' : null
  }
}

/** Frames of a camera differ; one that is sent twice was not captured twice. */
function holdsTwins(digests: readonly Buffer[]): boolean {
  return new Set(digests.map((digest) => digest.toString('latin1'))).size < digests.length
}

function markReplayed({ sample }: Comparison): void {
  const { findings = [], guidance = 'try_again' } = sample.liveness
  sample.liveness = { ...sample.liveness, passed: false, guidance, findings: [...findings, 'replayed'] }
}
