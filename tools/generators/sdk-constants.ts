/** Writes the sentences and fields of the service that the SDK's service in memory has. */

import { GUIDANCE_TEXTS } from '../../clients/capture/guidance-texts.js'
import type { EndpointDescription } from '../../src/api/endpoint.js'
import { formatted } from './wire-types.js'

/** @param document the OpenAPI document @returns the text of `clients/node/testing/service-texts.ts` */
export function serviceTexts(document: object, endpoints: readonly EndpointDescription[]): string {
  const variables = (name: string) => name.split('{').length
  // The path with fewer variables goes first, and so wins where two fit.
  const scopes = endpoints
    .map((one) => [nameOf(one.method, one.path), one.scopes] as const)
    .toSorted(([one], [other]) => variables(one) - variables(other))
  return formatted(
    `/** Sentences and fields of the service for the service in memory. Generated from the service: \`npm run docs\` writes this file. */
import type { PhotoGuidance, Scope } from '../types.js'

/** Sentences that a person can be shown about a refused photo. */
export const FAKE_HINTS: Readonly<Record<PhotoGuidance, string>> = ${JSON.stringify(GUIDANCE_TEXTS)}

/** The fields of the body of each call, by method and path. */
export const FAKE_FIELDS: Readonly<Record<string, readonly string[]>> = ${JSON.stringify(fieldsOf(document))}

/** Scopes of which a key needs one for a call, by method and path; an empty list for what every key may do. */
export const FAKE_SCOPES: Readonly<Record<string, readonly Scope[]>> = ${JSON.stringify(Object.fromEntries(scopes))}
`,
    'clients/node/testing/service-texts.ts',
  )
}

const nameOf = (method: string, path: string) => `${method.toUpperCase()} ${path.replace(/^\/v1/, '')}`

// biome-ignore lint/suspicious/noExplicitAny: a JSON document, looked into freely
function fieldsOf({ paths, components }: any): Record<string, string[]> {
  const resolved = (schema: { $ref?: string }) =>
    schema.$ref ? components.schemas[schema.$ref.split('/').at(-1)!] : schema
  const fields: Record<string, string[]> = {}
  for (const [path, operations] of Object.entries<object>(paths))
    for (const [method, { requestBody }] of Object.entries(operations)) {
      if (!requestBody) continue
      const whole = resolved(requestBody.content['application/json'].schema)
      const names = (whole.oneOf ?? [whole]).flatMap((one: object) => Object.keys(resolved(one).properties))
      fields[nameOf(method, path)] = [...new Set<string>(names)]
    }
  return fields
}
