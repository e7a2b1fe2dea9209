/** The services that the dashboard's routes use. `feature.ts` builds them. */
import type { AdministeredCore } from '../admin/administration.js'
import type { Effect } from '../api/endpoint.js'
import type { Environment } from '../config/config.js'
import type { AdminHost, FeatureHost } from '../features/feature.js'
import type { Sessions } from './sign-in/sessions.js'
import type { SignIn } from './sign-in/sign-in.js'

export interface DashboardServices
  extends Omit<AdminHost, 'newLimiter'>,
    Pick<FeatureHost, 'clock' | 'log' | 'config' | 'engine'> {
  core: AdministeredCore
  sessions: Sessions
  signIn: SignIn
  /** Counts an effect in the metrics. */
  countEffect: (environment: Environment, effect: Effect) => void
  /** Counts a refusal of the dashboard's API in the metrics, by its error code. */
  countRefusal: (code: string) => void
}
