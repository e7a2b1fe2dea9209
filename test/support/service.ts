/**
 * Boots the real service in this process: real listeners on free ports, a real database, real models, a clock that tests move. The
 * database is SQLite, and PostgreSQL in the project of that name.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { inject } from 'vitest'
import { loadConfig } from '../../src/app/configuration.js'
import { Service } from '../../src/app/service.js'
import type { ListedFeature } from '../../src/features/feature.js'
import { ManualClock } from '../../src/lib/clock.js'
import { type ApiClient, apiClient } from './client.js'
import { postgresDatabase, type ServiceDatabase, sqliteDatabase } from './database.js'
import { OPERATOR_HASH } from './operator.js'
import { createDatabase, isOnPostgres } from './postgres.js'
import { withSharedEngine } from './shared-engine.js'

export interface TestTenant {
  id: string
  name: string
  sandboxKey: string
  secret: { id: string; secret: string }
  sandbox: ApiClient
}

export interface TestService {
  readonly service: Service
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
  production(tenant: TestTenant): Promise<ApiClient & { key: string }>
  /** A client without any key. */
  anonymous(environment: 'production' | 'sandbox'): ApiClient
  /** Stops the service and starts another on the same data, at other addresses: clients from before reach nobody. */
  restart(): Promise<void>
  stop(): Promise<void>
}

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
      }
    },
    async production(tenant) {
      const { store, tenancy } = service.core
      const record = await tenancy.find(tenant.id)
      const key = await store.transaction('installation', async (tx) => {
        await tx.setProductionIssued(tenant.id, clock.now())
        return tenancy.revealProductionKey(tx, record)
      })
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
