import type { EndpointDescription } from '../../src/api/endpoint.js'
import { OPERATION_STATUS } from '../../src/dashboard/dashboard-error.js'
import { buildOpenApi } from '../../src/features/api-documents/openapi.js'
import { descriptionsWith } from '../../src/features/feature-parts.js'
import { loadFeatures } from '../../src/features/index.js'

const features = await loadFeatures()

/** The descriptions of all endpoints, in the order of documents. */
export const DESCRIPTIONS = descriptionsWith(features)

/** The OpenAPI document of a service with all features, at the addresses of docs/openapi.json. */
export const OPENAPI = buildOpenApi(features)

/** HTTP status of the errors of others that the dashboard shows, by code. */
export const SHOWN_STATUSES: Record<string, number> = Object.assign(
  { ...OPERATION_STATUS },
  ...features.map(({ statuses }) => statuses),
)

/** The path of an endpoint with the values of its example, or with this one for each parameter that the example lacks. */
export function examplePath({ path, example = {} }: EndpointDescription, other = 'some'): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(example[name] ?? other)))
}

/** The body of an endpoint's example. */
export function exampleBody({ example = {}, pathParameters = {} }: EndpointDescription): object {
  return Object.fromEntries(Object.entries(example).filter(([name]) => !(name in pathParameters)))
}

/** The description of an endpoint, with what features add to it. */
export function descriptionOf(id: string): EndpointDescription {
  return DESCRIPTIONS.find((one) => one.id === id)!
}
