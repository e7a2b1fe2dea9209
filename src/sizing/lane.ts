/**
 * The lane of writing of one database: groups of a node's transactions, one group after the other over all nodes, because a group
 * holds the row of the lane from its beginning to its commit.
 */
import { Delay } from './delay.js'

export interface LaneLoad {
  /** Transactions of all nodes. */
  perMs: number
  nodes: number
  /** That a group takes, whatever its size. */
  groupMs: number
  /** Of it, when the row is another's already: half of the way to the lock and back, and of the commit's. */
  overlapMs: number
  /** For each transaction of a group: they run one after the other. */
  jobMs: number
  /** What a transaction that is alone in its group does not take: its last trip is the commit's. */
  savedMs: number
  /** Of the time for one: its trips wait for main threads. */
  jobVarianceMs2: number
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
export function mostPerMs({ groupMs, jobMs, most }: Pick<LaneLoad, 'groupMs' | 'jobMs' | 'most'>): number {
  return most / (groupMs + most * jobMs)
}

const ROUNDS = 200

/** @returns null where the lane cannot keep up */
export function laneState({
  perMs,
  nodes,
  groupMs,
  overlapMs,
  jobMs,
  savedMs,
  jobVarianceMs2,
  most,
}: LaneLoad): LaneState | null {
  if (perMs >= mostPerMs({ groupMs, jobMs, most })) return null
  const nodePerMs = perMs / nodes
  // A fixed point: how long a group waits for others depends on how often these are there.
  const leastMs = groupMs + jobMs - savedMs
  let turnMs = leastMs
  let ownMs = leastMs
  let jobs = 1
  let busy = 0
  for (let round = 0; round < ROUNDS; round++) {
    const waitMs = ((nodes - 1) * busy * (ownMs - overlapMs) * (1 + busy ** 2)) / 2
    // Damped, or it would swing between a full and an empty lane.
    turnMs = (turnMs + ownMs + waitMs) / 2
    const arrived = nodePerMs * turnMs
    const none = Math.exp(-arrived)
    // What arrives during a turn is the next group; where nothing did, the next one begins it alone.
    jobs = Math.min(most, arrived + none)
    ownMs = groupMs + jobMs * jobs - savedMs * none * (1 + arrived)
    busy = Math.min(1, arrived / (arrived + none))
  }
  const groupsPerMs = perMs / jobs
  // What comes during a turn makes the next one longer, that one those after it: chance goes on for as long as jobs follow jobs.
  const perJobMs = jobMs + ((groupMs / jobs) * (nodes - 1)) / nodes
  const utilisation = Math.min(1, groupsPerMs * (ownMs - overlapMs))
  // A lane that is rarely held has few turns that are longer than the shortest: the power is what fits the simulation best.
  const varianceMs2 =
    (utilisation ** 1.5 * (perJobMs ** 2 + jobVarianceMs2) * perMs * turnMs) / (1 - (perMs * jobMs) ** 2)
  const turn = Delay.atLeast(leastMs, { meanMs: turnMs - leastMs, varianceMs2 })
  return {
    utilisation,
    groupsPerMs,
    jobsPerGroup: jobs,
    // Whoever comes during a turn waits for the rest of it, and then has one of its own.
    delay: turn.or(busy, turn.residual().plus(turn.asMet())),
  }
}
