/**
 * A feature is one folder that declares all that it adds to the service. `index.ts` lists the features, and the core names none of them:
 * without a line of that list the service builds, starts and keeps every promise but those of the feature.
 */
import type { Logger } from 'pino'
import type { Core } from '../admin/core.js'
import type { ChallengePart, EnrollPart, VerifyPart } from '../api/call-parts.js'
import type { AnyEndpoint, EndpointDescription } from '../api/endpoint.js'
import type { Services } from '../api/services.js'
import type { Engine } from '../biometrics/engine/engine.js'
import type { LeaderLease } from '../cluster/leader-lease.js'
import type { Config } from '../config/config.js'
import type { Metrics } from '../http/metrics/metrics.js'
import type { Observation } from '../http/observation/observation.js'
import type { Jobs } from '../jobs/job.js'
import type { Upkeep } from '../jobs/retention.js'
import type { EpochFolder } from '../keys/epoch-folder.js'
import type { Clock } from '../lib/clock.js'

export interface Feature {
  /** In kebab case, as its folder is named. */
  readonly name: string
  /** The endpoints that it adds, as documents show them. */
  readonly descriptions?: readonly EndpointDescription[]
  /** What it adds to verifies, enrollments and challenges. */
  readonly parts?: { verify?: VerifyPart; enroll?: EnrollPart; challenge?: ChallengePart }
  /** Builds its part of a service, before the first call. Where nothing of it is configured, it adds nothing. */
  attach?(host: FeatureHost): Attached | Promise<Attached>
}

/** The parts of a service that features build on. */
export interface FeatureHost extends Core {
  config: Config
  clock: Clock
  log: Logger
  engine: Engine
  metrics: Metrics
  leaderLease: Pick<LeaderLease, 'current'>
  /** Null where no folder of epoch keys is configured. It remembers the keys that were read. */
  epochFolder: EpochFolder | null
  /** Has changed keys of the database taken over now. */
  reloadKeys(): Promise<void>
}

/** What a feature adds to one service. */
export interface Attached {
  /** The endpoints of one environment, one for each description. */
  endpoints?(services: Services): AnyEndpoint[]
  /** Gets each answered request, after its answer. */
  observe?(request: Observation): void
  jobs?: Jobs
  /** Runs each minute, as leader, before rows are deleted whose time is over. */
  beforeExpiry?: Upkeep
  /** Runs each minute, as leader, after such rows were deleted. */
  afterExpiry?: Upkeep
}
