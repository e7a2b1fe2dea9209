/** What the dashboard's routes work with; built by the composition root. */
import type { Logger } from 'pino'
import type { Engine } from '../biometrics/engine/engine.js'
import type { Clock } from '../clock.js'
import type { Config, Environment } from '../config.js'
import type { Ledger } from '../ledger.js'
import type { ClientAddresses } from '../server/client-address.js'
import type { IncomingRequest, WholeReply } from '../server/listener.js'
import type { RateLimiter } from '../tenancy/rate-limiter.js'
import type { Effect } from '../v1/endpoint.js'
import type { OperatingPoint } from '../v1/recogniser.js'
import type { Sessions } from './sessions.js'
import type { Traffic } from './traffic.js'

export interface DashboardServices {
  ledger: Ledger
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
