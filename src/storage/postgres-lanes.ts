/**
 * All writing of a service: what is of one tenant in the lane that the tenant shares with some others, what is not in all lanes at once.
 * So tenants of different lanes do not wait for each other's commits, on whichever nodes they are.
 */
import { LANE_LOCK_MS, type LaneTerms, PostgresLane } from './postgres-lane.js'
import { LANES } from './postgres-migrations.js'
import { type PostgresAccess, PostgresPool } from './postgres-pool.js'
import type { SilenceWatch } from './postgres-silence.js'
import type { Scope, StoreTransaction } from './store.js'

export class PostgresLanes {
  readonly terms: LaneTerms = {
    isFailing: false,
    onCommit: () => {},
    keysRevision: null,
    epoch: null,
    onStaleKeys: () => {},
  }
  private readonly pool: PostgresPool
  private readonly all: PostgresLane
  /** Each connects when it is first taken: commands, and services of few tenants, need few. */
  private readonly byTenant: PostgresLane[]

  constructor(access: PostgresAccess, silence: SilenceWatch) {
    const settings = { lock_timeout: `${LANE_LOCK_MS}ms` }
    this.pool = new PostgresPool(access, { size: LANES + 1, pipeline: true, silence, settings })
    this.all = new PostgresLane(this.pool, this.terms, null)
    this.byTenant = Array.from({ length: LANES }, (_, i) => new PostgresLane(this.pool, this.terms, i + 1))
  }

  /** Shows at the start whether everything is in place. @throws Error of pg */
  async connect(): Promise<void> {
    await this.all.connect()
  }

  transaction<T>(work: (tx: StoreTransaction) => Promise<T>, answerByMs?: number, scope?: Scope): Promise<T> {
    const lane = scope ? this.byTenant[laneOf(scope.tenantId)]! : this.all
    return lane.transaction(work, answerByMs, scope?.concerns)
  }

  async close(): Promise<void> {
    await Promise.all([this.all, ...this.byTenant].map((lane) => lane.close()))
    await this.pool.end()
  }
}

/** The same on every node, and in every version that works with as many lanes. */
function laneOf(tenantId: string): number {
  let hash = 0
  for (let i = 0; i < tenantId.length; i++) hash = (Math.imul(hash, 31) + tenantId.charCodeAt(i)) >>> 0
  return hash % LANES
}
