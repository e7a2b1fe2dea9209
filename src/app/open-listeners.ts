/** Puts a handler behind each configured address: the APIs, the dashboard, the metrics and the hosted capture page. */
import type { CaptureServer } from '../capture-page/capture-server.js'
import { UPLOAD_MS } from '../capture-page/upload-time.js'
import { adminHosts, type Environment } from '../config/config.js'
import { AdminApi } from '../dashboard/admin-api.js'
import { adminHandler, metricsHandler } from '../dashboard/admin-server.js'
import { HostGuard } from '../dashboard/host-guard.js'
import { sessionTimes } from '../dashboard/session-times.js'
import { Sessions } from '../dashboard/sessions.js'
import { SignIn } from '../dashboard/sign-in.js'
import type { ApiServer } from '../http/api-server.js'
import { BodyBudget, type BodyQuota } from '../http/bodies/body-budget.js'
import { InternalApi } from '../http/internal-api.js'
import { MAX_BROWSER_HEAD_BYTES } from '../http/listeners/framing.js'
import type { IncomingRequest, Listener } from '../http/listeners/listener.js'
import { listenerBounds } from '../http/listeners/listener-bounds.js'
import type { TlsFiles } from '../http/listeners/tls-files.js'
import type { Readiness } from '../http/readiness.js'
import { ERRORS_PATH } from '../http/routing/routes.js'
import { OpenIdKeys } from '../keys/openid-keys.js'
import type { BackgroundWork } from './background-work.js'
import type { ServiceListeners } from './listeners.js'
import { type Certificates, tlsFiles } from './reload.js'
import type { ServiceResources } from './resources.js'
import { createRateLimiter, type SharedParts } from './shared-parts.js'

/** Sandbox, dashboard and capture page together may use at most half of the memory for request bodies. */
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
 * Opens the APIs first, then the admin listener, the metrics listener and the capture page.
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
  await openCapturePage(parts, lesser)
  await openOpenId(parts, lesser)
  certificates.add('api', [production, sandbox], tls)
  certificates.add('admin', admin, adminTls)
}

/** @returns the admin listener and, where metrics have an address of their own, theirs */
async function openAdmin(
  parts: ListeningParts,
  bodies: BodyQuota,
  tls: TlsFiles | undefined,
): Promise<Listener[]> {
  const { resources, work, listeners, shared, servers, readiness } = parts
  const { config, clock, log, metrics } = resources
  const { adminListen, metricsListen } = config
  const { handle: api } = createAdminApi(parts)
  const hosts = new HostGuard(
    adminHosts(config),
    clock,
    metrics.countDashboardRefusal,
    () => listeners.adminUrl + ERRORS_PATH,
  )
  const handler = adminHandler({
    api,
    sandbox: servers.sandbox.handle,
    metrics: metricsListen ? null : metrics,
    openApi: shared.openApi,
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

function createAdminApi(parts: ListeningParts): AdminApi {
  const { resources, work, listeners, shared, servers, certificates, startedAt } = parts
  const { config, core, clock, metrics, operatorPassword } = resources
  const { signIns, secondFactors } = core.operations
  const common = {
    store: core.store,
    clock,
    operatorPassword,
    isPasswordSignIn: { operators: config.operatorPasswordSignIn, tenants: config.tenantPasswordSignIn },
    isSecondFactorRequired: config.operatorSecondFactor === 'required',
  }
  const isSecure = listeners.adminUrl.startsWith('https:')
  const sessions = new Sessions({ ...common, isSecure, times: sessionTimes(config) })
  return new AdminApi({
    ...shared,
    core,
    sessions,
    signIn: new SignIn(
      { ...common, signIns, secondFactors, attempts: createRateLimiter(core, clock) },
      sessions,
    ),
    apis: { production: servers.production.handle, sandbox: servers.sandbox.handle },
    urls: () => ({
      production: listeners.url('production'),
      sandbox: listeners.url('sandbox'),
      admin: listeners.adminUrl,
    }),
    certificates: () => certificates.expiries(),
    reloadKeys: () => work.keyWatch.look(),
    countEffect: metrics.countEffect,
    countRefusal: metrics.countDashboardRefusal,
    operatingPoint: (fmr) => shared.provider.operatingPoint(fmr),
    startedAt,
  })
}

/** Opens the hosted capture page, where an address for it is configured. Its code is loaded only then. */
async function openCapturePage(
  { resources, listeners, shared, servers, certificates }: ListeningParts,
  bodies: BodyQuota,
): Promise<void> {
  const { config } = resources
  const address = config.captureListen
  if (!address) return
  const { CaptureServer } = await import('../capture-page/capture-server.js')
  // Links to the page contain its port, so the page is made after its listener; nobody has a link before that.
  let page: CaptureServer | undefined
  const tls = tlsFiles(config, 'capture')
  const { limits } = listenerBounds(config)
  const listener = await listeners.open('capture', address, {
    bodies,
    tls,
    maxHeadBytes: MAX_BROWSER_HEAD_BYTES,
    limits: { ...limits, requestMs: limits.headMs + UPLOAD_MS },
    handler: (request) => page!.handle(request),
  })
  page = new CaptureServer({
    ...shared,
    apis: { production: servers.production.handle, sandbox: servers.sandbox.handle },
    origin: () => listeners.captureOrigin!,
  })
  certificates.add('capture', [listener], tls)
}

/** Opens the OpenID provider, where an address for it is configured. Its library is loaded only then. */
async function openOpenId(
  { resources, work, listeners, shared, servers, certificates }: ListeningParts,
  bodies: BodyQuota,
): Promise<void> {
  const { config } = resources
  const address = config.openidListen
  if (!address) return
  const { OpenIdServer } = await import('../openid/openid-server.js')
  const { Refusals } = await import('../openid/refusals.js')
  const { CallbackSender } = await import('../openid/keycloak/callback-sender.js')
  const apis = { production: servers.production.handle, sandbox: servers.sandbox.handle }
  const { clients } = shared.operations.openIdClients
  const refusals = new Refusals({ ...shared, clients, limiter: createRateLimiter(shared, shared.clock) })
  const parts = { ...shared, clients, refusals, calls: new InternalApi({ ...shared, apis }) }
  const server = new OpenIdServer({
    ...parts,
    openIdKeys: new OpenIdKeys(shared.store, shared.keys, shared.clock),
    origin: () => listeners.openidOrigin!,
  })
  work.openIdCallbacks = new CallbackSender(parts)
  const tls = tlsFiles(config, 'openid')
  const handler = (request: IncomingRequest) => server.handle(request)
  const listener = await listeners.open('openid', address, {
    bodies,
    tls,
    handler,
    maxHeadBytes: MAX_BROWSER_HEAD_BYTES,
  })
  certificates.add('openid', [listener], tls)
}
