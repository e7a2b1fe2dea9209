/** What is known of a request while it is on its way, filled in stage by stage. */
import type { CalledUser } from '../verification/call.js'
import type { Timings } from '../verification/stages.js'
import type { Identity, InternalCaller } from './authentication/recent-callers.js'
import type { RequestTrace } from './observation/tracing.js'
import type { Destination } from './routing/router.js'

export interface RequestContext {
  readonly requestId: string
  /** On `performance.now()`'s axis. */
  readonly startedMs: number
  readonly timings: Timings
  /** Undefined for an address that is none of ours. */
  readonly destination: Destination | undefined
  readonly trace: RequestTrace | undefined
  /** Of the reply, beside those that every reply has. */
  readonly headers: Record<string, string>
  /** Null until the caller is known. */
  identity: Identity | null
  /** Id of the API key that was presented, where the database has it: also of one that is refused. */
  keyId: string | null
  /** Whose key was presented, where the database has it: also of one that is refused. */
  keyTenantId: string | undefined
  /** The user that the request is about, as soon as that is known. */
  user: CalledUser | undefined
  /** Whether the request brings the frames of a challenge. */
  isChallenge: boolean
  /** Where the request comes from, as `ClientAddresses` finds it; null for one of the service's own, which a visitor's browser caused. */
  readonly address: string | null
  /** Set where the request is one of the service's own. */
  readonly known: InternalCaller | undefined
}
