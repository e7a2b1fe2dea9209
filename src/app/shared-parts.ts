/** The parts that the APIs of both environments, the dashboard and the listeners of features share. */
import type { Logger } from 'pino'
import type { Core } from '../admin/core.js'
import type { Engine } from '../biometrics/engine/engine.js'
import type { Config } from '../config/config.js'
import { WrongKeys } from '../http/authentication/wrong-keys.js'
import { ClientAddresses } from '../http/listeners/client-address.js'
import type { Transport } from '../http/listeners/transport.js'
import { VisitorLimit } from '../http/listeners/visitor-limit.js'
import { Idempotency } from '../idempotency/idempotency.js'
import type { Clock } from '../lib/clock.js'
import { VERSION } from '../lib/version.js'
import { LocalRateLimiter, type RateLimiter } from '../tenants/rate-limiter.js'
import { SharedRateLimiter } from '../tenants/shared-rate-limiter.js'
import { EngineProvider } from '../verification/engine-provider.js'
import type { ServiceResources } from './resources.js'

export interface SharedParts extends Core {
  config: Config
  clock: Clock
  log: Logger
  engine: Engine
  provider: EngineProvider
  rateLimiter: RateLimiter
  wrongKeys: WrongKeys
  addresses: ClientAddresses
  visitors: VisitorLimit
  idempotency: Idempotency
  version: string
  transport: Transport
}

export function createSharedParts({
  config,
  clock,
  log,
  core,
  engine,
  transport,
}: ServiceResources): SharedParts {
  const { store, keys, vault } = core
  const addresses = new ClientAddresses(config.trustedProxies)
  return {
    ...core,
    config,
    clock,
    log,
    engine,
    provider: new EngineProvider(engine),
    rateLimiter: createRateLimiter(core, clock),
    wrongKeys: new WrongKeys(config.wrongKeyLimit, createRateLimiter(core, clock)),
    addresses,
    visitors: new VisitorLimit(config.visitorLimit, addresses, clock),
    idempotency: new Idempotency(store, vault, keys, clock),
    version: VERSION,
    transport,
  }
}

/** Tenants and each kind of stranger get a limiter of their own, so that none can drive the buckets of another out of memory. */
export function createRateLimiter({ store }: Pick<Core, 'store'>, clock: Clock): RateLimiter {
  const { coordinator } = store
  return coordinator ? new SharedRateLimiter(coordinator, clock) : new LocalRateLimiter(clock)
}
