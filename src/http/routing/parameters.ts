/** The parameters of a request's path and query: decoded strictly, and turned into what their schemas say. */
import Type, { type TSchema } from 'typebox'
import type { EndpointDescription } from '../../api/endpoint.js'
import { DomainError, type ErrorDetail, invalidField } from '../../lib/domain-error.js'

export type Parameters = Record<string, string | number>

/** @throws DomainError invalid_request */
export type ParameterParser = (query: string, pathParameters?: Record<string, string>) => Parameters

type ParameterDescription = Pick<EndpointDescription, 'query' | 'pathParameters'>

export function parameterParser({ query: described = {} }: ParameterDescription): ParameterParser {
  const known = new Map(Object.entries(described).map(([name, { schema }]) => [name, schema]))
  return (query, pathParameters = {}) => ({
    ...parseQuery(query, known),
    ...Object.fromEntries(
      Object.entries(pathParameters).map(([name, text]) => [name, decodeSegment(name, text)]),
    ),
  })
}

/** Schema of the input of an endpoint without a body; undefined where the endpoint has no parameters either. */
export function parametersSchema({
  query = {},
  pathParameters = {},
}: ParameterDescription): TSchema | undefined {
  const fields = {
    ...mapValues(pathParameters, ({ schema }) => schema),
    ...mapValues(query, ({ schema }) => Type.Optional(schema)),
  }
  return Object.keys(fields).length === 0 ? undefined : Type.Object(fields)
}

function parseQuery(query: string, known: Map<string, TSchema>): Parameters {
  const values: Parameters = {}
  if (query === '') return values
  if (!isPercentEncodedUtf8(query)) throw invalidField('query', 'is not UTF-8 in percent-encoding')
  const details: ErrorDetail[] = []
  for (const [name, value] of new URLSearchParams(query)) {
    const schema = known.get(name)
    if (!schema) details.push({ path: name, issue: 'is not a known query parameter' })
    else if (name in values) details.push({ path: name, issue: 'is given more than once' })
    else values[name] = asDescribed(value, schema)
  }
  if (details.length > 0) throw new DomainError('invalid_request', { details })
  return values
}

const WHOLE_NUMBER = /^\d{1,15}$/

/** Leaves text that is not a number as it is, so that the schema reports what is wrong with it. */
function asDescribed(text: string, schema: TSchema): string | number {
  return Type.IsInteger(schema) && WHOLE_NUMBER.test(text) ? Number(text) : text
}

/** @throws DomainError invalid_request */
function decodeSegment(name: string, text: string): string {
  if (isPercentEncodedUtf8(text)) return decodeURIComponent(text)
  throw invalidField(name, 'is not UTF-8 in percent-encoding')
}

/** `URLSearchParams` replaces bytes that it cannot decode by U+FFFD: two different user ids would become one. */
function isPercentEncodedUtf8(text: string): boolean {
  try {
    return /^[\x21-\x7e]*$/.test(text) && decodeURIComponent(text) !== ''
  } catch {
    return false
  }
}

function mapValues<A, B>(record: Record<string, A>, of: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, of(value)]))
}
