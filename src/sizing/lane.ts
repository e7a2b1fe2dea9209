/**
 * The lane of writing of one database: groups of a node's transactions, one group after the other over all nodes, because a group
 * holds the row of the lane from its beginning to its commit.
 */
import { Delay } from './delay.js'

export interface LaneLoad {
  /** Transactions of all nodes. */
  perMs: number
  nodes: number
  /** That a group of so many holds the row. */
  heldMs: (jobs: number) => number
  /** Of its time, when the row may be another's already: half of the way to the lock and back, and of the commit's. */
  wayMs: number
  /** Of the time that each transaction of a large group adds to it. */
  jobMs: number
  /** Of the time that a group holds the row: its answers wait for main threads. */
  groupVarianceMs2: number
  /** The most transactions of a group. */
  most: number
}

export interface LaneState {
  /** Of the time, for which the row is held. */
  utilisation: number
  groupsPerMs: number
  jobsPerGroup: number
  /** From asking for the lane to the answer to the commit. */
  delay: Delay
}

/** More than this no number of nodes can commit in one database. */
export function mostPerMs({ heldMs, wayMs, most, nodes }: Omit<LaneLoad, 'perMs'>): number {
  return most / (heldMs(most) + (nodes > 1 ? 0 : wayMs))
}

const ROUNDS = 200

/** @returns null where the lane cannot keep up */
export function laneState(load: LaneLoad): LaneState | null {
  const { perMs, nodes, heldMs, wayMs, jobMs, groupVarianceMs2, most } = load
  if (perMs >= mostPerMs(load)) return null
  const nodePerMs = perMs / nodes
  // A fixed point: how long a group waits for others depends on how often these are there.
  const leastMs = heldMs(1) + wayMs
  let turnMs = leastMs
  let jobs = 1
  let busy = 0
  for (let round = 0; round < ROUNDS; round++) {
    const waitMs = Math.max(0, ((nodes - 1) * heldMs(jobs) - busy * wayMs) * busy * (1 + busy ** 2)) / 2
    // Damped, or it would swing between a full and an empty lane.
    turnMs = (turnMs + heldMs(jobs) + wayMs + waitMs) / 2
    const arrived = nodePerMs * turnMs
    const none = Math.exp(-arrived)
    // What arrives during a turn is the next group; where nothing did, the next one begins it alone.
    jobs = Math.min(most, arrived + none)
    busy = Math.min(1, arrived / (arrived + none))
  }
  const groupsPerMs = perMs / jobs
  const utilisation = Math.min(1, groupsPerMs * heldMs(jobs))
  // Of how many come during a turn; of groups that wait for main threads; and of other nodes' groups, which are there or not.
  const chanceMs2 =
    perMs * turnMs * jobMs ** 2 +
    groupsPerMs * turnMs * groupVarianceMs2 +
    (nodes - 1) * busy * (1 - busy) * heldMs(jobs) ** 2
  // What comes during a turn makes the next one longer, that one those after it: chance goes on for as long as jobs follow jobs.
  const varianceMs2 = (utilisation * chanceMs2) / (1 - (perMs * jobMs) ** 2)
  const turn = Delay.atLeast(leastMs, { meanMs: Math.max(0, turnMs - leastMs), varianceMs2 })
  return {
    utilisation,
    groupsPerMs,
    jobsPerGroup: jobs,
    // Whoever comes during a turn waits for the rest of it, and then has one of its own.
    delay: turn.or(busy, turn.residual().plus(turn.asMet())),
  }
}
