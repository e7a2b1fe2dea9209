/** The API server of each environment: real verdicts in production, scripted ones in the sandbox. */
import { dirname } from 'node:path'
import { scripted } from '../api/scripted-endpoint.js'
import type { Services } from '../api/services.js'
import { type Environment, isPostgres, sqliteFile } from '../config/config.js'
import { ApiServer } from '../http/api-server.js'
import { endpoints } from '../http/routes.js'
import { SandboxLimits } from '../http/sandbox-limits.js'
import { auditBreak } from '../jobs/audit-verification.js'
import { AttemptLockout, defaultAttempts, NO_LOCKOUT } from '../verification/attempt-lockout.js'
import { NO_CAPTURES, StoredCaptures } from '../verification/capture-memory.js'
import { SandboxProvider } from '../verification/sandbox-provider.js'
import { SandboxUsers } from '../verification/sandbox-users.js'
import type { BackgroundWork } from './background-work.js'
import type { ServiceListeners } from './listeners.js'
import type { ServiceResources } from './resources.js'
import type { SharedParts } from './shared-parts.js'

export function createApiServer(
  environment: Environment,
  { core, metrics, tracing }: ServiceResources,
  { keyWatch, membership, traffic, requestLog }: BackgroundWork,
  listeners: ServiceListeners,
  parts: SharedParts,
): ApiServer {
  const { engine, keys } = parts
  const isSandbox = environment === 'sandbox'
  const environmentEndpoints = endpoints({
    ...parts,
    ...(isSandbox ? sandboxDecisionParts(parts) : productionDecisionParts(parts)),
    issuer: () => listeners.url(environment),
    engineHealth: () => engine.health(),
    capturePage: () => listeners.captureOrigin,
    auditBreak: (tenantId) => auditBreak(core, tenantId),
    sandboxUsers: new SandboxUsers(parts.clock, parts.config.sandboxUsers),
  })
  return new ApiServer({
    ...parts,
    environment,
    urlOf: (one) => listeners.url(one),
    endpoints: isSandbox ? environmentEndpoints.map(scripted) : environmentEndpoints,
    instanceSecret: { id: 'instance', secret: keys.instance.toString('hex') },
    observe: (observation) => {
      metrics.observe(observation)
      traffic.observe(observation)
      requestLog.observe(observation)
    },
    tracing,
    isSaturated: (share) => engine.isSaturatedFor(share),
    isInStep: () => keyWatch.isCurrent && membership.isCurrent,
    sandboxLimits: isSandbox ? createSandboxLimits(parts) : null,
  })
}

function createSandboxLimits(parts: SharedParts): SandboxLimits {
  const { config } = parts
  return new SandboxLimits({
    ...parts,
    folder: isPostgres(config) ? null : dirname(sqliteFile(config)),
  })
}

/** The parts that reach a verdict. */
type DecisionParts = Pick<Services, 'provider' | 'lockout' | 'captures'>

function productionDecisionParts({ config, store, vault, clock, provider }: SharedParts): DecisionParts {
  const attempts = config.lockoutAttempts ?? defaultAttempts(provider.passiveLiveness !== null)
  const { isSameCapture } = provider
  return {
    provider,
    lockout: new AttemptLockout(attempts),
    captures: new StoredCaptures({ store, vault, clock, isSameCapture }),
  }
}

/** The sandbox's verdicts are made up: they say nothing of a person, so neither lockout nor replays are judged on them. */
function sandboxDecisionParts({ engine, provider, clock }: SharedParts): DecisionParts {
  return {
    provider: new SandboxProvider(engine, provider, clock),
    lockout: NO_LOCKOUT,
    captures: NO_CAPTURES,
  }
}
