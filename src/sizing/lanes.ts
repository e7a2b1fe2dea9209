/**
 * The lanes of writing of one database. A node commits in groups, one after the other; a group holds the lanes of its tenants from its
 * beginning to its commit, and leaves what it cannot have to the next one, until it has missed it several times.
 */
import { Delay } from './delay.js'
import { LANES, MAX_MISSES } from './verify-shape.js'

export interface Tenants {
  tenants: number
  /** Of all verifies, the part of the busiest tenant; the others have the rest in equal parts. */
  hottestShare: number
}

export interface WritingLoad extends Tenants {
  /** Transactions of all nodes. */
  perMs: number
  nodes: number
  /** That a group of so many holds its lanes. */
  heldMs: (jobs: number) => number
  /** Of its time, when the lanes may be another's already: half of the way to the lock and back, and of the commit's. */
  wayMs: number
  /** Of the time that each transaction of a large group adds to it. */
  jobMs: number
  /** Of the time that a group holds its lanes: its answers wait for main threads. */
  groupVarianceMs2: number
  /** The most transactions of a group. */
  most: number
}

export interface WritingState {
  /** Of the time, for which the busiest tenant's lane is held. */
  utilisation: number
  groupsPerMs: number
  jobsPerGroup: number
  /** From asking for the lane to the answer to the commit. */
  delay: Delay
}

/** One tenant's, and of those others that fall to it. */
interface Lane {
  /** Of all transactions. */
  share: number
  /** Of all transactions, those of tenants like this one. */
  weight: number
}

/** What a node sees of a lane. */
interface LaneState {
  /** Of its groups, those with it. */
  inGroups: number
  /** That a group with it holds it. */
  heldMs: number
  /** Of the time, for which a node has it or wants it. */
  wanted: number
  /** That its transactions wait because it is another's, while their node commits others. */
  missMs: number
  /** The same, while their node waits for it. */
  blockMs: number
}

const ROUNDS = 200

/** The busiest tenant's, and that of any other. */
function lanesOf({ tenants, hottestShare }: Tenants): Lane[] {
  const hottest = tenants === 1 ? 1 : Math.max(hottestShare, 1 / tenants)
  const laneOf = (own: number, weight: number) => ({ share: own + (1 - own) / LANES, weight })
  const lanes = [laneOf(hottest, hottest)]
  if (tenants > 1) lanes.push(laneOf((1 - hottest) / (tenants - 1), 1 - hottest))
  return lanes
}

/** More than this no cluster of so many nodes can commit in one database. */
export function mostPerMs(load: Omit<WritingLoad, 'perMs'>): number {
  const { heldMs, wayMs, most, nodes } = load
  const ofNode = most / (heldMs(most) + wayMs)
  if (nodes === 1) return ofNode
  return Math.min(nodes * ofNode, most / heldMs(most) / passing(lanesOf(load)[0]!, nodes))
}

/** Of all transactions, those that are committed by groups with this lane: its own, and what else its node has meanwhile. */
function passing({ share }: Lane, nodes: number): number {
  return share + (1 - share) / nodes
}

/** @returns null where a lane, or the writer of a node, cannot keep up */
export function writingState(load: WritingLoad): WritingState | null {
  const { perMs, nodes, heldMs, wayMs, jobMs, groupVarianceMs2, most } = load
  if (perMs >= mostPerMs(load)) return null
  const nodePerMs = perMs / nodes
  const lanes = lanesOf(load)
  const leastMs = heldMs(1) + wayMs
  let turnMs = leastMs
  let jobs = 1
  let states: LaneState[] = lanes.map(() => ({
    ...{ inGroups: 0, wanted: 0, missMs: 0, blockMs: 0 },
    heldMs: heldMs(1),
  }))
  // A fixed point: how long a group waits for others depends on how often these are there.
  for (let round = 0; round < ROUNDS; round++) {
    let blockMs = 0
    states = lanes.map((lane, i) => {
      const state = laneState(lane, load, { turnMs, jobs, before: states[i]! })
      blockMs += (i === 0 ? 1 : lane.weight / lane.share) * state.inGroups * state.blockMs
      return state
    })
    // Damped, or it would swing between full lanes and empty ones.
    turnMs = (turnMs + heldMs(jobs) + wayMs + blockMs) / 2
    jobs = Math.min(most, groupOf(nodePerMs * turnMs))
  }
  const groupsPerMs = perMs / jobs
  const busy = wantedOf(nodePerMs * turnMs)
  const turnOf = (lane: Lane, state: LaneState) => {
    const lanePerMs = perMs * passing(lane, nodes)
    const utilisation = Math.min(1, (lanePerMs / jobs) * heldMs(jobs))
    const { wanted, blockMs, missMs } = state
    const waitedFor = blockMs / (blockMs + missMs || 1)
    // Of how many come during a turn; of groups that wait for main threads; and of other nodes' groups that are waited for, which are there or not.
    const chanceMs2 =
      lanePerMs * turnMs * jobMs ** 2 +
      groupsPerMs * turnMs * groupVarianceMs2 +
      waitedFor * (nodes - 1) * wanted * (1 - wanted) * state.heldMs ** 2
    // What comes during a turn makes the next one longer, that one those after it: chance goes on for as long as jobs follow jobs.
    const varianceMs2 = (utilisation * chanceMs2) / (1 - (lanePerMs * jobMs) ** 2)
    const meanMs = Math.max(turnMs, state.heldMs + wayMs + state.blockMs)
    return Delay.atLeast(leastMs, { meanMs: Math.max(0, meanMs - leastMs), varianceMs2 })
  }
  const delays = lanes.map((lane, i) => {
    const state = states[i]!
    const turn = turnOf(lane, state)
    const { missMs } = state
    // Turn by turn, so that it varies by turns.
    const missing = Delay.atLeast(0, { meanMs: missMs, varianceMs2: missMs * turnMs })
    // Whoever comes during a turn waits for the rest of it, and then has one of its own.
    return turn.or(busy, turn.residual().plus(turn.asMet())).plus(missing)
  })
  const [hottest, other] = delays
  return {
    utilisation: Math.min(1, groupsPerMs * states[0]!.inGroups * states[0]!.heldMs),
    groupsPerMs,
    jobsPerGroup: jobs,
    delay: other ? hottest!.or(lanes[1]!.weight, other) : hottest!,
  }
}

function laneState(
  { share }: Lane,
  { perMs, nodes, heldMs, wayMs, most }: WritingLoad,
  { turnMs, jobs, before }: { turnMs: number; jobs: number; before: LaneState },
): LaneState {
  const nodePerMs = perMs / nodes
  const arrived = nodePerMs * share * (turnMs + before.missMs)
  const others = nodePerMs * (1 - share) * turnMs
  const wanted = wantedOf(arrived)
  const own = groupOf(arrived)
  const groupMs = heldMs(Math.min(most, own + others))
  // With nothing else to do the node waits for the lane; else it tries again after a turn with what is free.
  const alone = Math.exp(-others)
  const tries = (alone * (1 + wanted ** 2)) / 2 + 1 - alone
  const waitMs = Math.max(0, (nodes - 1) * groupMs - wanted * wayMs) * wanted * tries
  const dueMs = Math.max(0, waitMs - MAX_MISSES * turnMs)
  const blockMs = alone * waitMs + (1 - alone) * dueMs
  const missMs = (before.missMs + waitMs - blockMs) / 2
  return { inGroups: Math.min(1, (share * jobs) / own), heldMs: groupMs, wanted, blockMs, missMs }
}

/** What arrives during a turn is the next group; where nothing did, the next one begins it alone. */
function groupOf(arrived: number): number {
  return arrived + Math.exp(-arrived)
}

/** Of the time, in which there is a group. */
function wantedOf(arrived: number): number {
  return arrived / (arrived + Math.exp(-arrived))
}
