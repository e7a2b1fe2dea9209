/** Lockout as a verify meets it: attempts that are taken, the wait that is imposed, verdicts that are counted. */
import type { SubjectRecord } from '../storage/records.js'
import type { Store, StoreTransaction } from '../storage/store.js'
import { AttemptGate, type GateCall } from './attempt-gate.js'
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

/** What a lockout needs of a request. */
export interface AttemptCall extends GateCall {
  /** Registers what must happen when the request has been committed or has failed. */
  defer(cleanUp: () => void): void
}

export interface LockoutRefusal {
  reason: LockoutReason
  /** How long, where it ends by itself. */
  waitMs?: number
}

export interface Lockout {
  /**
   * Takes one of the user's attempts for the length of a request; waits where all are taken.
   * @throws ApiError overloaded, deadline_exceeded
   */
  takeAttempt(lookup: Buffer, call: AttemptCall): Promise<void>
  /** Why a verify of the user is not evaluated now; null where it is. */
  refusal(subject: SubjectRecord, now: number): LockoutRefusal | null
  /** Counts a verdict on the user. Resolves with what it began, if anything. */
  count(
    tx: StoreTransaction,
    subject: SubjectRecord,
    verdict: { approved: boolean; at: number },
  ): Promise<LockoutReason | undefined>
}

export class AttemptLockout implements Lockout {
  private readonly gate = new AttemptGate()

  /** @param attempts before the first delay; 0 turns lockout off, and lets what was imposed before run out */
  constructor(
    private readonly store: Store,
    private readonly attempts: number,
  ) {}

  async takeAttempt(lookup: Buffer, call: AttemptCall): Promise<void> {
    if (this.attempts === 0) return
    const attemptsLeft = async () => {
      const found = await this.store.read.subject(lookup)
      return this.attempts - (found?.subject.failures ?? 0)
    }
    call.defer(await this.gate.enter(lookup.toString('latin1'), attemptsLeft, call))
  }

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
  takeAttempt: async () => {},
  refusal: () => null,
  count: async () => undefined,
}
