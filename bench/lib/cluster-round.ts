/** The figures of one measured round of a cluster, and those of several rounds together. */
import { addLockSamples, type LockSamples } from './database-watch.js'
import { carriedPercentile, mean, median } from './statistics.js'

export interface Round {
  perSecond: number
  latenciesMs: number[]
  /** Verifies that the service refused because it was at capacity; their callers retried. */
  refused: number
  /**
   * CPU time of the main threads per verify, in milliseconds; null where the system does not report it, as in the next
   * two.
   */
  mainThreadMs: number | null
  /** The busiest main thread's CPU time, as a share of one core. */
  mainThreadShare: number | null
  /** CPU time of the database's server per verify, in milliseconds. */
  databaseMs: number | null
  /** The busiest load generator's CPU time, as a share of one core. */
  loadShare: number
  /** Number of the machine's cores that were busy, with any process. */
  busyCores: number
  locks: LockSamples
}

export interface Summary extends Omit<Round, 'latenciesMs'> {
  /** Milliseconds; null with too few samples, as is the next one. */
  p50Ms: number | null
  p99Ms: number | null
  /** Share of the samples in which a session held a whole table against all other writers, or waited to do so. */
  tableLockShare: number
  /** Share of the samples in which a session waited for a lock of any kind. */
  waitingShare: number
}

/** @param rounds one or more */
export function summarise(rounds: readonly Round[]): Summary {
  if (rounds.some(({ perSecond }) => perSecond === 0))
    throw new Error('a round went by without an answer: a longer run, or an idle machine, has some')
  const known = (pick: (one: Round) => number | null) => {
    const figures = rounds.map(pick).filter((figure) => figure !== null)
    return figures.length === rounds.length ? mean(figures) : null
  }
  const latenciesMs = rounds.flatMap((one) => one.latenciesMs)
  const locks = rounds.map((one) => one.locks).reduce(addLockSamples)
  return {
    perSecond: mean(rounds.map(({ perSecond }) => perSecond)),
    p50Ms: latenciesMs.length > 0 ? median(latenciesMs) : null,
    p99Ms: carriedPercentile(latenciesMs, 0.99),
    refused: rounds.reduce((sum, { refused }) => sum + refused, 0),
    mainThreadMs: known(({ mainThreadMs }) => mainThreadMs),
    mainThreadShare: known(({ mainThreadShare }) => mainThreadShare),
    databaseMs: known(({ databaseMs }) => databaseMs),
    loadShare: Math.max(...rounds.map(({ loadShare }) => loadShare)),
    busyCores: mean(rounds.map(({ busyCores }) => busyCores)),
    locks,
    tableLockShare: locks.withTableLock / locks.all,
    waitingShare: locks.withWaiting / locks.all,
  }
}
