/** Responses of the OpenAPI document: which headers each has, and the error responses, each once in `components`. */
import type { EndpointDescription } from '../../api/endpoint.js'
import { ERRORS, type ErrorCode } from '../../contract/error-codes.js'

type Json = Record<string, unknown>
type Responses = Record<string, Json>

const HEADERS = {
  'X-Request-Id': 'UUIDv7 that names this response.',
  'X-Svc-Signature':
    '`t=<unix seconds>,kid=<secret id>,v2=<hex>`: HMAC-SHA256 over `v2:<production|sandbox>:<t>:<request id>:<status>:<METHOD>:<path with query>:` and the body. During a rotation overlap a second `kid=…,v2=…` pair follows. A response for which no tenant could be authenticated is signed with the instance secret (`kid=instance`) and names the environment of the listener that answered.',
  'X-Svc-Idempotent-Replay': '`true` when this is the kept response of an earlier request.',
  'X-Client-Request-Id': "The caller's own X-Request-Id.",
  'Server-Timing': 'Milliseconds by stage.',
  RateLimit: 'What is left of the rate limit.',
  'RateLimit-Policy': 'The rate limit of the tenant in this environment.',
  'Retry-After': 'Seconds after which a retry makes sense.',
}
type HeaderName = keyof typeof HEADERS

/** Statuses of requests that are refused before the tenant's rate limit is known. */
const BEFORE_RATE_LIMIT = [401, 408, 431]
/** Statuses that an idempotency key keeps, in addition to success. */
const KEPT_ERRORS = [400, 404, 409, 422]
const RETRIED_LATER = [409, 429, 503]

export function headerComponents(): Json {
  return Object.fromEntries(
    Object.entries(HEADERS).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  )
}

/** References to the headers that a response of this status can have. */
function headersOf(endpoint: EndpointDescription, status: number): Json {
  const names: HeaderName[] = ['X-Request-Id', 'X-Svc-Signature', 'X-Client-Request-Id', 'Server-Timing']
  if (!BEFORE_RATE_LIMIT.includes(status)) names.push('RateLimit', 'RateLimit-Policy')
  if (endpoint.idempotent && (status < 300 || KEPT_ERRORS.includes(status)))
    names.push('X-Svc-Idempotent-Replay')
  // A user who is locked out is a verdict, and its answer says how long.
  if (RETRIED_LATER.includes(status) || (endpoint.id === 'verify' && status === 200))
    names.push('Retry-After')
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

export function responsesOf(endpoint: EndpointDescription, codes: readonly ErrorCode[]): Responses {
  const { success, alternative } = endpoint
  const responses: Responses = {
    ...errorResponses(endpoint, codes),
    [success.status]: answer(endpoint, success),
  }
  if (!alternative) return responses
  const { status, schema, description } = alternative
  const errors = responses[status]
  responses[status] = errors
    ? {
        ...errors,
        description: `${description} ${errors.description as string}`,
        content: {
          'application/json': { schema: { anyOf: [schema, { $ref: '#/components/schemas/Error' }] } },
        },
      }
    : answer(endpoint, alternative)
  return responses
}

function answer(endpoint: EndpointDescription, given: EndpointDescription['success']): Json {
  const { status, description, schema } = given
  return {
    description,
    headers: headersOf(endpoint, status),
    content: { 'application/json': { schema } },
  }
}

function errorResponses(endpoint: EndpointDescription, codes: readonly ErrorCode[]): Responses {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of new Set(codes)) {
    const { status } = ERRORS[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const described = [...byStatus].map(([status, group]) => [
    String(status),
    {
      description: group.map((code) => `\`${code}\`: ${ERRORS[code].message}`).join(' '),
      headers: headersOf(endpoint, status),
      content: {
        'application/json': {
          schema: {
            allOf: [
              { $ref: '#/components/schemas/Error' },
              { type: 'object', properties: { code: { enum: group } } },
            ],
          },
        },
      },
    },
  ])
  return Object.fromEntries(described) as Responses
}

const STATUS_NAMES: Record<string, string> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  408: 'RequestTimeout',
  409: 'Conflict',
  413: 'BodyTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Unprocessable',
  429: 'TooManyRequests',
  431: 'HeadersTooLarge',
  500: 'InternalError',
  503: 'Unavailable',
  504: 'DeadlineExceeded',
}

interface Operation {
  operationId: string
  responses: Responses
}

/**
 * Moves the error responses of all operations to components. Each is written once, and named after its status; where operations have
 * different errors of one status, the most common response has that name, and the name of another begins with its first operation.
 * @returns the components by name
 */
export function shareResponses(operations: readonly Operation[]): Responses {
  const uses = new Map<string, { status: string; text: string; by: Operation[] }>()
  for (const operation of operations)
    for (const [status, response] of Object.entries(operation.responses)) {
      if (!STATUS_NAMES[status]) continue
      const text = JSON.stringify(response)
      const use = uses.get(status + text) ?? { status, text, by: [] }
      use.by.push(operation)
      uses.set(status + text, use)
    }
  const components: Responses = {}
  const commonestFirst = [...uses.values()].sort((a, b) => b.by.length - a.by.length)
  for (const { status, text, by } of commonestFirst) {
    const plain = STATUS_NAMES[status]!
    const name = components[plain] ? pascalCase(by[0]!.operationId) + plain : plain
    components[name] = JSON.parse(text)
    for (const { responses } of by) responses[status] = { $ref: `#/components/responses/${name}` }
  }
  return Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function pascalCase(id: string): string {
  return id.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
}
