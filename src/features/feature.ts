/**
 * A feature is one folder that declares all that it adds to the service. `index.ts` lists the features, and the core names none of them:
 * without a line of that list the service builds, starts and keeps every promise but those of the feature.
 */
import type { Logger } from 'pino'
import type { Core, KeyParts } from '../admin/core.js'
import type { CallParts, CapturePart, EnrollPart, LookupPart, VerifyPart } from '../api/call-parts.js'
import type { AnyEndpoint, EndpointDescription, Topic } from '../api/endpoint.js'
import type { Services } from '../api/services.js'
import type { Engine } from '../biometrics/engine/engine.js'
import type { FeatureCommand } from '../cli/lib/feature-command.js'
import type { Finding, WithCore } from '../cli/lib/finding.js'
import type { LeaderLease } from '../cluster/leader-lease.js'
import type { Config, Environment } from '../config/config.js'
import type { PublicListener } from '../config/listener-settings.js'
import type { OwnSettings } from '../config/own-settings.js'
import type { ConsoleRoutes, OperatorConsoleRoutes } from '../dashboard/lib/route.js'
import type { Subscriber } from '../events/events.js'
import type { AdminPart } from '../http/admin/admin-server.js'
import type { ApiServer } from '../http/api-server.js'
import type { ClientAddresses } from '../http/listeners/client-address.js'
import type { ListenerOptions } from '../http/listeners/listener.js'
import type { VisitorLimit } from '../http/listeners/visitor-limit.js'
import type { Metrics } from '../http/metrics/metrics.js'
import type { Observation } from '../http/observation/observation.js'
import type { BeginTrace } from '../http/observation/request-trace.js'
import type { PublicDocument } from '../http/public-documents.js'
import type { Jobs } from '../jobs/job.js'
import type { Upkeep } from '../jobs/retention.js'
import type { Clock } from '../lib/clock.js'
import type { DatabaseKind } from '../storage/database.js'
import type { Table } from '../storage/table.js'
import type { RateLimiter } from '../tenants/rate-limiter.js'
import type { OperatingPoint } from '../verification/biometric-provider.js'
import type { WatchVerify } from '../verification/verdict.js'
import type { ChallengePart } from './challenges/exports.js'

/** All that is known of a feature while it is not loaded. */
export interface OwnParts {
  readonly settings?: OwnSettings
  readonly tables?: readonly Table[]
  /** Another database than SQLite. */
  readonly database?: DatabaseKind
  /** Commands of the command line, which are loaded when they are run. */
  readonly commands?: readonly FeatureCommand[]
  /**
   * Reads keys outside of the database under which users' data keys are wrapped too, for a service or command that opens the database.
   * @throws ConfigError where one is missing
   */
  openKeys?(parts: KeyParts): Promise<void>
  /** Its findings for `doctor`. */
  examine?(config: Config, withCore: WithCore): Promise<readonly Finding[]>
  /** Imports what it does about events of users, which commands make too. */
  subscribe?(parts: EventParts): Promise<Subscriber>
}

/** The parts that a subscriber to events builds on. */
export interface EventParts extends Pick<Core, 'keys' | 'vault'> {
  clock: Clock
}

/** One line of the list. */
export interface ListedFeature extends OwnParts {
  /** In kebab case, as its folder is named. */
  readonly name: string
  /** The features that it does not work without, by their names. */
  readonly needs?: readonly string[]
  /** Imports it. A service does so at its start. */
  load(): Promise<Feature>
}

/** Requests that the service sends, as OpenAPI describes them under `webhooks`, by their names. */
export interface SentRequests {
  topic: Topic
  requests: Readonly<Record<string, object>>
}

type Descriptions = readonly EndpointDescription[]

export interface Feature {
  /** The endpoints that it adds, as documents show them. Those to which other features add are made of the features of the service. */
  readonly descriptions?: Descriptions | ((features: readonly Feature[]) => Descriptions)
  /** The requests that it sends to backends, as documents show them. */
  readonly sends?: SentRequests
  /** The operations of its public documents, as OpenAPI describes them, by path. */
  readonly documentOperations?: Readonly<Record<string, object>>
  /** Its parts of verifies, enrollments, challenges, and look-ups of verifications and users. */
  readonly parts?: {
    capture?: CapturePart
    verify?: VerifyPart
    enroll?: EnrollPart
    challenge?: ChallengePart
    lookup?: LookupPart
    user?: CallParts['user'][number]
  }
  /** HTTP status of its own errors where its routes of the dashboard answer them, by code. */
  readonly statuses?: Readonly<Record<string, number>>
  /** The listener that it opens where an address is configured for it: its settings begin with this name. */
  readonly listener?: PublicListener
  /**
   * Reads what its part of a service needs of database and files, while the engine starts.
   * @returns what it adds with it, and the parts that are built on it
   * @throws ConfigError
   */
  open?(core: Core, config: Config, clock: Clock): Promise<Pick<Feature, 'attach' | 'parts'>>
  /** Builds its part of a service, before the first call. Where nothing of it is configured, it adds nothing. */
  attach?(host: FeatureHost): Attached | Promise<Attached>
}

/** The parts of a service that features build on. */
export interface FeatureHost extends Core {
  /** All features of the service. */
  features: readonly Feature[]
  config: Config
  clock: Clock
  log: Logger
  engine: Engine
  metrics: Metrics
  leaderLease: Pick<LeaderLease, 'current' | 'isShared'>
  /** Has changed keys of the database taken over now. */
  reloadKeys(): Promise<void>
}

/** The parts that features open their listeners with. */
export interface ListenHost {
  /** The APIs of this service, which a page calls in the name of a key. */
  apis: Record<Environment, ApiServer['handle']>
  addresses: ClientAddresses
  visitors: VisitorLimit
  /** A limiter of its own for each use, so that nobody else can drive its buckets out of memory. */
  newLimiter(): RateLimiter
  /**
   * Opens the listener at its configured address, with its certificate, within the memory for bodies that features share. Does nothing
   * where no address is configured.
   * @param options may set other time limits than the configured ones
   * @throws AddressError, ListenError
   */
  open(name: PublicListener, options: FeatureListenerOptions): Promise<void>
  /** Origin under which browsers reach a listener that is open. */
  origin(name: PublicListener): string
}

/** The parts that a feature shows the service with, on the admin listener. */
export interface AdminHost extends Pick<ListenHost, 'apis' | 'addresses' | 'newLimiter'> {
  /** The limiter of the APIs. */
  rateLimiter: RateLimiter
  operatingPoint(fmr: number): OperatingPoint
  urls(): Record<Environment | 'admin', string>
  /** Expiry of the certificates by group of listeners; null for a group without certificate. */
  certificates(): Array<{ name: string; expiresAt: number | null }>
  /** Milliseconds since the Unix epoch. */
  startedAt: number
  /** The routes of the other features, and the status of their errors by code. */
  routes: ConsoleRoutes
  operatorRoutes: OperatorConsoleRoutes
  statuses: Readonly<Record<string, number>>
}

type FeatureListenerOptions = Pick<ListenerOptions, 'handler'> &
  Partial<Pick<ListenerOptions, 'limits' | 'maxHeadBytes'>>

/** The parts that a feature adds to one service. */
export interface Attached {
  /** The endpoints of one environment, one for each description. */
  endpoints?(services: Services): AnyEndpoint[]
  /** The documents that the API of one environment serves to anybody, without an API key. */
  documents?(services: Services): readonly PublicDocument[]
  /** Follows each request from its start. One feature at most does. */
  trace?: BeginTrace
  /** Gets each answered request, after its answer. */
  observe?(request: Observation): void
  /** Looks at each verify of production. */
  watch?: WatchVerify
  jobs?: Jobs
  /** Takes over keys of its own as the database has them now: before the first call, each second, and when keys are reloaded. */
  takeOverKeys?(): Promise<void>
  /** Values of its settings that callers notice, by variable: the cluster warns where they differ between its members. */
  clusterSettings?: Readonly<Record<string, string>>
  /** Opens its listener, after those of the core and before the jobs start. */
  listen?(host: ListenHost): Promise<void>
  /** Its part of the admin listener. Of two pages at one address, that of the later feature is served. */
  admin?(host: AdminHost): AdminPart
  /** The password of what it shows there. */
  operatorPassword?: FirstPassword
  /** Runs each minute, as leader, before rows are deleted whose time is over. */
  beforeExpiry?: Upkeep
  /** Runs each minute, as leader, after such rows were deleted. */
  afterExpiry?: Upkeep
  /** Its routes behind the pages of the dashboard: those of one tenant, and those of operators. */
  console?: ConsoleRoutes
  operatorConsole?: OperatorConsoleRoutes
}

/** A password that the first start generates. */
export interface FirstPassword {
  /** The password that this start has generated, to be shown once, or null. */
  generated: string | null
  /**
   * Stores the hash of the generated password, once the start has succeeded.
   * @returns false when another service has stored its own meanwhile, which is then valid for both
   * @throws ConfigError
   */
  keep(): Promise<boolean>
}
