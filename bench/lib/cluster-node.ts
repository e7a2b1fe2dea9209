/** One node of a cluster: the real service in a process of its own, with a simulated engine. */

import { loadConfig } from '../../src/app/configuration.js'
import { createLog } from '../../src/app/log.js'
import { Service } from '../../src/app/service.js'
import type { NodeOrder, NodeResult } from './cluster-orders.js'
import { readCpuTimes } from './cpu-times.js'
import { serveOrders } from './helper-process.js'
import { ENGINE_MS_VARIABLE } from './simulated-engine.js'

/** Rate limit that never refuses: the rate limiter runs. */
const RATE_PER_SECOND = 100_000

let service: Service | undefined
let tenants = 0

async function perform(order: NodeOrder): Promise<NodeResult> {
  if (order.type === 'start') service = await start(order)
  const keys = order.type === 'tenants' ? await makeTenants(service!, order.count) : []
  const origin = new URL(service!.url('production')).origin
  return { origin, keys, mainThreadMs: readCpuTimes(process.pid)?.mainThread ?? null }
}

async function start(order: Extract<NodeOrder, { type: 'start' }>): Promise<Service> {
  process.env[ENGINE_MS_VARIABLE] = String(order.engineMs)
  // The engine process is started with the arguments of this process.
  process.execArgv.push('--import', new URL('./simulated-engine.js', import.meta.url).href)
  const config = loadConfig({
    COUNTERSIGN_DATA_DIR: order.dataDir,
    COUNTERSIGN_DATABASE: order.databaseUrl,
    COUNTERSIGN_MASTER_KEY: order.masterKey,
    COUNTERSIGN_MODEL_PACK: order.packDir,
    COUNTERSIGN_ACCEPT_PACK: order.packId,
    COUNTERSIGN_PRODUCTION_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_SANDBOX_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_ADMIN_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_WORKERS: String(order.workers),
    // The load sends one photo many times.
    COUNTERSIGN_REPLAY_POLICY: 'report',
  })
  return Service.start(config, { log: createLog(config) })
}

/** Creates tenants, each with a production key, without the sandbox call by which a customer gets it. */
async function makeTenants({ core }: Service, count: number): Promise<string[]> {
  const { store, tenancy } = core
  const keys: string[] = []
  while (keys.length < count) {
    const { tenant } = await tenancy.create(`bench-${process.pid}-${++tenants}`, {
      ratePerSecond: RATE_PER_SECOND,
    })
    const key = await store.transaction('installation', async (tx) => {
      await tx.setProductionIssued(tenant.id, Date.now())
      return tenancy.revealProductionKey(tx, tenant)
    })
    keys.push(key)
  }
  return keys
}

serveOrders(perform, async () => service?.stop())
