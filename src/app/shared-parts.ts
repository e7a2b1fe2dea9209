/** The parts that the APIs of both environments, the dashboard and the listeners of features share. */
import type { Logger } from 'pino'
import type { Core } from '../admin/core.js'
import type { Engine } from '../biometrics/engine/engine.js'
import type { Config } from '../config/config.js'
import type { Feature } from '../features/feature.js'
import { descriptionsWith, documentOperationsOf, sentBy } from '../features/feature-parts.js'
import { WrongKeys } from '../http/authentication/wrong-keys.js'
import { ClientAddresses } from '../http/listeners/client-address.js'
import type { Transport } from '../http/listeners/transport.js'
import { VisitorLimit } from '../http/listeners/visitor-limit.js'
import { buildOpenApi } from '../http/openapi/openapi.js'
import { Idempotency } from '../idempotency/idempotency.js'
import type { Clock } from '../lib/clock.js'
import { VERSION } from '../lib/version.js'
import { LocalRateLimiter, type RateLimiter } from '../tenants/rate-limiter.js'
import { SharedRateLimiter } from '../tenants/shared-rate-limiter.js'
import { EngineProvider } from '../verification/engine-provider.js'
import type { ServiceListeners } from './listeners.js'
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
  /** The OpenAPI document as JSON text, with the addresses at which the APIs really listen. */
  openApi: () => string
  version: string
  transport: Transport
}

export function createSharedParts(
  { config, clock, log, core, engine, transport, features }: ServiceResources,
  listeners: ServiceListeners,
): SharedParts {
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
    openApi: openApiText(features, listeners),
    version: VERSION,
    transport,
  }
}

/** Tenants and each kind of stranger get a limiter of their own, so that none can drive the buckets of another out of memory. */
export function createRateLimiter({ store }: Pick<Core, 'store'>, clock: Clock): RateLimiter {
  const { coordinator } = store
  return coordinator ? new SharedRateLimiter(coordinator, clock) : new LocalRateLimiter(clock)
}

/** Builds the text when it is first asked for: only then are the ports of the APIs known. */
function openApiText(features: readonly Feature[], listeners: ServiceListeners): () => string {
  let text: string | null = null
  return () => {
    text ??= JSON.stringify(
      buildOpenApi(
        descriptionsWith(features),
        VERSION,
        sentBy(features),
        { production: listeners.url('production'), sandbox: listeners.url('sandbox') },
        documentOperationsOf(features),
      ),
    )
    return text
  }
}
