/** A verdict of a verify, and what it is reached from: the evidence, its examination, and the terms that are in force. */

import type { Possession } from '../contract/acr.js'
import type { Reason } from '../contract/verdict.js'
import type { DomainError } from '../lib/domain-error.js'
import type { StoreTransaction } from '../storage/store.js'
import type { Subject } from '../users/template-vault.js'
import type { Comparison, Evidence, OperatingPoint } from './biometric-provider.js'
import type { CaptureInput, UserCall } from './call.js'
import type { CaptureIntegrity } from './capture/capture-integrity.js'
import type { Capture, Recollection, Replay } from './capture/capture-memory.js'
import type { LockoutRefusal } from './lockout/attempt-lockout.js'
import type { LockoutReason } from './lockout/lockout.js'

/** Evidence of a verify: images, and what is known before they are examined. */
export interface VerifyEvidence extends Evidence {
  possession: Possession | null
  /** Signals of the capture; null where the request brings no report. */
  integrity: CaptureIntegrity | null
}

/** The body of a verify, without the fields of its parts. */
export type VerifyInput = CaptureInput & {
  action: unknown
  nonce?: string
  include?: 'quality'[]
}

export type VerifyCall = UserCall<VerifyInput>

/** Evidence of a verify, examined before the transaction. The transaction decides whether it counts. */
export type Examination = {
  /** The user's record and data key; null for a user who is not enrolled, whom only the sandbox verifies. */
  subject: Subject | null
  evidence: VerifyEvidence
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

/** The terms of a verdict: the threshold of the comparison, and what parts of the verify ask of an approval. */
export interface VerdictTerms {
  /** Id of the model that decides for the tenant. */
  model: string
  /** The strictest of the operating points of the contract and of the conditions. */
  point: OperatingPoint
  /** The condition of each part of the verify, in the order in which they are judged; null for a part that has none. */
  conditions: ReadonlyArray<Condition | null>
}

/** A condition that a part of the verify puts on an approval of its action. */
export interface Condition {
  /** Greatest false match rate at which faces are compared; undefined for the contract's. */
  readonly maxFmr?: number | undefined
  /** Refuses a request that cannot meet it, before the engine works for it. @throws DomainError */
  assertOffered(subject: Subject | null, evidence: VerifyEvidence, terms: VerdictTerms): Promise<void>
  /** Holds an approval to it, in the transaction of the verdict. @returns null where the approval stands */
  judge(tx: StoreTransaction, approval: Verdict, at: number): Promise<Judgement | null>
}

/** How a condition takes an approval back: it becomes a rejection, or no verdict may be given. */
export type Judgement = Required<Pick<Verdict, 'reason' | 'attempt'>> | Pick<Verdict, 'withheld'>

export interface Verdict {
  evidence: VerifyEvidence
  /** Proof that the user holds a key; null for none, and while the user is locked out. */
  possession: Possession | null
  /** The user's record and data key; null for a user who is not enrolled, whom only the sandbox verifies. */
  subject: Subject | null
  /** The terms that were in force when the verdict was reached. */
  terms: VerdictTerms
  /** Reason of a rejection; null for an approval. */
  reason: Reason | null
  /**
   * How the lockout counts a rejection by a condition, whose face has matched: as a success, which ends a series of rejections, or not at
   * all. Undefined for any other verdict.
   */
  attempt?: 'succeeded' | 'uncounted'
  /** Result of the comparison; null while the user is locked out, when the verdict says nothing about the images. */
  comparison: Comparison | null
  replaySuspected: boolean
  /** Milliseconds until the user may try again; undefined where that is not known or not needed. */
  waitMs?: number | undefined
  /** Lockout that this verdict began for the user. */
  effect?: LockoutReason | undefined
  /** The body of the first answer, which a repeat of the same request gets again: nothing is decided then. */
  repeated?: string
  /** Why no verdict may be given; null for a verdict. */
  withheld: DomainError | null
}

/**
 * Gets a verify of production before its pictures are examined, and looks at them after the answer (`call.afterAnswer`). It has no part in
 * the verdict, and the caller never waits for it.
 */
export type WatchVerify = (
  call: UserCall<CaptureInput>,
  evidence: Evidence,
  terms: VerdictTerms,
) => WatchedVerify

/** A verify that is being answered. */
interface WatchedVerify {
  examined(examination: Examination): void
}
