import type { EndpointDescription } from '../../src/api/endpoint.js'
import { DESCRIPTIONS } from '../../src/features/index.js'

/** The description of an endpoint, with what features add to it. */
export function descriptionOf(id: string): EndpointDescription {
  return DESCRIPTIONS.find((one) => one.id === id)!
}
