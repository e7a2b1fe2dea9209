/** Reaches the verdict of a verify, from lockout, comparison, liveness and replay, and writes what it changes for the user. */

import type { Config, Environment } from '../config/config.js'
import type { Clock } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'
import type { ReferenceRecord } from '../storage/records.js'
import type { Store, StoreTransaction } from '../storage/store.js'
import type { Subject, TemplateVault } from '../users/template-vault.js'
import type { Outbox } from '../webhooks/outbox.js'
import type { Lockout } from './attempt-lockout.js'
import { type BiometricProvider, type Comparison, embeddingsByImage } from './biometric-provider.js'
import {
  type Capture,
  type CaptureMemory,
  NOTHING_RECALLED,
  type Recollection,
  type Replay,
} from './capture-memory.js'
import type { LockoutReason } from './lockout.js'
import { tellOfLockout } from './lockout-event.js'
import type { OpenedChallenge } from './opened-challenge.js'
import type { Reason } from './reasons.js'
import type { SandboxUsers } from './sandbox-users.js'
import type { CaptureCall } from './verification-call.js'

const NO_FACES: Capture['faces'] = new Map()

/** What is to be judged. */
interface Evidence {
  images: Buffer[]
  /** Where the images are frames of one. */
  opened: OpenedChallenge | null
}

/** Why nothing is said of the images. */
interface Refusal {
  reason: Reason
  /** Until the user may try again, where that is known. */
  waitMs?: number | undefined
}

/** What the images were found to show; whether that counts is decided in the transaction. */
export type Examination = { subject: Subject | null } & (
  | { refusal: Refusal }
  | {
      refusal: null
      comparison: Comparison
      capture: Capture
      replay: Replay | null
      recollection: Recollection
    }
)

export interface Verdict {
  /** Null for a user who is not enrolled, of whom the sandbox has a scripted verdict all the same. */
  subject: Subject | null
  /** Null for an approval. */
  reason: Reason | null
  /** Null while the user is locked out: nothing is said of the images. */
  comparison: Comparison | null
  replaySuspected: boolean
  waitMs?: number | undefined
  /** What the verdict began for the user. */
  effect?: LockoutReason | undefined
}

/** The parts that a decision is made with. */
interface DecisionParts {
  vault: TemplateVault
  store: Store
  clock: Clock
  config: Pick<Config, 'replayPolicy'>
  provider: BiometricProvider
  lockout: Lockout
  captures: CaptureMemory
  sandboxUsers: SandboxUsers
  outbox: Outbox
}

/** @throws DomainError reference_model_mismatch */
export function assertComparable(
  { model }: Pick<ReferenceRecord, 'model'>,
  provider: Pick<BiometricProvider, 'model'>,
  environment: Environment,
): void {
  if (model !== provider.model)
    throw new DomainError('reference_model_mismatch', {
      message: `The reference was made with model ${model}; ${environment} runs ${provider.model}.`,
    })
}

export class DecisionPolicy {
  constructor(private readonly services: DecisionParts) {}

  /** @throws DomainError reference_not_found, reference_model_mismatch; those of the recogniser */
  async examine(
    call: CaptureCall,
    blindIndex: Buffer,
    evidence: Evidence,
    threshold: number,
  ): Promise<Examination> {
    const { clock, lockout } = this.services
    const subject = await this.findSubject(call, blindIndex)
    const refusal = this.scriptedLockout(call) ?? (subject && lockout.refusal(subject.record, clock.now()))
    return refusal ? { subject, refusal } : this.compare(call, subject, evidence, threshold)
  }

  /**
   * Inside the transaction, against what is known there: of parallel verifies none sees the attempts or captures of the others
   * any earlier. Writes what the verdict changes for the user.
   * @throws DomainError reference_not_found
   */
  async decide(
    tx: StoreTransaction,
    call: CaptureCall,
    examination: Examination,
    at: number,
  ): Promise<Verdict> {
    const { subject } = examination
    if (!subject) return this.verdictOn(call, examination, null)
    const { lockout, captures, outbox, sandboxUsers } = this.services
    const [fresh, since] = await Promise.all([
      tx.subjectWithoutReference(subject.record.blindIndex),
      examination.refusal
        ? null
        : captures.findReplaySince(tx, subject, examination.capture, examination.recollection),
    ])
    // Erased, or erased and enrolled anew, while this verify ran: its verdict is about nobody.
    if (fresh?.id !== subject.record.id) throw new DomainError('reference_not_found')
    if (examination.refusal) return refused(subject, examination.refusal)
    const refusal = lockout.refusal(fresh, at)
    if (refusal) return refused(subject, refusal)
    const { capture } = examination
    const verdict = this.verdictOn(call, examination, since)
    const effect = await lockout.count(tx, fresh, { approved: verdict.reason === null, at })
    await captures.remember(tx, subject, capture)
    await sandboxUsers.noteUse(tx, fresh)
    await tellOfLockout(tx, outbox, call, { subject, begun: effect })
    return { ...verdict, effect }
  }

  private scriptedLockout({ input }: CaptureCall): Refusal | undefined {
    const waitMs = this.services.provider.script?.(input.user_id).lockedOutForMs
    return waitMs === undefined ? undefined : { reason: 'locked_out', waitMs }
  }

  private async findSubject(
    { input, environment }: CaptureCall,
    blindIndex: Buffer,
  ): Promise<Subject | null> {
    const { vault, store, provider } = this.services
    const subject = await vault.find(store.read, blindIndex, input.user_id)
    if (subject?.reference) assertComparable(subject.reference, provider, environment)
    return subject
  }

  private async compare(
    call: CaptureCall,
    subject: Subject | null,
    { images, opened }: Evidence,
    threshold: number,
  ): Promise<Examination> {
    const { vault, provider, captures } = this.services
    const { input, deadlineMs, signal, share } = call
    const sealed = subject?.reference
    let embedding: Float32Array | undefined
    const reference = sealed
      ? () => {
          embedding ??= vault.openReference(subject, sealed).embedding
          return embedding
        }
      : null
    const challenge = opened?.frames ?? null
    const comparing = provider.verify(
      { userId: input.user_id, images, input, challenge, deadlineMs, signal, share },
      reference,
      threshold,
    )
    // Here and not when it is needed: meanwhile the engine computes.
    const recall = async () =>
      subject && reference ? captures.recall(subject, images, reference().length) : NOTHING_RECALLED
    const [comparison, recollection] = await Promise.all([comparing, recall()])
    Object.assign(call.timings, comparison.timingsMs)
    const { digests } = recollection
    const embeddings = embeddingsByImage(comparison.samples)
    const capture = { digests, faces: subject ? captures.facesOf(subject, embeddings) : NO_FACES }
    const replay = subject && captures.findReplay(capture, recollection)
    return { subject, refusal: null, comparison, capture, replay, recollection }
  }

  /** @param since what was remembered while the images were examined holds */
  private verdictOn(call: CaptureCall, examination: Examination, since: Replay | null): Verdict {
    const { subject, refusal } = examination
    if (refusal) return refused(subject, refusal)
    const { provider, config } = this.services
    const { capture, replay: before } = examination
    const replay = since === 'file' ? since : (before ?? since)
    const isOfChallenge = call.input.challenge !== undefined
    const comparison =
      isOfChallenge && (replay === 'file' || holdsTwins(capture.digests))
        ? replayed(examination.comparison)
        : examination.comparison
    // The sandbox's script stands for the same file, sent again.
    const found = provider.script?.(call.input.user_id).replayed ? 'file' : replay
    const reason = reasonAgainst(comparison, refusesReplay(config.replayPolicy, found))
    return { subject, reason, comparison, replaySuspected: found !== null }
  }
}

function refused(subject: Subject | null, { reason, waitMs }: Refusal): Verdict {
  return { subject, reason, comparison: null, replaySuspected: false, waitMs }
}

/** A file that comes again was not captured again. A nearly identical face may be that of a person who sits still. */
function refusesReplay(policy: Config['replayPolicy'], found: Replay | null): boolean {
  if (policy === 'report') return false
  return policy === 'reject' ? found !== null : found === 'file'
}

function reasonAgainst({ matches, sample }: Comparison, isRefused: boolean): Reason | null {
  if (sample.liveness.passed === false) return 'liveness_failed'
  if (!matches) return 'no_match'
  return isRefused ? 'replayed_capture' : null
}

/** Frames of a camera differ; one that is sent twice was not captured twice. */
function holdsTwins(digests: readonly Buffer[]): boolean {
  return new Set(digests.map((digest) => digest.toString('latin1'))).size < digests.length
}

function replayed(comparison: Comparison): Comparison {
  const { sample } = comparison
  const { findings = [], guidance = 'try_again' } = sample.liveness
  const liveness = {
    ...sample.liveness,
    passed: false,
    guidance,
    findings: [...findings, 'replayed' as const],
  }
  return { ...comparison, sample: { ...sample, liveness } }
}
