/** The lockout of a verify: refuses during a delay, and counts verdicts. */
import type { SubjectRecord } from '../../storage/records.js'
import type { StoreTransaction } from '../../storage/store.js'
import {
  afterRejection,
  CLEAR,
  isChanged,
  type LockoutReason,
  lockoutBegun,
  lockoutReason,
} from './lockout.js'

/** Attempts before the first delay, without and with presentation attack detection (NIST SP 800-63B-4, section 3.2.3). */
const ATTEMPTS = { withoutLiveness: 5, withLiveness: 10 }

/** @param checksLiveness whether the model pack has a liveness network */
export function defaultAttempts(checksLiveness: boolean): number {
  return checksLiveness ? ATTEMPTS.withLiveness : ATTEMPTS.withoutLiveness
}

export interface LockoutRefusal {
  reason: LockoutReason
  /** Milliseconds until the lockout ends; undefined for one that only a new enrollment ends. */
  waitMs?: number | undefined
}

/** The sandbox has one that its scripts turn on. */
export type Lockout = Pick<AttemptLockout, keyof AttemptLockout>

export class AttemptLockout {
  /** @param attempts rejections before the first delay; 0 turns lockout off and lets delays that were imposed before run out */
  constructor(private readonly attempts: number) {}

  /**
   * Why a verify of the user is not evaluated now; null where it is. Asked before the engine looks at the images, and again inside
   * the transaction, so that parallel guesses count no less than guesses one after the other.
   * @param record the user's record; null for a user who is not enrolled
   * @param now milliseconds since the Unix epoch
   */
  refusal(_userId: string, record: SubjectRecord | null, now: number): LockoutRefusal | null {
    return record && this.refusalOfAddition(record, now)
  }

  /** Why photos are not added to the user's reference now: each addition is a guess at it, like a verify. Null where they are. */
  refusalOfAddition(record: SubjectRecord, now: number): LockoutRefusal | null {
    const reason = lockoutReason(record, now)
    if (reason === null) return null
    return reason === 'locked_out' ? { reason, waitMs: record.lockedUntil! - now } : { reason }
  }

  /** Counts a verdict on the user. Resolves with the lockout that the verdict began; undefined where it began none. */
  async count(
    tx: StoreTransaction,
    record: SubjectRecord,
    { approved, at }: { approved: boolean; at: number },
  ): Promise<LockoutReason | undefined> {
    const state = approved ? CLEAR : afterRejection(record, this.attempts, at)
    if (isChanged(record, state)) await tx.setLockout(record.id, state)
    return lockoutBegun(record, state)
  }
}
