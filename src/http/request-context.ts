/** The facts about a request while it is processed, filled in stage by stage. */
import type { AfterAnswer } from '../verification/call.js'
import type { Identity, InternalCaller } from './authentication/recent-callers.js'
import type { Observation } from './observation/observation.js'
import type { RequestTrace } from './observation/request-trace.js'
import type { Destination } from './routing/router.js'

type ObservedFacts =
  | ('requestId' | 'clientRequestId' | 'keyId' | 'keyTenantId')
  | ('user' | 'isChallenge' | 'address' | 'timings')

export interface RequestContext extends Pick<Observation, ObservedFacts> {
  /** Start of the request, on the clock of `performance.now()`. */
  readonly startedMs: number
  /** Undefined for an unknown address. */
  readonly destination: Destination | undefined
  readonly trace: RequestTrace | undefined
  /** Headers of the reply in addition to those that every reply has. */
  readonly headers: Record<string, string>
  /** Null until the caller is known. */
  identity: Identity | null
  /** Work to be done once the answer is out. */
  readonly afterAnswer: AfterAnswer[]
  /** Set where the service itself makes the request, for its hosted capture page. */
  readonly internalCaller: InternalCaller | undefined
}
