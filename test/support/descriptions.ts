import type { EndpointDescription } from '../../src/api/endpoint.js'
import { descriptionsWith } from '../../src/features/feature-parts.js'
import { loadFeatures } from '../../src/features/index.js'

/** The descriptions of all endpoints, in the order of documents. */
export const DESCRIPTIONS = descriptionsWith(await loadFeatures())

/** The description of an endpoint, with what features add to it. */
export function descriptionOf(id: string): EndpointDescription {
  return DESCRIPTIONS.find((one) => one.id === id)!
}
