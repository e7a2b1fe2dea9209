/** The features of the service, in the order in which documents show their endpoints. Nothing else imports their `feature.ts`. */
import type { CallParts } from '../api/call-parts.js'
import type { EndpointDescription } from '../api/endpoint.js'
import { coreDescriptions } from '../http/routing/routes.js'
import { captureSessions } from './capture-sessions/feature.js'
import { consent } from './consent/feature.js'
import { epochKeys } from './epoch-keys/feature.js'
import type { Feature } from './feature.js'
import { insight } from './insight/feature.js'
import { openid } from './openid/feature.js'
import { passkeys } from './passkeys/feature.js'
import { policies } from './policies/feature.js'

export const FEATURES: readonly Feature[] = [
  captureSessions,
  policies,
  passkeys,
  consent,
  epochKeys,
  openid,
  insight,
]

/** The parts that features add to the calls of the core. */
export function partsOf(features: readonly Feature[]): CallParts {
  const parts = features.map((feature) => feature.parts ?? {})
  return {
    verify: parts.flatMap(({ verify = [] }) => verify),
    enroll: parts.flatMap(({ enroll = [] }) => enroll),
    challenge: parts.flatMap(({ challenge = [] }) => challenge),
  }
}

/** The endpoints of the core and of features, in the order of documents. */
export function descriptionsWith(features: readonly Feature[]): EndpointDescription[] {
  return [
    ...coreDescriptions(partsOf(features)),
    ...features.flatMap(({ descriptions = [] }) => descriptions),
  ]
}
