/** Several real services over one PostgreSQL database, each with a data folder of its own, as on machines of their own. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { inject } from 'vitest'
import { loadConfig } from '../../src/app/configuration.js'
import { Service } from '../../src/app/service.js'
import type { Config } from '../../src/config/config.js'
import { apiClient } from '../support/client.js'
import { revealProductionKey } from '../support/operations.js'
import { createDatabase, type TestDatabase } from '../support/postgres.js'
import { withSharedEngine } from '../support/shared-engine.js'

export interface Cluster {
  database: TestDatabase
  masterKey: Buffer
  nodes: Service[]
  /** One more. */
  start(env?: Record<string, string>): Promise<Service>
  /** Configuration of another service or of a command. */
  configure(env?: Record<string, string>): Promise<Config>
  logText(): string
  stop(): Promise<void>
}

/** Behind a load balancer they are all reached by the same addresses: `env` says which. */
export async function startCluster(count: number, env: Record<string, string> = {}): Promise<Cluster> {
  const database = await createDatabase()
  const masterKey = randomBytes(32)
  const folders: string[] = []
  const lines: string[] = []
  const log = pino({ level: 'debug', base: null }, { write: (line: string) => void lines.push(line) })
  const nodes: Service[] = []
  const cluster: Cluster = {
    database,
    masterKey,
    nodes,
    logText: () => lines.join(''),
    async configure(more = {}) {
      const folder = await mkdtemp(join(tmpdir(), 'countersign-node-'))
      folders.push(folder)
      return loadConfig({
        COUNTERSIGN_DATA_DIR: folder,
        COUNTERSIGN_DATABASE: database.url,
        COUNTERSIGN_MASTER_KEY: masterKey.toString('base64'),
        COUNTERSIGN_MODELS_DIR: inject('modelsDir'),
        COUNTERSIGN_ACCEPT_PACK: 'baseline',
        COUNTERSIGN_PRODUCTION_LISTEN: '127.0.0.1:0',
        COUNTERSIGN_SANDBOX_LISTEN: '127.0.0.1:0',
        COUNTERSIGN_ADMIN_LISTEN: '127.0.0.1:0',
        COUNTERSIGN_WORKERS: '1',
        COUNTERSIGN_REPLAY_POLICY: 'report',
        ...env,
        ...more,
      })
    },
    async start(more) {
      const config = await cluster.configure(more)
      const node = await withSharedEngine(() => Service.start(config, { log }))
      nodes.push(node)
      return node
    },
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()))
      await database.drop()
      for (const folder of folders) await rm(folder, { recursive: true, force: true })
    },
  }
  try {
    for (let i = 0; i < count; i++) await cluster.start()
    return cluster
  } catch (error) {
    await cluster.stop()
    throw error
  }
}

export interface ClusterTenant {
  id: string
  name: string
  /** The production key. */
  key: string
  sandboxKey: string
  /** One client for each node, all with the same production key. */
  production: Array<ReturnType<typeof apiClient>>
  sandbox: Array<ReturnType<typeof apiClient>>
}

let tenants = 0

export async function makeTenant({ nodes }: Cluster): Promise<ClusterTenant> {
  const { core } = nodes[0]!
  const { tenant, sandboxKey } = await core.tenancy.create(`tenant-${++tenants}`, { ratePerSecond: 1000 })
  const key = await revealProductionKey(core, tenant)
  return {
    id: tenant.id,
    name: tenant.name,
    key,
    sandboxKey,
    production: nodes.map((node) => apiClient(node.url('production'), key)),
    sandbox: nodes.map((node) => apiClient(node.url('sandbox'), sandboxKey)),
  }
}
