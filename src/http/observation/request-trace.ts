/** The trace of a request, as a feature makes it that follows requests from their start to their answer. */
import type { IncomingRequest } from '../listeners/listener.js'
import type { Observation } from './observation.js'

/** @param route path template of the endpoint, where the address is known */
export type BeginTrace = (request: IncomingRequest, route: string | undefined) => RequestTrace

export interface RequestTrace {
  /** Id of the trace, for the log. */
  readonly traceId: string
  /** Value of the response header `traceresponse` (W3C Trace Context, level 2). */
  readonly response: string
  /** The request was answered. */
  end(observation: Observation): void
}
