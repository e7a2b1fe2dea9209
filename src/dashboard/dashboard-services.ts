/** The services that the dashboard's routes use. `feature.ts` builds them. */
import type { Logger } from 'pino'
import type { AdministeredCore } from '../admin/administration.js'
import type { Effect } from '../api/endpoint.js'
import type { Engine } from '../biometrics/engine/engine.js'
import type { Config, Environment } from '../config/config.js'
import type { ClientAddresses } from '../http/listeners/client-address.js'
import type { IncomingRequest, WholeReply } from '../http/listeners/listener.js'
import type { Clock } from '../lib/clock.js'
import type { RateLimiter } from '../tenants/rate-limiter.js'
import type { OperatingPoint } from '../verification/biometric-provider.js'
import type { ConsoleRoutes, OperatorConsoleRoutes } from './lib/route.js'
import type { Sessions } from './sign-in/sessions.js'
import type { SignIn } from './sign-in/sign-in.js'

export interface DashboardServices {
  core: AdministeredCore
  clock: Clock
  log: Logger
  config: Config
  engine: Engine
  sessions: Sessions
  signIn: SignIn
  /** The routes that come from features. */
  routes: ConsoleRoutes
  operatorRoutes: OperatorConsoleRoutes
  /** HTTP status of the errors whose own messages are shown, by code. */
  statuses: Readonly<Record<string, number>>
  rateLimiter: RateLimiter
  addresses: ClientAddresses
  /** Handles a request as the listener of each environment's API does. */
  apis: Record<Environment, (request: IncomingRequest) => Promise<WholeReply>>
  /** Expiry of the certificates by group of listeners; null for a group without certificate. */
  certificates: () => Array<{ name: string; expiresAt: number | null }>
  urls: () => Record<'production' | 'sandbox' | 'admin', string>
  /** Reads the keys as the database has them now. */
  reloadKeys: () => Promise<void>
  /** Returns the operating point for a requested false match rate. */
  operatingPoint: (fmr: number) => OperatingPoint
  /** Counts an effect in the metrics. */
  countEffect: (environment: Environment, effect: Effect) => void
  /** Counts a refusal of the dashboard's API in the metrics, by its error code. */
  countRefusal: (code: string) => void
  version: string
  startedAt: number
}
