/** Reads headers in any of the forms in which frameworks and hosting adapters hand them over. */
import { SignatureError } from './errors.js'

/** The value of a header, or a list that holds it, as some hosting adapters give it. */
export type HeaderValue = string | readonly string[]

/**
 * Headers of a request: those of the Web's `Request` or of Node, a Map, pairs, an object whose values may be lists of one (such as
 * `multiValueHeaders`), or an object with a `get`. Names are compared without case.
 */
export type WebhookHeaders =
  | { get(name: string): unknown }
  | Iterable<readonly [string, HeaderValue]>
  | Readonly<Record<string, HeaderValue | undefined>>

/** @param name in lower case @returns null where there is none @throws SignatureError signature_malformed where there are several */
export function headerOf(headers: WebhookHeaders, name: string): string | null {
  const asked = 'get' in headers && typeof headers.get === 'function' ? headers.get(name) : null
  return onlyValue(asked ?? listed(headers, name), name)
}

/** @returns null where there is none @throws SignatureError signature_malformed where there are several */
export function onlyValue(value: unknown, name: string): string | null {
  const values = [value].flat()
  if (values.length > 1) throw new SignatureError('signature_malformed', `There are several headers ${name}.`)
  return typeof values[0] === 'string' ? values[0] : null
}

function listed(headers: WebhookHeaders, name: string): unknown[] {
  const pairs: Iterable<readonly [string, unknown]> =
    Symbol.iterator in headers ? headers : Object.entries(headers)
  return [...pairs].flatMap(([key, value]) => (key.toLowerCase() === name ? (value ?? []) : []))
}
