/** Refuses calls of the sandbox that are refused by the ending of their user id alone. */
import { refuseScripted } from '../verification/sandbox-outcomes.js'
import type { Endpoint } from './endpoint.js'

/** An endpoint as the sandbox has it. Those that ask the recogniser are refused by it, after what is wrong with the request. */
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
