/** Lockout as a verify meets it: the wait that is imposed, verdicts that are counted. */
import type { SubjectRecord } from '../storage/records.js'
import type { StoreTransaction } from '../storage/store.js'
import {
  afterRejection,
  CLEAR,
  isChanged,
  type LockoutReason,
  lockoutBegun,
  lockoutReason,
} from './lockout.js'

/** NIST SP 800-63B-4, section 3.2.3: attempts before a delay, without and with presentation attack detection. */
const ATTEMPTS = { withoutLiveness: 5, withLiveness: 10 }

export function defaultAttempts(checksLiveness: boolean): number {
  return checksLiveness ? ATTEMPTS.withLiveness : ATTEMPTS.withoutLiveness
}

export interface LockoutRefusal {
  reason: LockoutReason
  /** How long, where it ends by itself. */
  waitMs?: number
}

export interface Lockout {
  /**
   * Why nothing is said of a verify of the user now; null where it is evaluated. Asked before the images are looked at, and
   * again of the state in the transaction, so that of parallel guesses no more count than attempts are left.
   */
  refusal(subject: SubjectRecord, now: number): LockoutRefusal | null
  /** Counts a verdict on the user. Resolves with what it began, if anything. */
  count(
    tx: StoreTransaction,
    subject: SubjectRecord,
    verdict: { approved: boolean; at: number },
  ): Promise<LockoutReason | undefined>
}

export class AttemptLockout implements Lockout {
  /** @param attempts before the first delay; 0 turns lockout off, and lets what was imposed before run out */
  constructor(private readonly attempts: number) {}

  refusal(subject: SubjectRecord, now: number): LockoutRefusal | null {
    const reason = lockoutReason(subject, now)
    if (reason === null) return null
    return reason === 'locked_out' ? { reason, waitMs: subject.lockedUntil! - now } : { reason }
  }

  async count(
    tx: StoreTransaction,
    subject: SubjectRecord,
    { approved, at }: { approved: boolean; at: number },
  ): Promise<LockoutReason | undefined> {
    const state = approved ? CLEAR : afterRejection(subject, this.attempts, at)
    if (isChanged(subject, state)) await tx.setLockout(subject.id, state)
    return lockoutBegun(subject, state)
  }
}

/** Where verdicts say nothing of a person, nobody is locked out. */
export const NO_LOCKOUT: Lockout = {
  refusal: () => null,
  count: async () => undefined,
}
