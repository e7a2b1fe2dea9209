/** docs/postman.json: the OpenAPI document as a collection of requests, for Postman, Bruno, Insomnia and others that read its format. */

// biome-ignore lint/suspicious/noExplicitAny: a JSON document, looked into freely
type Json = any

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json'

/** Values of fields, before those of the endpoint's example. A user of the collection sets the variables once. */
const VALUES: Record<string, unknown> = {
  user_id: '{{user_id}}',
  image: '{{image}}',
  return_url: '{{return_url}}',
  action: { type: 'wire_transfer', amount: '1250.00', currency: 'EUR' },
  challenge_id: '{{challenge_id}}',
  nonce: '{{nonce}}',
  credential: '{{credential}}',
}

const VARIABLES = [
  ['base_url', 'http://127.0.0.1:8081', 'Without /v1. The sandbox of `npm start`.'],
  ['api_key', '', 'svc-sbx-… or svc-prod-…, as the base URL is.'],
  ['user_id', 'user-4711', 'Your own id of the user.'],
  [
    'return_url',
    'https://bank.example/',
    'Where the capture page leads back to; its origin must be allowed.',
  ],
  ['session_id', '', 'As `POST /v1/capture-sessions` named it.'],
  ['verification_id', '', 'As `POST /v1/verify` named it.'],
  ['challenge_id', '', 'As `POST /v1/users/{user_id}/passkeys/registration` named it.'],
  ['nonce', '', 'As the same call named it.'],
  ['credential', '{}', 'JSON of what the browser answered to the options of that call.'],
  ['passkey_id', '', 'As `POST /v1/users/{user_id}/passkeys` named it.'],
  ['image', '', 'A JPEG, PNG or WebP file in base64.'],
] as const

export function postmanCollection(document: Json): Json {
  const operations = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  return {
    info: { name: document.info.title, description: document.info.summary, schema: SCHEMA },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{api_key}}', type: 'string' }] },
    variable: [
      ...VARIABLES.map(([key, value, description]) => ({ key, value, description })),
      ...furtherVariables(operations.map(({ operation }) => operation)),
    ],
    item: document.tags
      .map(({ name, description }: Json) => ({
        name,
        description,
        item: operations
          .filter(({ operation }) => operation.tags[0] === name)
          .map((one) => item(one, document)),
      }))
      // Webhooks are no requests to the service.
      .filter((folder: Json) => folder.item.length > 0),
  }
}

/** The parameters of paths that no variable is named for, with the values of examples. */
function furtherVariables(operations: Json[]): Json[] {
  const named: string[] = VARIABLES.map(([key]) => key)
  return operations
    .flatMap(({ parameters = [] }) => parameters)
    .filter((parameter) => parameter.in === 'path' && !named.includes(parameter.name))
    .map(({ name, example, description }) => ({ key: name, value: String(example ?? ''), description }))
}

function item(
  { path, method, operation }: { path: string; method: string; operation: Json },
  document: Json,
) {
  const { schema, example: values = {} } = operation.requestBody?.content['application/json'] ?? {}
  const segments = path.slice(1).replaceAll('{', '{{').replaceAll('}', '}}').split('/')
  const query = (operation.parameters as Json[])
    // Parameters that the body has are left out of the query.
    .filter((parameter) => parameter.in === 'query' && !schema)
    .map(({ name, schema: { examples, default: value }, description }) => ({
      key: name,
      value: String(examples?.[0] ?? value ?? ''),
      description,
      disabled: true,
    }))
  return {
    name: operation.summary,
    request: {
      method: method.toUpperCase(),
      description: operation.description,
      header: schema ? [{ key: 'Content-Type', value: 'application/json' }] : [],
      url: { raw: `{{base_url}}/${segments.join('/')}`, host: ['{{base_url}}'], path: segments, query },
      ...(schema ? { body: { mode: 'raw', raw: rawBody(example(schema, document, values)) } } : {}),
    },
  }
}

/** @returns the body as text, in which the variable of an object stands without quotes */
function rawBody(value: Json): string {
  return JSON.stringify(value, null, 2).replaceAll('"{{credential}}"', '{{credential}}')
}

/** Only the required fields, and the action, which a challenge for a verify must name. Of alternatives, the first one. */
function example(schema: Json, document: Json, values: Json): Json {
  if (schema.$ref)
    return example(document.components.schemas[schema.$ref.split('/').at(-1)], document, values)
  if (schema.oneOf) return example(schema.oneOf[0], document, values)
  const fields = new Set([
    ...(schema.required ?? []),
    ...('action' in (schema.properties ?? {}) ? ['action'] : []),
  ])
  return Object.fromEntries([...fields].map((name: string) => [name, VALUES[name] ?? values[name]]))
}
