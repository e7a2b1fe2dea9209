/** What a verify does, as far as it decides how many machines are needed: which trips it makes to the database, and where it waits. */

/** Round trips one after the other before the pictures go to the engine: who calls, the claim of the key, the user. */
export const READ_TRIPS = 3
/** Under way while the engine computes: captures. */
export const HIDDEN_TRIPS = 2
/** Of a verify inside the lane: what the verdict hangs on, and what it writes; alone in its group it writes with the commit. */
export const LANE_TRIPS = 2
/** Of a group: beginning with the lock of the lane, and the commit. */
export const GROUP_TRIPS = 2

/** Visits of the main thread: at the arrival, after each answer of the database and of the engine, and for the reply. */
export const VISITS = 1 + READ_TRIPS + 1 + LANE_TRIPS + 1
/** Of the main thread's time, in one piece: the replay check, after the engine's answer. */
export const LARGEST_VISIT = 0.4

/** Of one visit. */
export interface Visit {
  meanMs: number
  /** E[s²]: what the wait of others depends on. */
  squaredMs2: number
  smallMs: number
  largestMs: number
}

export function visitOf(mainMs: number): Visit {
  const largestMs = LARGEST_VISIT * mainMs
  const smallMs = (mainMs - largestMs) / (VISITS - 1)
  return {
    meanMs: mainMs / VISITS,
    squaredMs2: (largestMs ** 2 + (VISITS - 1) * smallMs ** 2) / VISITS,
    smallMs,
    largestMs,
  }
}

/** The most transactions that share a commit. */
export const MOST_IN_GROUP = 64
/** Verifies that a worker of the engine has under way. */
export const TASKS_PER_WORKER = 4
