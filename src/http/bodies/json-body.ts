/** Parses and validates body and query of a request. Every refusal has a code and names its field. */
import { isUtf8 } from 'node:buffer'
import Type, { type TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import type { EndpointDescription } from '../../api/endpoint.js'
import { DomainError, type ErrorDetail, invalidField } from '../../lib/domain-error.js'
import {
  type ParameterParser,
  type Parameters,
  parameterParser,
  parametersSchema,
} from '../routing/parameters.js'
import { memberIssue } from './json-members.js'
import { cutLongStrings, cutNumber, putBackText } from './long-strings.js'
import { describeErrors } from './schema-issues.js'

/** @param pathParameters percent-encoded, as they stand in the path */
export type InputParser = (
  body: Buffer,
  contentType: string | undefined,
  query: string,
  pathParameters?: Record<string, string>,
) => unknown

type InputDescription = Pick<EndpointDescription, 'body' | 'bodyOptional' | 'query' | 'pathParameters'>

/**
 * Most bytes of a body without its long strings. Parser, scan of names and schema take up to a microsecond for two bytes, during which
 * no other request is served. An action of 4096 bytes in canonical form, a user id and a nonce take at most 29 KB with every
 * character escaped.
 */
export const MAX_JSON_BYTES = 32_768

/** Production and sandbox have the same endpoints, and compiling their schemas takes much of the time of a start. */
const validators = new WeakMap<TSchema, Validator>()

function validatorOf(schema: TSchema): Validator {
  const validator = validators.get(schema) ?? Compile(schema)
  validators.set(schema, validator)
  return validator
}

/** Compiles the endpoint's schemas once. The parser throws DomainError unsupported_media_type, malformed_json, invalid_request. */
export function inputParser(endpoint: InputDescription): InputParser {
  const parseParameters = parameterParser(endpoint)
  if (!endpoint.body) return bodilessParser(endpoint, parseParameters)
  const schema = withPathParameters(endpoint.body, endpoint)
  const validator = validatorOf(schema)
  const binaryPaths = base64Paths(endpoint.body)
  return (body, contentType, query, pathParameters) => {
    const parameters = parseParameters(query, pathParameters)
    let value: unknown = {}
    let cuts: Buffer[] = []
    if (body.length > 0) {
      assertJsonType(contentType)
      ;({ value, cuts } = parseJson(body, binaryPaths))
    } else if (!endpoint.bodyOptional)
      throw new DomainError('malformed_json', { message: 'The body is empty.' })
    const input = mergeQuery(value, parameters)
    assertValid(validator, schema, input)
    if (cuts.length > 0) putBack(input, binaryPaths, cuts)
    return input
  }
}

/** Schema of the input of an endpoint with a body: its fields and the parameters of the path. */
function withPathParameters(
  body: TSchema,
  { pathParameters }: Pick<InputDescription, 'pathParameters'>,
): TSchema {
  if (!pathParameters) return body
  const { properties } = body as Type.TObject
  const path = Object.entries(pathParameters).map(([name, { schema }]) => [name, schema] as const)
  return Type.Object({ ...properties, ...Object.fromEntries(path) }, { additionalProperties: false })
}

/** Parses the parameters of path and query; undefined where the endpoint has none. A body is ignored. */
function bodilessParser(endpoint: InputDescription, parseParameters: ParameterParser): InputParser {
  const schema = parametersSchema(endpoint)
  const validator = schema && Compile(schema)
  return (_body, _contentType, query, pathParameters) => {
    const parameters = parseParameters(query, pathParameters)
    if (!validator) return undefined
    assertValid(validator, schema!, parameters)
    return parameters
  }
}

/** Path of a base64 field: names of members, and `ITEMS` for every item of a list. */
type BinaryPath = Array<string | typeof ITEMS>
const ITEMS = Symbol('items')

/** Paths of the base64 fields: only their long strings stay bytes. */
function base64Paths(schema: TSchema): BinaryPath[] {
  const { properties, items, contentEncoding } = schema as {
    properties?: Record<string, TSchema>
    items?: TSchema
    contentEncoding?: string
  }
  if (contentEncoding === 'base64') return [[]]
  if (items) return base64Paths(items).map((path) => [ITEMS, ...path])
  return Object.entries(properties ?? {}).flatMap(([name, field]) =>
    base64Paths(field).map((path) => [name, ...path]),
  )
}

function assertJsonType(contentType: string | undefined): void {
  const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase())
  const foreign = parameters.some(
    (parameter) => parameter.startsWith('charset=') && !/^charset="?utf-8"?$/.test(parameter),
  )
  if (type !== 'application/json' || foreign) throw new DomainError('unsupported_media_type')
}

/** Parses the document. Base64 fields whose bytes are in `cuts` hold marks. */
function parseJson(body: Buffer, binaryPaths: BinaryPath[]): { value: unknown; cuts: Buffer[] } {
  if (!isUtf8(body)) throw new DomainError('malformed_json')
  if (binaryPaths.length > 0) return parseBinary(body, binaryPaths)
  return { value: parseWhole(body.toString('utf8')), cuts: [] }
}

/** Cuts out the base64. A long string in any other field becomes text again, so that the schema sees it as it is. */
function parseBinary(body: Buffer, binaryPaths: BinaryPath[]): { value: unknown; cuts: Buffer[] } {
  const cut = cutLongStrings(body, MAX_JSON_BYTES)
  if (!cut) throw tooMuchJson()
  const { text, cuts, leftBytes } = cut
  const value = parseText(text)
  const placed = new Set(binaryItems(value, binaryPaths).map(cutNumber))
  const strays = [...cuts.keys()].filter((number) => !placed.has(number))
  if (strays.length === 0) {
    assertMembers(text)
    return { value, cuts }
  }
  const strayBytes = strays.reduce((sum, number) => sum + cuts[number]!.length, 0)
  if (leftBytes + strayBytes > MAX_JSON_BYTES) throw tooMuchJson()
  return { value: parseWhole(putBackText(cut, strays)), cuts }
}

function tooMuchJson(): DomainError {
  return invalidField('body', `holds more than ${MAX_JSON_BYTES / 1024} KiB in addition to its images`)
}

function assertMembers(text: string): void {
  const issue = memberIssue(text)
  if (issue) throw new DomainError('invalid_request', { details: [issue] })
}

function parseWhole(text: string): unknown {
  const value = parseText(text)
  assertMembers(text)
  return value
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's message is dropped, since it may quote the body.
    throw new DomainError('malformed_json')
  }
}

/** The values of the base64 fields. */
function binaryItems(value: unknown, paths: BinaryPath[]): unknown[] {
  const items: unknown[] = []
  for (const path of paths)
    replaceAt(value, path, (item) => {
      items.push(item)
      return item
    })
  return items
}

function putBack(input: unknown, paths: BinaryPath[], cuts: Buffer[]): void {
  for (const path of paths) replaceAt(input, path, (item) => cuts[cutNumber(item) ?? -1] ?? item)
}

/** Replaces the items at the path. Nothing happens where the path does not exist, as in a body that is not validated yet. */
function replaceAt(value: unknown, [name, ...rest]: BinaryPath, replace: (item: unknown) => unknown): void {
  if (typeof value !== 'object' || value === null || name === undefined) return
  const keys = name === ITEMS ? (Array.isArray(value) ? [...value.keys()] : []) : name in value ? [name] : []
  const members = value as Record<string | number, unknown>
  for (const key of keys)
    if (rest.length > 0) replaceAt(members[key], rest, replace)
    else members[key] = replace(members[key])
}

/** A parameter may be in the body or the query; where it is in both, the values must be equal. */
function mergeQuery(body: unknown, query: Parameters): unknown {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
  if (Object.keys(query).length === 0 || !isObject) return body
  const fields = body as Record<string, unknown>
  const details = Object.keys(query)
    .filter((name) => name in fields && fields[name] !== query[name])
    .map((name) => ({ path: name, issue: 'differs between body and query' }))
  if (details.length > 0) throw new DomainError('invalid_request', { details })
  return { ...fields, ...query }
}

function assertValid(validator: Validator, schema: TSchema, input: unknown): void {
  if (!validator.Check(input))
    throw new DomainError('invalid_request', { details: describeErrors(validator, schema, input) })
  const details = surrogateIssues(input)
  if (details.length > 0) throw new DomainError('invalid_request', { details })
}

/** A lone surrogate has no UTF-8 form, so that two different user ids would become one. */
function surrogateIssues(input: unknown): ErrorDetail[] {
  const details: ErrorDetail[] = []
  for (const [name, value] of Object.entries((input ?? {}) as Record<string, unknown>)) {
    // Skips `images`: its decoder checks that base64 is ASCII, and it is too long to serialize again.
    if (Array.isArray(value)) continue
    if (!holdsNoLoneSurrogate(value)) details.push({ path: name, issue: 'holds a lone surrogate' })
  }
  return details
}

/** Names and strings at any depth. The levels of a body are bounded by `memberIssue`. */
function holdsNoLoneSurrogate(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(holdsNoLoneSurrogate)
  return Object.entries(value).every(([name, member]) => name.isWellFormed() && holdsNoLoneSurrogate(member))
}
