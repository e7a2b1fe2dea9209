/** Refuses the sandbox's calls whose user id ends in an outcome that needs nothing else of the request. */
import { refuseScripted } from '../verification/sandbox/sandbox-outcomes.js'
import type { Endpoint } from './endpoint.js'

/** Adds the scripted refusals to an endpoint. Where an endpoint uses the engine, `SandboxProvider` refuses, after the request is checked. */
export function scripted(endpoint: Endpoint<unknown>): Endpoint<unknown> {
  if (endpoint.usesEngine) return endpoint
  return {
    ...endpoint,
    async handle(call) {
      const { user_id } = (call.input ?? {}) as { user_id?: string }
      if (user_id !== undefined) refuseScripted(user_id)
      return endpoint.handle(call)
    },
  }
}
