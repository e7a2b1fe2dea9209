/** The facts about a request while it is processed, filled in stage by stage. */
import type { AfterAnswer, CalledUser } from '../verification/call.js'
import type { Timings } from '../verification/stages.js'
import type { Identity, InternalCaller } from './authentication/recent-callers.js'
import type { RequestTrace } from './observation/tracing.js'
import type { Destination } from './routing/router.js'

export interface RequestContext {
  readonly requestId: string
  /** Start of the request, on the clock of `performance.now()`. */
  readonly startedMs: number
  readonly timings: Timings
  /** Undefined for an unknown address. */
  readonly destination: Destination | undefined
  readonly trace: RequestTrace | undefined
  /** Headers of the reply in addition to those that every reply has. */
  readonly headers: Record<string, string>
  /** Null until the caller is known. */
  identity: Identity | null
  /** Id of the API key that was presented, also of one that is refused; null for a key that the database does not have. */
  keyId: string | null
  /** Id of the tenant whose key was presented, also where the key is refused. */
  keyTenantId: string | undefined
  /** The user that the request is about; undefined until that is known. */
  user: CalledUser | undefined
  /** Work to be done once the answer is out. */
  readonly afterAnswer: AfterAnswer[]
  /** Whether the request brings the frames of a challenge. */
  isChallenge: boolean
  /** IP address of the caller, as `ClientAddresses` finds it; null for a request of the hosted capture page. */
  readonly address: string | null
  /** Set where the service itself makes the request, for its hosted capture page. */
  readonly internalCaller: InternalCaller | undefined
}
