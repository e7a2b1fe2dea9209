/** What the dashboard's routes work with; built by the composition root. */
import type { Logger } from 'pino'
import type { Operations } from '../admin/operations.js'
import type { Effect } from '../api/endpoint.js'
import type { AuditLog } from '../audit/audit-log.js'
import type { Engine } from '../biometrics/engine/engine.js'
import type { Config, Environment } from '../config/config.js'
import type { ServiceKeys } from '../crypto/service-keys.js'
import type { ClientAddresses } from '../http/listeners/client-address.js'
import type { IncomingRequest, WholeReply } from '../http/listeners/listener.js'
import type { Clock } from '../lib/clock.js'
import type { Store } from '../storage/store.js'
import type { RateLimiter } from '../tenants/rate-limiter.js'
import type { SigningSecrets } from '../tenants/signing-secrets.js'
import type { Tenancy } from '../tenants/tenancy.js'
import type { TemplateVault } from '../users/template-vault.js'
import type { OperatingPoint } from '../verification/biometric-provider.js'
import type { Sessions } from './sessions.js'
import type { Traffic } from './traffic.js'

/** The parts of the installation that the dashboard reads and changes. */
export interface DashboardCore {
  store: Store
  keys: ServiceKeys
  secrets: SigningSecrets
  tenancy: Tenancy
  audit: AuditLog
  vault: TemplateVault
  operations: Operations
}

export interface DashboardServices {
  core: DashboardCore
  clock: Clock
  log: Logger
  config: Pick<
    Config,
    | 'deadlineMs'
    | 'requestLogDays'
    | 'requestLogEntries'
    | 'fmr'
    | 'acceptPack'
    | 'tlsTerminatedUpstream'
    | 'metricsListen'
    | 'modelsDir'
    | 'dataDir'
    | 'database'
    | 'oidcIssuer'
    | 'oidcClientId'
    | 'oidcClientSecretFile'
    | 'oidcClaim'
    | 'oidcScope'
    | 'oidcGroupsClaim'
    | 'oidcTenantGroups'
    | 'operatorPasswordSignIn'
    | 'operatorSecondFactor'
    | 'dashboardFreshMinutes'
  >
  engine: Engine
  sessions: Sessions
  traffic: Traffic
  rateLimiter: RateLimiter
  addresses: ClientAddresses
  /** The whole way of a request through each environment's API, as its listener calls it. */
  apis: Record<Environment, (request: IncomingRequest) => Promise<WholeReply>>
  /** When the certificates that are shown expire, by group of listeners; null where one shows none. */
  certificates: () => Array<{ name: string; expiresAt: number | null }>
  urls: () => Record<'production' | 'sandbox' | 'admin', string>
  /** What decides at a false match rate that was asked for. */
  operatingPoint: (fmr: number) => OperatingPoint
  /** For metrics. */
  countEffect: (environment: Environment, effect: Effect) => void
  /** For metrics: a request to the dashboard's API was refused with this error code. */
  countRefusal: (code: string) => void
  version: string
  startedAt: number
}
