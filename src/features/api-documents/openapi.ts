/** The OpenAPI 3.1 document, made from the endpoints' own schemas and the error registry. */

import { PHOTO_GUIDANCE } from '../../../clients/capture/guidance-codes.js'
import { QUALITY_COMPONENTS } from '../../../models/pack/quality-components.js'
import type { EndpointDescription, Topic } from '../../api/endpoint.js'
import type { Environment } from '../../config/config.js'
import { ERROR_CATEGORIES, ERROR_CODES, type ErrorCode } from '../../contract/error-codes.js'
import { VERSION } from '../../lib/version.js'
import { SCOPES } from '../../tenants/key-scopes.js'
import { SANDBOX_EFFECTS } from '../../verification/sandbox/sandbox-outcomes.js'
import type { Feature } from '../feature.js'
import { descriptionsWith } from '../feature-parts.js'
import { headerComponents, responsesOf, shareResponses } from './openapi-responses.js'
import { withReferences } from './openapi-schemas.js'

type Json = Record<string, unknown>

/** Error codes that every authenticated endpoint may answer with. */
const SHARED_ERRORS: ErrorCode[] = [
  'malformed_request',
  'request_timeout',
  'headers_too_large',
  'invalid_idempotency_key',
  'missing_api_key',
  'malformed_api_key',
  'invalid_api_key',
  'revoked_api_key',
  'wrong_environment',
  'tenant_suspended',
  'network_not_allowed',
  'client_certificate_required',
  'rate_limited',
  'too_many_wrong_keys',
  'internal_error',
  'store_unavailable',
  'shutting_down',
]
/** Error codes of calls that write a record in the sandbox. */
const SANDBOX_ERRORS: ErrorCode[] = [
  'sandbox_quota_reached',
  'sandbox_daily_quota_reached',
  'sandbox_storage_low',
]
const BODY_ERRORS: ErrorCode[] = [
  'malformed_json',
  'invalid_request',
  'body_too_large',
  'unsupported_media_type',
  'deadline_exceeded',
]
const IDEMPOTENCY_ERRORS: ErrorCode[] = ['idempotency_in_progress', 'idempotency_key_reused']
const ENGINE_ERRORS: ErrorCode[] = ['overloaded', 'engine_unavailable']

/** Base URLs of the two APIs, ending in /v1. */
export type BaseUrls = Readonly<Record<Environment, string>>

/** Base URLs in docs/openapi.json, which belongs to no installation. */
const DEFAULT_BASE_URLS: BaseUrls = {
  production: 'http://127.0.0.1:8080/v1',
  sandbox: 'http://127.0.0.1:8081/v1',
}

export function buildOpenApi(features: readonly Feature[], at = DEFAULT_BASE_URLS): Json {
  const descriptions = descriptionsWith(features)
  const sent = features.flatMap(({ sends = [] }) => sends)
  // Each topic once, in the order of the endpoints.
  const topics = [...new Set([...descriptions, ...sent].map(({ topic }) => topic))]
  const paths: Record<string, Json> = {}
  const operations = descriptions.map((description) => operation(description, at))
  const responses = shareResponses(operations)
  for (const [index, { path, method }] of descriptions.entries())
    paths[path] = { ...paths[path], [method.toLowerCase()]: operations[index] }
  Object.assign(paths, ...features.map(({ documentOperations }) => documentOperations))
  const schemas: Json = {}
  // A round trip through JSON leaves the schemas' internal symbols behind.
  const webhooks = Object.assign({}, ...sent.map(({ requests }) => requests)) as Json
  const parts = { paths, responses, webhooks, Error: errorSchema() }
  const made = withReferences(JSON.parse(JSON.stringify(parts)), schemas) as Json
  return {
    openapi: '3.1.0',
    info: {
      title: 'Countersign',
      version: VERSION,
      summary: 'Biometric step-up verification.',
      description: introduction(topics),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      // The version is part of the paths.
      { url: at.production.replace(/\/v1$/, ''), description: 'Production.' },
      { url: at.sandbox.replace(/\/v1$/, ''), description: 'Sandbox.' },
    ],
    security: [{ apiKey: [] }],
    tags: topics.map(({ name, about }) => ({ name, description: about })),
    paths: made.paths,
    ...(sent.length > 0 && { webhooks: made.webhooks }),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: `A sandbox key (\`svc-sbx-…\`) or a production key (\`svc-prod-…\`), each at its own base URL. A key may have scopes, and do nothing else: ${SCOPES.map((scope) => `\`${scope}\``).join(', ')}.`,
        },
      },
      schemas: { Error: made.Error, ...schemas },
      responses: made.responses,
      headers: headerComponents(),
      parameters: commonParameters(),
    },
  }
}

const CONVENTIONS = [
  '**Null or absent.** A field that may have no value is always present, as null. A field is absent only where the request did not ask for it (`quality.images` without `include`), and in an error body where the error has none (`details` and their fields). JWTs follow their own custom: a claim that does not apply is absent.',
  '**Times** are strings by RFC 3339 in UTC and their names end in `_at`; a rotation says `valid_until` of the secret that it ends. A challenge has both `expires_in` and `expires_at`: the camera page counts its seconds down in a browser whose clock may be wrong. JWT claims count in unix seconds.',
  '**Guidance** to the person has one vocabulary, and `<countersign-capture>` has a text for each code in five languages. Answers about a whole capture (`liveness.guidance`, `POST /v1/guidance`) have a list, the most urgent code first. An entry about one fault (`quality.issues`, `details` of an error) has one code, and in `hint` an English sentence for it. `issue` and `message` are for developers, `findings` for the backend: never show them to the person.',
  '**What may come within v1**: more fields in answers, more values of every list of words that an answer holds (codes, reasons, guidance, findings, statuses, events), more endpoints, optional request fields and webhook types. Ignore fields that you do not know, and treat a word that you do not know as the most cautious case: any `verdict` but `approved` as a rejection. No field is removed or renamed, no type changed, and no optional request field required.',
]

function introduction(topics: readonly Topic[]): string {
  return [
    'Enroll a user’s face at sign-up; at a risky action, ask whether it is really that person.',
    'The answer is a JWT bound to the action. Every response of the service is signed, except what its HTTP server refuses before it has read a request (431, 505, some 400).',
    '',
    ...CONVENTIONS.map((rule) => `- ${rule}`),
    '',
    'In the sandbox no model runs: the end of `user_id` chooses the outcome, for users who are not enrolled too. A user whose id ends otherwise is approved once enrolled, and reference_not_found before. Users whose end refuses every photo (+no_face, +multiple_faces, +different_people, +low_quality, +spoof) cannot be enrolled.',
    '',
    ...Object.entries(SANDBOX_EFFECTS).map(([suffix, outcome]) => `- \`${suffix}\`: ${outcome}`),
    ...topics.flatMap(({ inSandbox }) => (inSandbox ? ['', inSandbox] : [])),
  ].join('\n')
}

function withScopes({ description, scopes }: EndpointDescription): string {
  if (scopes.length === 0) return description
  const names = scopes.map((scope) => `\`${scope}\``).join(' or ')
  return `${description}\n\nA key with scopes needs ${names}.`
}

/** The example as a request to paste. */
function withCommand(endpoint: EndpointDescription, at: BaseUrls): string {
  const { method, description, example } = endpoint
  if (!example) return description
  const path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(example[name])))
  const url = at.sandbox.replace(/\/v1$/, path)
  const sent = ` -H 'Content-Type: application/json' \\\n  --data '${JSON.stringify(exampleBody(endpoint))}'`
  const command = `curl -s ${method === 'POST' ? '' : `-X ${method} `}${url} \\
  -H 'Authorization: Bearer svc-sbx-…'${endpoint.body ? sent : ''}`
  return `${description}\n\nIn the sandbox:\n\n\`\`\`sh\n${command}\n\`\`\``
}

/** The fields of the example that stand in the body. */
function exampleBody({ example = {}, pathParameters = {} }: EndpointDescription): Json {
  return Object.fromEntries(Object.entries(example).filter(([name]) => !(name in pathParameters)))
}

function operation(endpoint: EndpointDescription, at: BaseUrls) {
  const codes = [
    ...SHARED_ERRORS,
    ...(endpoint.scopes.length > 0 ? (['insufficient_scope'] as const) : []),
    ...(endpoint.body ? BODY_ERRORS : []),
    ...(endpoint.idempotent ? IDEMPOTENCY_ERRORS : []),
    ...(endpoint.idempotent && endpoint.method === 'POST' ? SANDBOX_ERRORS : []),
    ...(endpoint.usesEngine ? ENGINE_ERRORS : []),
    ...endpoint.errors,
  ]
  const { id, operationId = id, sdkName, topic, example } = endpoint
  return {
    operationId,
    'x-sdk-name': sdkName,
    tags: [topic.name],
    summary: endpoint.summary,
    description: withCommand({ ...endpoint, description: withScopes(endpoint) }, at),
    parameters: [
      ...parameters('path', endpoint.pathParameters, example),
      ...parameters('query', endpoint.query),
      ...(endpoint.idempotent ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
      ...(id === 'verify' ? [{ $ref: '#/components/parameters/SigningKeyId' }] : []),
      { $ref: '#/components/parameters/ClientRequestId' },
    ],
    ...(endpoint.body
      ? {
          requestBody: {
            required: !endpoint.bodyOptional,
            content: {
              'application/json': {
                schema: endpoint.body,
                ...(example ? { example: exampleBody(endpoint) } : {}),
              },
            },
          },
        }
      : {}),
    responses: responsesOf(endpoint, codes),
  }
}

function parameters(
  place: 'path' | 'query',
  described: EndpointDescription['query'] = {},
  example: EndpointDescription['example'] = {},
): Json[] {
  return Object.entries(described).map(([name, { schema, description }]) => ({
    name,
    in: place,
    required: place === 'path',
    description,
    schema,
    ...(name in example ? { example: example[name] } : {}),
  }))
}

const text = (description: string, more: Json = {}) => ({ type: 'string', ...more, description })

function errorSchema(): Json {
  return {
    type: 'object',
    required: ['error', 'code', 'message', 'remedy', 'doc_url', 'request_id'],
    properties: {
      error: text('Stable category.', { enum: ERROR_CATEGORIES }),
      code: text('Stable code.', { enum: ERROR_CODES }),
      message: text('Sentence about the fault, for a developer or operator. It may change.'),
      remedy: text('Sentence about the next step. It may change.'),
      doc_url: text('Address of the page, served by this installation, that explains the code.', {
        format: 'uri',
      }),
      request_id: text('The request in which the error arose.'),
      details: {
        type: 'array',
        items: {
          type: 'object',
          required: ['path', 'issue'],
          properties: {
            path: text('The field.'),
            issue: text('The fault of the field.'),
            component: text('Quality component that is beyond its bound; only with `low_quality`.', {
              enum: [...QUALITY_COMPONENTS],
            }),
            value: { type: 'number', description: 'Measured value of the component.' },
            bound: {
              type: 'object',
              properties: { min: { type: 'number' }, max: { type: 'number' } },
              description: 'Bound that the value had to keep to.',
            },
            guidance: text(
              'Advice to the person about a photo. Each detail of a `biometric_rejected` has one; the capture component has a text for it in five languages.',
              { enum: [...PHOTO_GUIDANCE] },
            ),
            hint: text('The advice as a sentence to show to the person.'),
            scope: text('Missing scope; only with `insufficient_scope`.', { enum: [...SCOPES] }),
            requirement: text('Requirement of the policy that is not met; only with `policy_not_met`.'),
          },
        },
      },
    },
  }
}

function commonParameters(): Json {
  const header = (name: string, description: string, maxLength: number) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string', minLength: 1, maxLength },
  })
  return {
    IdempotencyKey: header(
      'X-Svc-Idempotency-Key',
      'Makes a retry safe for 24 hours: the request is executed once, and its response given again.',
      255,
    ),
    SigningKeyId: header(
      'X-Svc-Signing-Key-Id',
      'Id of the signing secret that the caller holds. During a rotation overlap, `jwt` is signed with it.',
      255,
    ),
    ClientRequestId: header(
      'X-Request-Id',
      "The caller's own id of the request; echoed in X-Client-Request-Id.",
      128,
    ),
  }
}
