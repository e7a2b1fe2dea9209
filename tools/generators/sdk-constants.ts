/** Writes what the SDK's service in memory knows of the calls of the service. */
import type { EndpointDescription } from '../../src/api/endpoint.js'
import { formatted } from './wire-types.js'

/** @param document the OpenAPI document @returns the text of `clients/node/testing/service-calls.ts` */
export function serviceCalls(document: object, endpoints: readonly EndpointDescription[]): string {
  const variables = (name: string) => name.split('{').length
  const fields = fieldsOf(document)
  // The path with fewer variables goes first, and so wins where two fit.
  const calls = endpoints
    .map((one) => [nameOf(one.method, one.path), one.scopes] as const)
    .toSorted(([one], [other]) => variables(one) - variables(other))
    .map(([name, scopes]) => [name, { scopes, fields: fields[name] ?? [] }])
  return formatted(
    `/** Calls of the service for the service in memory. Generated from the service: \`npm run docs\` writes this file. */
import type { Scope } from '../types.js'

/** A call as the API describes it. */
export interface FakeCall {
  /** Scopes of which a key needs one; empty for what every key may do. */
  scopes: readonly Scope[]
  /** Fields of the body. */
  fields: readonly string[]
}

/** The calls by method and path. */
export const FAKE_CALLS = ${JSON.stringify(Object.fromEntries(calls))} satisfies Record<string, FakeCall>

/** Name of a call: its method and path. */
export type CallName = keyof typeof FAKE_CALLS
`,
    'clients/node/testing/service-calls.ts',
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
