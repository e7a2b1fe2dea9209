/** Why this service is not ready, if it is not: the one place that /readyz, metrics, the list of nodes and the log read. */
import type { Logger } from 'pino'
import { MINUTE_MS, SECOND_MS } from '../lib/clock.js'
import { PeriodicTask } from '../lib/periodic-task.js'

/** In the order in which /readyz names them; docs/operations/runbooks.md has a section for each of them. */
export const NOT_READY_REASONS = [
  'starting',
  'stopping',
  'engine_down',
  'engine_hung',
  'database_lost',
  'database_corrupt',
  'newer_schema',
  'wrong_keys',
  'wrong_clock',
] as const

export type NotReadyReason = (typeof NOT_READY_REASONS)[number]

const CHECK_MS = SECOND_MS
/**
 * A restart of PostgreSQL takes two seconds and a failover five. Each node would leave the load balancer during both if it gave the
 * database up sooner.
 */
export const DATABASE_LOST_MS = 10 * SECOND_MS
/** An engine process that does not load is started again after 30 s at most: by then it has failed at least ten times. */
export const ENGINE_GIVEN_UP_MS = 5 * MINUTE_MS

/** The present state of the service's parts, as each reports it. */
export interface ReadinessSources {
  isStarted(): boolean
  isStopping(): boolean
  engine(): { workers: { ready: number }; isSilent: boolean }
  isClockRight(): boolean
  areKeysCurrent(): boolean
  isSchemaCurrent(): boolean
  store: {
    /** Null for a database that no other service uses. */
    readonly coordinator: unknown
    readonly presence: { showReadiness(notReady: readonly string[]): void } | null
    readonly isCorrupt: boolean
    isHealthy(): Promise<boolean>
  }
}

export class Readiness {
  private told = new Set<NotReadyReason>()
  /** On the axis of `uptime`; null while the database answers, or there is a worker. */
  private databaseLostAtMs: number | null = null
  private engineDownAtMs: number | null = null
  private readonly beat = new PeriodicTask(
    CHECK_MS,
    () => this.look(),
    (err) => this.log.error({ err }, 'the service could not tell whether it is ready'),
  )

  /** @param uptime milliseconds, which nobody can set */
  constructor(
    private readonly sources: ReadinessSources,
    private readonly log: Logger,
    private readonly uptime = () => performance.now(),
  ) {}

  /** Looks at the parts now, and every second from now on. */
  start(): void {
    void this.beat.now()
    this.beat.start()
  }

  stop(): Promise<void> {
    return this.beat.stop()
  }

  /** All that keep the service from being ready now; empty for one that is ready. */
  get reasons(): NotReadyReason[] {
    const { sources } = this
    if (sources.isStopping()) return ['stopping']
    if (!sources.isStarted()) return ['starting']
    const { workers, isSilent } = sources.engine()
    const holds: Partial<Record<NotReadyReason, boolean>> = {
      engine_down: workers.ready === 0,
      engine_hung: isSilent,
      database_lost: this.isDatabaseLost,
      // One corrupt page of a shared database would take out all nodes: there the metric and its alert report it.
      database_corrupt: sources.store.isCorrupt && sources.store.coordinator === null,
      newer_schema: !sources.isSchemaCurrent(),
      wrong_keys: !sources.areKeysCurrent(),
      wrong_clock: !sources.isClockRight(),
    }
    return NOT_READY_REASONS.filter((reason) => holds[reason])
  }

  /** No worker was ready for five minutes: only a new start of the service may help, which repairs a damaged pack. */
  get isEngineGivenUp(): boolean {
    return this.engineDownAtMs !== null && this.uptime() - this.engineDownAtMs >= ENGINE_GIVEN_UP_MS
  }

  /** A SQLite file that cannot be written is still read from, and no other node has it. */
  private get isDatabaseLost(): boolean {
    return this.databaseLostAtMs !== null && this.uptime() - this.databaseLostAtMs >= DATABASE_LOST_MS
  }

  /** Asks the database and the engine, and logs each reason once when it begins and once when it ends. */
  async look(): Promise<void> {
    const { store, engine } = this.sources
    if (engine().workers.ready > 0) this.engineDownAtMs = null
    else this.engineDownAtMs ??= this.uptime()
    const isHealthy = store.coordinator === null || (await store.isHealthy())
    if (isHealthy) this.databaseLostAtMs = null
    else this.databaseLostAtMs ??= this.uptime()
    const now = new Set(this.reasons)
    for (const reason of now)
      if (!this.told.has(reason) && reason !== 'stopping') this.log.error({ reason }, 'not ready')
    for (const reason of this.told) if (!now.has(reason)) this.log.info({ reason }, 'no longer a reason')
    if (this.told.size > 0 && now.size === 0) this.log.info('ready again')
    this.told = now
    store.presence?.showReadiness([...now])
  }
}
