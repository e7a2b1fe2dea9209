/** Puts a handler behind each configured address: the APIs, the admin listener, the metrics and the listeners of features. */
import { adminHosts, type Environment } from '../config/config.js'
import type { AdminHost, ListenHost } from '../features/feature.js'
import { adminHandler, metricsHandler } from '../http/admin/admin-server.js'
import { HostGuard } from '../http/admin/host-guard.js'
import type { ApiServer } from '../http/api-server.js'
import { BodyBudget, type BodyQuota } from '../http/bodies/body-budget.js'
import { MAX_BROWSER_HEAD_BYTES } from '../http/listeners/framing.js'
import type { Listener } from '../http/listeners/listener.js'
import type { TlsFiles } from '../http/listeners/tls-files.js'
import type { Readiness } from '../http/readiness.js'
import { ERRORS_PATH } from '../http/routing/routes.js'
import { type BackgroundWork, ofAll } from './background-work.js'
import type { ServiceListeners } from './listeners.js'
import { type Certificates, tlsFiles } from './reload.js'
import type { ServiceResources } from './resources.js'
import { createRateLimiter, type SharedParts } from './shared-parts.js'

/** Sandbox, admin listener and features together may use at most half of the memory for request bodies. */
const LESSER_PART = 0.5

export interface ListeningParts {
  resources: ServiceResources
  work: BackgroundWork
  listeners: ServiceListeners
  shared: SharedParts
  servers: Record<Environment, ApiServer>
  certificates: Certificates
  readiness: Readiness
  /** Milliseconds since the Unix epoch. */
  startedAt: number
}

/**
 * Opens the APIs first, then the admin listener, the metrics listener and those of features.
 * @throws AddressError, ListenError; what was opened before stays open for the caller to close
 */
export async function openListeners(parts: ListeningParts): Promise<void> {
  const { resources, listeners, servers, certificates } = parts
  const { config, metrics } = resources
  const bodies = new BodyBudget(config.bodyMemoryBytes)
  metrics.watchBodies(bodies)
  const lesser = bodies.quota(LESSER_PART)
  const tls = tlsFiles(config, 'api')
  const production = await listeners.open('production', config.productionListen, {
    bodies: bodies.quota(1),
    tls,
    clientCertificates: config.productionClientCertificates,
    handler: servers.production.handle,
  })
  const sandbox = await listeners.open('sandbox', config.sandboxListen, {
    bodies: lesser,
    tls,
    clientCertificates: config.sandboxClientCertificates,
    handler: servers.sandbox.handle,
  })
  const adminTls = tlsFiles(config, 'admin')
  const admin = await openAdmin(parts, lesser, adminTls)
  await openListenersOfFeatures(parts, lesser)
  certificates.add('api', [production, sandbox], tls)
  certificates.add('admin', admin, adminTls)
}

/** @returns the admin listener and, where metrics have an address of their own, theirs */
async function openAdmin(
  parts: ListeningParts,
  bodies: BodyQuota,
  tls: TlsFiles | undefined,
): Promise<Listener[]> {
  const { resources, work, listeners, readiness } = parts
  const { config, clock, log, metrics } = resources
  const { adminListen, metricsListen } = config
  const shown = ofAll(work.features, 'admin').map((partOf) => partOf(adminHost(parts)))
  const explainsErrors = shown.some(({ pages }) => pages.has(ERRORS_PATH))
  const hosts = new HostGuard(adminHosts(config), clock, metrics.countDashboardRefusal, () =>
    explainsErrors ? listeners.adminUrl + ERRORS_PATH : undefined,
  )
  const handler = adminHandler({
    shown,
    metrics: metricsListen ? null : metrics,
    hosts,
    readiness,
    nodes: () => work.membership.nodes,
    log,
  })
  const maxHeadBytes = MAX_BROWSER_HEAD_BYTES
  const admin = await listeners.open('admin', adminListen, { bodies, tls, maxHeadBytes, handler })
  if (!metricsListen) return [admin]
  const metricsOptions = { bodies, tls, handler: metricsHandler(metrics, hosts, log) }
  return [admin, await listeners.open('metrics', metricsListen, metricsOptions)]
}

function adminHost({
  resources,
  work,
  listeners,
  shared,
  servers,
  certificates,
  startedAt,
}: ListeningParts): AdminHost {
  return {
    apis: { production: servers.production.handle, sandbox: servers.sandbox.handle },
    addresses: shared.addresses,
    newLimiter: () => createRateLimiter(shared, shared.clock),
    rateLimiter: shared.rateLimiter,
    operatingPoint: (fmr) => shared.provider.operatingPoint(fmr),
    urls: () => ({ ...listeners.urls(), admin: listeners.adminUrl }),
    certificates: () => certificates.expiries(),
    startedAt,
    routes: Object.assign({}, ...ofAll(work.features, 'console')),
    operatorRoutes: Object.assign({}, ...ofAll(work.features, 'operatorConsole')),
    statuses: Object.assign({}, ...resources.features.map(({ statuses }) => statuses)),
  }
}

/** Opens the listeners of features. @param bodies the part of the memory for bodies that they may use */
async function openListenersOfFeatures(parts: ListeningParts, bodies: BodyQuota): Promise<void> {
  const { resources, work, listeners, shared, servers, certificates } = parts
  const { config } = resources
  const host: ListenHost = {
    apis: { production: servers.production.handle, sandbox: servers.sandbox.handle },
    addresses: shared.addresses,
    visitors: shared.visitors,
    newLimiter: () => createRateLimiter(shared, shared.clock),
    async open(name, options) {
      const address = config[`${name}Listen`]
      if (!address) return
      const tls = tlsFiles(config, name)
      certificates.add(name, [await listeners.open(name, address, { ...options, bodies, tls })], tls)
    },
    origin: (name) => listeners.origin(name)!,
  }
  for (const listen of ofAll(work.features, 'listen')) await listen(host)
}
