/** The API server of each environment: real verdicts in production, scripted ones in the sandbox. */
import { dirname } from 'node:path'
import type { Core } from '../admin/core.js'
import { NO_AUDIT_PAGES, StoredAuditPages } from '../api/audit-pages.js'
import type { Endpoint } from '../api/endpoint.js'
import type { Services } from '../api/services.js'
import { type Environment, isPostgres, sqliteFile } from '../config/config.js'
import { partsOf } from '../features/feature-parts.js'
import { ApiServer } from '../http/api-server.js'
import { coreEndpoints } from '../http/routing/routes.js'
import { SandboxLimits } from '../http/sandbox-limits.js'
import { auditBreak } from '../jobs/audit-verification.js'
import { DAY_MS } from '../lib/clock.js'
import { StoredCaptures } from '../verification/capture/capture-memory.js'
import { AttemptLockout, defaultAttempts } from '../verification/lockout/attempt-lockout.js'
import { NO_KEY_ISSUE, SANDBOX_KEY_ISSUE } from '../verification/sandbox/production-key.js'
import { refuseScripted } from '../verification/sandbox/sandbox-outcomes.js'
import { SANDBOX_CAPTURES, SANDBOX_LOCKOUT, sandboxLifetime } from '../verification/sandbox/sandbox-parts.js'
import { SandboxProvider } from '../verification/sandbox/sandbox-provider.js'
import { SandboxUsers, UNLIMITED_USERS } from '../verification/sandbox/user-quota.js'
import { verdictLifetime } from '../verification/verdict-token.js'
import { AuditedVerifications, SandboxVerifications } from '../verification/verification-book.js'
import { type BackgroundWork, ofAll } from './background-work.js'
import type { ServiceListeners } from './listeners.js'
import type { ServiceResources } from './resources.js'
import type { SharedParts } from './shared-parts.js'

export function createApiServer(
  environment: Environment,
  { core, metrics, features: offered }: ServiceResources,
  { features, keyWatch, membership }: BackgroundWork,
  listeners: ServiceListeners,
  parts: SharedParts,
): ApiServer {
  const { config, engine, keys } = parts
  const isSandbox = environment === 'sandbox'
  const services: Services = {
    ...parts,
    environment,
    ...(isSandbox ? sandboxParts(parts) : productionParts(core, parts)),
    watchers: isSandbox ? [] : ofAll(features, 'watch'),
    urls: listeners.urls,
    issuer: () => listeners.url(environment),
    engineHealth: () => engine.health(),
    origin: (listener) => listeners.origin(listener),
  }
  const endpoints = [
    ...coreEndpoints(services, partsOf(offered)),
    ...ofAll(features, 'endpoints').flatMap((endpointsOf) => endpointsOf(services)),
  ] as Array<Endpoint<unknown>>
  const observers = ofAll(features, 'observe')
  return new ApiServer({
    ...parts,
    environment,
    urlOf: (one) => listeners.url(one),
    documents: ofAll(features, 'documents').flatMap((documentsOf) => documentsOf(services)),
    // The router hands each only input that its own schema has passed.
    endpoints: isSandbox ? endpoints.map(scripted) : endpoints,
    instanceSecret: { id: 'instance', secret: keys.instance.toString('hex') },
    observe: (observation) => {
      metrics.observe(observation)
      for (const observe of observers) observe(observation)
    },
    beginTrace: ofAll(features, 'trace')[0],
    isSaturated: (schedulingClass) => engine.isSaturatedFor(schedulingClass),
    isInStep: () => keyWatch.isCurrent && membership.isCurrent,
    sandboxLimits: isSandbox
      ? new SandboxLimits({ ...parts, folder: isPostgres(config) ? null : dirname(sqliteFile(config)) })
      : null,
  })
}

/**
 * Refuses the calls of the sandbox whose user id ends in an outcome that needs nothing else of the request. Where an endpoint uses the engine, `SandboxProvider` refuses, after the request is
 * checked.
 */
function scripted(endpoint: Endpoint<unknown>): Endpoint<unknown> {
  if (endpoint.usesEngine) return endpoint
  return {
    ...endpoint,
    async handle(call) {
      const { user_id } = (call.input ?? {}) as { user_id?: string }
      if (user_id !== undefined) refuseScripted(user_id)
      return endpoint.handle(call)
    },
  }
}

/** The parts in which production and sandbox differ. */
type EnvironmentParts = Pick<
  Services,
  | 'provider'
  | 'lockout'
  | 'captures'
  | 'userQuota'
  | 'verdictLifetime'
  | 'productionKeyIssue'
  | 'verifications'
  | 'auditPages'
>

function productionParts(core: Core, { config, clock, provider }: SharedParts): EnvironmentParts {
  const { store, vault } = core
  const attempts = config.lockoutAttempts ?? defaultAttempts(provider.passiveLiveness !== null)
  const isSameCapture = (model: string, a: Float32Array, b: Float32Array) =>
    (provider.forModel(model) ?? provider).isSameCapture(a, b)
  return {
    provider,
    lockout: new AttemptLockout(attempts),
    captures: new StoredCaptures({ store, vault, clock, isSameCapture }),
    userQuota: UNLIMITED_USERS,
    verdictLifetime: verdictLifetime(config.jwtTtlSeconds),
    productionKeyIssue: NO_KEY_ISSUE,
    verifications: new AuditedVerifications(store, vault),
    auditPages: new StoredAuditPages(store.read, (tenantId) => auditBreak(core, tenantId)),
  }
}

function sandboxParts({ config, engine, provider, clock, store }: SharedParts): EnvironmentParts {
  return {
    provider: new SandboxProvider(engine, provider, clock),
    lockout: SANDBOX_LOCKOUT,
    captures: SANDBOX_CAPTURES,
    userQuota: new SandboxUsers(clock, config.sandboxUsers),
    verdictLifetime: sandboxLifetime(config.jwtTtlSeconds),
    productionKeyIssue: SANDBOX_KEY_ISSUE,
    verifications: new SandboxVerifications(store, clock, config.sandboxRetentionDays * DAY_MS),
    auditPages: NO_AUDIT_PAGES,
  }
}
