/** All that features add to the calls and endpoints of the core. */
import type { CallParts } from '../api/call-parts.js'
import type { EndpointDescription } from '../api/endpoint.js'
import { coreDescriptions } from '../http/routing/routes.js'
import type { Feature } from './feature.js'

/** The parts that features add to the calls of the core. */
export function partsOf(features: readonly Feature[]): CallParts {
  const parts = features.map((feature) => feature.parts ?? {})
  return {
    verify: parts.flatMap(({ verify = [] }) => verify),
    enroll: parts.flatMap(({ enroll = [] }) => enroll),
    capture: parts.flatMap(({ capture = [] }) => capture),
    lookup: parts.flatMap(({ lookup = [] }) => lookup),
    user: parts.flatMap(({ user = [] }) => user),
  }
}

/** The endpoints of the core and of features, in the order of documents. */
export function descriptionsWith(features: readonly Feature[]): EndpointDescription[] {
  const all = coreDescriptions(partsOf(features))
  for (const description of features.flatMap((feature) => descriptionsOf(feature, features))) {
    const place = all.findIndex(({ id }) => id === description.shownBefore)
    all.splice(place < 0 ? all.length : place, 0, description)
  }
  return all
}

/** The endpoints of one of the features. */
export function descriptionsOf(
  { descriptions = [] }: Feature,
  features: readonly Feature[],
): readonly EndpointDescription[] {
  return typeof descriptions === 'function' ? descriptions(features) : descriptions
}
