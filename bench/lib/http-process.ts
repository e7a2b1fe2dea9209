/**
 * Serves /v1/health with everything that belongs to it (authentication, rate limit, signature, log, metrics,
 * database) in a process of its own, behind one of two HTTP servers. There is no engine: both servers report the same
 * made-up state.
 */
import { join } from 'node:path'
import { pino } from 'pino'
import type { Core } from '../../src/admin/core.js'
import type { Endpoint } from '../../src/api/endpoint.js'
import { type HealthParts, health } from '../../src/api/endpoints/health.js'
import { loadConfig } from '../../src/app/configuration.js'
import { openCore } from '../../src/app/core.js'
import type { EngineHealth } from '../../src/biometrics/types.js'
import type { Config } from '../../src/config/config.js'
import { ApiServer } from '../../src/http/api-server.js'
import { WrongKeys } from '../../src/http/authentication/wrong-keys.js'
import { BodyBudget } from '../../src/http/bodies/body-budget.js'
import { ClientAddresses } from '../../src/http/listeners/client-address.js'
import { listenerBounds } from '../../src/http/listeners/listener-bounds.js'
import { listen, type TransportName } from '../../src/http/listeners/transport.js'
import { Metrics } from '../../src/http/metrics/metrics.js'
import { Idempotency } from '../../src/idempotency/idempotency.js'
import { systemClock } from '../../src/lib/clock.js'
import { VERSION } from '../../src/lib/version.js'
import { LocalRateLimiter } from '../../src/tenants/rate-limiter.js'
import { serveOrders } from './helper-process.js'
import type { HttpOrder, HttpResult } from './http-orders.js'

const ENGINE: EngineHealth = {
  status: 'ok',
  workers: { ready: 2, configured: 2 },
  isSilent: false,
  queue: { waiting: 0, running: 0, limit: 64 },
  provider: { active: 'cpu', fallbacks: [] },
  isAcceleratorLost: false,
  model: 'none@0.0.0',
  following: [],
  processId: undefined,
}
/** Rate limit that never refuses: the rate limiter runs. */
const RATE_LIMIT = '1000000/s'
const PATIENCE_MS = 1000

let serving: { origin: string; key: string; close: () => Promise<void> } | undefined

async function perform(order: HttpOrder): Promise<HttpResult> {
  if (order.type === 'listen') serving = await serve(order)
  const { origin, key } = serving!
  const { user, system } = process.cpuUsage()
  return { origin, key, cpuMs: (user + system) / 1000 }
}

async function serve({ transport, dataDir }: Extract<HttpOrder, { type: 'listen' }>) {
  const config = loadConfig({ COUNTERSIGN_DATA_DIR: dataDir, COUNTERSIGN_SANDBOX_RATE_LIMIT: RATE_LIMIT })
  const core = await openCore(config)
  const { sandboxKey: key } = await core.tenancy.create('bench')
  const listener = await listen(
    {
      address: { host: '127.0.0.1', port: 0 },
      ...listenerBounds(config),
      bodies: new BodyBudget(config.bodyMemoryBytes).quota(1),
      handler: apiServer(config, core, transport).handle,
    },
    { name: transport },
  )
  return {
    origin: `http://127.0.0.1:${listener.address.port}`,
    key,
    close: async () => {
      await listener.close(PATIENCE_MS)
      await core.store.close()
    },
  }
}

/** Composes the server as the service does, with health as the only endpoint. */
function apiServer(
  config: Config,
  { store, keys, tenancy, audit, vault }: Core,
  name: TransportName,
): ApiServer {
  const clock = systemClock
  const services: HealthParts = {
    config,
    store,
    engineHealth: () => ENGINE,
    provider: { operatingPoint: (fmr) => ({ threshold: 0, fmr, basis: 'measured', grade: 'evaluation' }) },
    version: VERSION,
    transport: { name, reason: 'configured' },
  }
  return new ApiServer({
    environment: 'sandbox',
    urlOf: () => 'http://127.0.0.1:8081/v1',
    endpoints: [health(services) as Endpoint<unknown>],
    documents: [],
    clock,
    config,
    store,
    tenancy,
    rateLimiter: new LocalRateLimiter(clock),
    wrongKeys: new WrongKeys(config.wrongKeyLimit, new LocalRateLimiter(clock)),
    addresses: new ClientAddresses(config.trustedProxies),
    idempotency: new Idempotency(store, vault, keys, clock),
    audit,
    vault,
    instanceSecret: { id: 'instance', secret: keys.instance.toString('hex') },
    log: pino(
      { level: config.logLevel, base: null },
      pino.destination({ dest: join(config.dataDir, 'service.log'), sync: false }),
    ),
    observe: new Metrics(0).observe,
    beginTrace: undefined,
    isSaturated: () => false,
    isInStep: () => true,
    sandboxLimits: null,
  })
}

serveOrders(perform, async () => serving?.close())
