/** The features of the service, in the order in which documents show their endpoints. Nothing else imports their `feature.ts`. */
import type { EndpointDescription } from '../api/endpoint.js'
import { CORE_DESCRIPTIONS } from '../http/routing/routes.js'
import { consent } from './consent/feature.js'
import { epochKeys } from './epoch-keys/feature.js'
import type { Feature } from './feature.js'

export const FEATURES: readonly Feature[] = [consent, epochKeys]

/** The endpoints of the core and of features, in the order of documents. */
export function descriptionsWith(features: readonly Feature[]): EndpointDescription[] {
  return [...CORE_DESCRIPTIONS, ...features.flatMap(({ descriptions = [] }) => descriptions)]
}

/** Descriptions of all endpoints: the OpenAPI document is made from them. */
export const DESCRIPTIONS = descriptionsWith(FEATURES)
