/** Decides whether this service is ready, and why not: /readyz, metrics, the list of nodes and the log all read it here. */
import type { Logger } from 'pino'
import { MINUTE_MS, SECOND_MS } from '../lib/clock.js'
import { PeriodicTask } from '../lib/periodic-task.js'

/** Reasons in the order in which /readyz names them; docs/operations/runbooks.md has a section for each of them. */
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
/** While the service is ready, its files are looked at this rarely. */
const FILES_CHECK_MS = MINUTE_MS
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
  /** State of the files that the process runs from: another text once they were replaced. */
  filesState(): string
  store: {
    /** Null for a database that no other service uses. */
    readonly coordinator: unknown
    readonly presence: { showReadiness(notReady: readonly string[]): void } | null
    readonly isCorrupt: boolean
    isHealthy(): Promise<boolean>
  }
}

export class Readiness extends PeriodicTask {
  /** Reasons whose beginning has been logged. */
  private logged = new Set<NotReadyReason>()
  /** On the clock of `uptime`; null while the database answers. */
  private databaseLostAtMs: number | null = null
  /** On the clock of `uptime`; null while a worker is ready. */
  private engineDownAtMs: number | null = null
  private readonly filesAtStart: string
  private filesCheckedAtMs: number
  private hasOldFiles = false

  /** @param uptime monotonic time in milliseconds: setting the system clock does not change it */
  constructor(
    private readonly sources: ReadinessSources,
    private readonly log: Logger,
    private readonly uptime = () => performance.now(),
  ) {
    super(
      CHECK_MS,
      () => this.check(),
      (err) => log.error({ err }, 'could not check whether the service is ready'),
    )
    this.filesAtStart = sources.filesState()
    this.filesCheckedAtMs = uptime()
  }

  /** Checks the parts now, and every second from now on. */
  override start(): void {
    void this.now()
    super.start()
  }

  /** Every reason that keeps the service from being ready now; empty when it is ready. */
  get reasons(): NotReadyReason[] {
    const { sources } = this
    if (sources.isStopping()) return ['stopping']
    if (!sources.isStarted()) return ['starting']
    const { workers, isSilent } = sources.engine()
    const holds: Partial<Record<NotReadyReason, boolean>> = {
      engine_down: workers.ready === 0,
      engine_hung: isSilent,
      database_lost: this.isDatabaseLost,
      // One corrupt page of a shared database would make all nodes unready: there only the metric and its alert report it.
      database_corrupt: sources.store.isCorrupt && sources.store.coordinator === null,
      newer_schema: !sources.isSchemaCurrent(),
      wrong_keys: !sources.areKeysCurrent(),
      wrong_clock: !sources.isClockRight(),
    }
    return NOT_READY_REASONS.filter((reason) => holds[reason])
  }

  /** Faults of a service that is ready: once its files were replaced, a module that it loads from now on may not fit. */
  get warnings(): Array<'files_replaced'> {
    return this.hasOldFiles ? ['files_replaced'] : []
  }

  /** True when no worker has been ready for five minutes: only a restart may help, since it repairs a damaged pack. */
  get isEngineGivenUp(): boolean {
    return this.engineDownAtMs !== null && this.uptime() - this.engineDownAtMs >= ENGINE_GIVEN_UP_MS
  }

  /** Never true for SQLite: a file that cannot be written can still be read, and no other node has it. */
  private get isDatabaseLost(): boolean {
    return this.databaseLostAtMs !== null && this.uptime() - this.databaseLostAtMs >= DATABASE_LOST_MS
  }

  /** Asks the database and the engine, and logs each reason once when it begins and once when it ends. */
  async check(): Promise<void> {
    const { store, engine } = this.sources
    if (engine().workers.ready > 0) this.engineDownAtMs = null
    else this.engineDownAtMs ??= this.uptime()
    const isHealthy = store.coordinator === null || (await store.isHealthy())
    if (isHealthy) this.databaseLostAtMs = null
    else this.databaseLostAtMs ??= this.uptime()
    const now = new Set(this.reasons)
    for (const reason of now)
      if (!this.logged.has(reason) && reason !== 'stopping') this.log.error({ reason }, 'not ready')
    for (const reason of this.logged)
      if (!now.has(reason)) this.log.info({ reason }, 'reason for not being ready has ended')
    if (this.logged.size > 0 && now.size === 0) this.log.info('ready again')
    this.logged = now
    this.checkFiles()
    store.presence?.showReadiness([...now])
  }
  private checkFiles(): void {
    const isDue = this.logged.size > 0 || this.uptime() - this.filesCheckedAtMs >= FILES_CHECK_MS
    if (this.hasOldFiles || !isDue) return
    this.filesCheckedAtMs = this.uptime()
    this.hasOldFiles = this.sources.filesState() !== this.filesAtStart
    if (this.hasOldFiles)
      this.log.warn(
        'the files of this service were replaced while it runs, and a new engine process may not fit: restart the service, and unpack the next version into a folder of its own',
      )
  }
}
