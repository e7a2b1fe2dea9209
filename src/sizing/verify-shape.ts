/** What a verify does, as far as it decides how many machines are needed: which trips it makes to the database, and where it waits. */

/** Round trips one after the other before the pictures go to the engine: who calls, the claim of the key, the user. */
export const READ_TRIPS = 3
/** Under way while the engine computes: captures. */
export const HIDDEN_TRIPS = 2
/** Of a group, however many transactions it has: the lock; what all read; what all write, with the commit. */
export const GROUP_TRIPS = 3
/** Of these, while the lanes are held: back from the lock and there with what is read. From the reads back to the writes much else is done. */
export const HELD_TRIPS = 1

/** Visits of the main thread: at the arrival, after each answer of the database and of the engine, in the lane, and for the reply. */
export const VISITS = 1 + READ_TRIPS + 1 + 1 + 1
/** Of the main thread's time, in one piece: the replay check, after the engine's answer. */
export const MAX_VISIT = 0.4
/** The same, while lanes are held: the decision, its signature, the audit entry. */
export const LANE_VISIT = 0.12

/** Of one visit. */
export interface Visit {
  meanMs: number
  /** E[s²]: what the wait of others depends on. */
  squaredMs2: number
  smallMs: number
  largestMs: number
  inLaneMs: number
}

export function visitOf(mainMs: number): Visit {
  const largestMs = MAX_VISIT * mainMs
  const inLaneMs = LANE_VISIT * mainMs
  const smallMs = (mainMs - largestMs - inLaneMs) / (VISITS - 2)
  return {
    meanMs: mainMs / VISITS,
    squaredMs2: (largestMs ** 2 + inLaneMs ** 2 + (VISITS - 2) * smallMs ** 2) / VISITS,
    smallMs,
    largestMs,
    inLaneMs,
  }
}

/** The most transactions that share a commit. */
export const MAX_IN_GROUP = 64
/** Among which tenants are divided. */
export const LANES = 256
/** A lane that another node had so often is waited for. */
export const MAX_MISSES = 4
/** Verifies that a worker of the engine has under way. */
export const TASKS_PER_WORKER = 4
