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
    challenge: parts.flatMap(({ challenge = [] }) => challenge),
    lookup: parts.flatMap(({ lookup = [] }) => lookup),
    user: parts.flatMap(({ user = [] }) => user),
  }
}

/** The endpoints of the core and of features, in the order of documents. */
export function descriptionsWith(features: readonly Feature[]): EndpointDescription[] {
  return [
    ...coreDescriptions(partsOf(features)),
    ...features.flatMap(({ descriptions = [] }) => descriptions),
  ]
}
