/**
 * Boots the real service in this process: real listeners on free ports, a real database, real models, a clock that tests move. The
 * database is SQLite, and PostgreSQL in the project of that name.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, inject, onTestFinished } from 'vitest'
import { loadConfig } from '../../src/app/configuration.js'
import { Service } from '../../src/app/service.js'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import type { Environment } from '../../src/config/config.js'
import type { ListedFeature } from '../../src/features/feature.js'
import { webhookReader } from '../../src/features/webhooks/webhook-tables.js'
import { ManualClock } from '../../src/lib/clock.js'
import type { TenantRecord } from '../../src/storage/records.js'
import { type ApiClient, apiClient } from './client.js'
import { postgresDatabase, type ServiceDatabase, sqliteDatabase } from './database.js'
import { operationsOf, revealProductionKey } from './operations.js'
import { OPERATOR_HASH } from './operator.js'
import { createDatabase, isOnPostgres, isSkipped } from './postgres.js'
import { withSharedEngine } from './shared-engine.js'
import { outboxOf, webhooksOf } from './webhooks.js'

export interface TestTenant {
  id: string
  name: string
  sandboxKey: string
  secret: { id: string; secret: string }
  sandbox: ApiClient
  /** Its row as it is now. */
  record(): Promise<TenantRecord>
  /** The entries of its audit log, oldest first. @param event only those of this event */
  audit(event?: string): Promise<AnyObject[]>
  /** An endpoint for these webhooks, or for all. Nobody listens there: a delivery that was tried stays in the outbox with its body. */
  subscribe(environment: Environment, ...events: string[]): Promise<void>
  /** The webhooks that were put, oldest first. @param type only those whose type begins so */
  told(type?: string): Promise<AnyObject[]>
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into entries and bodies freely
type AnyObject = any

export interface TestService {
  readonly service: Service
  /** All operations on the installation, as its command line has them. */
  readonly operations: ReturnType<typeof operationsOf>
  clock: ManualClock
  dataDir: string
  readonly database: ServiceDatabase
  /** Everything logged so far, one JSON document a line. */
  logText(): string
  /** A new tenant, with a client for its sandbox key. */
  tenant(contract?: {
    ratePerSecond?: number
    fmr?: number
    replaceVerdictMinutes?: number
  }): Promise<TestTenant>
  /** A client with a production key of the tenant, issued and revealed if need be. */
  production(tenant: Pick<TestTenant, 'id'> & Partial<TestTenant>): Promise<ApiClient & { key: string }>
  /** A client without any key. */
  anonymous(environment: 'production' | 'sandbox'): ApiClient
  /** Stops the service and starts another on the same data, at other addresses: clients from before reach nobody. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** Settings with which the hosted page is served, and the sandbox is as quick as a test asks. */
export const WITH_PAGE = {
  COUNTERSIGN_CAPTURE_LISTEN: '127.0.0.1:0',
  COUNTERSIGN_SANDBOX_RATE_LIMIT: '1000/s',
}
/** The same on a busy machine, which needs a long time for twenty frames. */
export const WITH_PATIENT_PAGE = { ...WITH_PAGE, COUNTERSIGN_DEADLINE_MS: '60000' }
/** The OpenID provider as well. */
export const WITH_OPENID = { ...WITH_PAGE, COUNTERSIGN_OPENID_LISTEN: '127.0.0.1:0' }

/** A service for the tests of a whole file, which waits for it at its top: it stops after the last of them. @param start its settings, or its start */
export async function serviceOfFile(
  start: Record<string, string> | (() => Promise<TestService>) = {},
  options?: Parameters<typeof startService>[1],
): Promise<TestService> {
  if (isSkipped()) return NOBODY
  const running = await (typeof start === 'function' ? start() : startService(start, options))
  afterAll(() => running.stop())
  return running
}

/** A service for the rest of a test, which is over when the test is. */
export async function serviceOfTest(...parameters: Parameters<typeof startService>): Promise<TestService> {
  const running = await startService(...parameters)
  onTestFinished(() => running.stop())
  return running
}

/** Stands for a service where the tests of the file show as skipped: asked for anything, it answers with itself. */
const NOBODY: TestService = new Proxy(() => {}, {
  get: (_, name) => (name === 'then' ? undefined : NOBODY),
  apply: () => NOBODY,
}) as never

/**
 * @param ownEngine the engine's process is not the one that this worker's other services have
 * @param clock by default it stands still at the time of the start
 * @param features by default all of them
 * @param signal ends a start
 */
export async function startService(
  env: Record<string, string> = {},
  {
    ownEngine = false,
    clock = new ManualClock(),
    features,
    signal,
  }: {
    ownEngine?: boolean
    clock?: ManualClock
    features?: readonly ListedFeature[]
    signal?: AbortSignal
  } = {},
): Promise<TestService> {
  const dataDir = await mkdtemp(join(tmpdir(), 'countersign-test-'))
  const postgres = isOnPostgres() ? await createDatabase() : null
  const config = loadConfig(
    {
      COUNTERSIGN_DATA_DIR: dataDir,
      ...(postgres ? { COUNTERSIGN_DATABASE: postgres.url } : {}),
      COUNTERSIGN_MODELS_DIR: inject('modelsDir'),
      COUNTERSIGN_ACCEPT_PACK: 'baseline',
      COUNTERSIGN_PRODUCTION_LISTEN: '127.0.0.1:0',
      COUNTERSIGN_SANDBOX_LISTEN: '127.0.0.1:0',
      COUNTERSIGN_ADMIN_LISTEN: '127.0.0.1:0',
      COUNTERSIGN_WORKERS: '1',
      // Many tests send one photo often; `replays.test.ts` holds the default.
      COUNTERSIGN_REPLAY_POLICY: 'report',
      ...(env.COUNTERSIGN_OPERATOR_PASSWORD_FILE ? {} : { COUNTERSIGN_OPERATOR_PASSWORD: OPERATOR_HASH }),
      ...env,
    },
    features,
  )

  const lines: string[] = []
  const log = pino({ level: 'trace', base: null }, { write: (line: string) => void lines.push(line) })
  const start = () =>
    Service.start(config, { clock, log, ...(features && { features }), ...(signal && { signal }) })
  const boot = () => (ownEngine ? start() : withSharedEngine(start))
  let service = await boot()
  let count = 0
  return {
    get service() {
      return service
    },
    get operations() {
      return operationsOf(service)
    },
    clock,
    dataDir,
    database: postgres ? postgresDatabase(postgres) : sqliteDatabase(dataDir),
    logText: () => lines.join(''),
    async tenant(contract = { ratePerSecond: 1000 }) {
      const created = await service.core.tenancy.create(`tenant-${++count}`, contract)
      const { id, secret } = created.signingSecret
      return {
        id: created.tenant.id,
        name: created.tenant.name,
        sandboxKey: created.sandboxKey,
        secret: { id, secret },
        sandbox: apiClient(service.url('sandbox'), created.sandboxKey),
        ...viewsOf(() => service, created.tenant.id),
      }
    },
    async production(tenant) {
      const record = await service.core.tenancy.find(tenant.id)
      const key = await revealProductionKey(service.core, record, clock.now())
      return { ...apiClient(service.url('production'), key), key }
    },
    anonymous: (environment) => apiClient(service.url(environment)),
    async restart() {
      await service.stop()
      service = await boot()
    },
    async stop() {
      await service.stop()
      await postgres?.drop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** A tenant as the service's own code knows it. */
function viewsOf(
  running: () => Service,
  id: string,
): Pick<TestTenant, 'record' | 'audit' | 'subscribe' | 'told'> {
  const record = () => running().core.tenancy.find(id)
  return {
    record,
    async audit(event) {
      const entries = await running().core.store.read.auditEntries(id, 0, 10_000)
      const parsed: AnyObject[] = entries.map(({ entry }) => JSON.parse(entry))
      return parsed.filter((entry) => event === undefined || entry.event === event)
    },
    async subscribe(environment, ...events) {
      const endpoint = { url: 'http://127.0.0.1:9/', environment, events: events as never }
      await webhooksOf(running()).add(await record(), COMMAND_LINE, endpoint)
    },
    async told(type = '') {
      const { store } = running().core
      const deliveries = (await store.read.statements(webhookReader).deliveriesOf(id, 1000)).reverse()
      const wanted = deliveries.filter((delivery) => delivery.type.startsWith(type))
      const bodies = await Promise.all(
        wanted.map((delivery) => outboxOf(running()).body(store.read, delivery)),
      )
      return wanted.map(({ type }, i) =>
        JSON.parse(bodies[i]?.toString() ?? JSON.stringify({ type, data: null })),
      )
    },
  }
}
