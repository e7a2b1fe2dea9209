import { createConfig, lintFromString } from '@redocly/openapi-core'
import Format from 'typebox/format'
import Schema from 'typebox/schema'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ERRORS } from '../src/contract/error-codes.js'
import { buildOpenApi } from '../src/features/api-documents/openapi.js'
import { loadFeatures } from '../src/features/index.js'
import { documentInDocs } from '../tools/generators/docs.js'
import { allowReturn, askForSession, Visitor } from './support/capture-page.js'
import { type ApiClient, type ApiResponse, apiClient } from './support/client.js'
import { DESCRIPTIONS, examplePath, OPENAPI } from './support/descriptions.js'
import { base64, face, landscape } from './support/faces.js'
import { startService, type TestService, type TestTenant } from './support/service.js'

// biome-ignore lint/suspicious/noExplicitAny: a JSON document, looked into freely
type Json = any

const document = OPENAPI as Json

describe('the OpenAPI document', () => {
  it('stands in docs/openapi.json (UPDATE_DOCS=1 writes it)', () => {
    const text = `${JSON.stringify(document, null, 2)}\n`
    expect(documentInDocs('openapi.json', text)).toBe(text)
  })

  it('lints clean', async () => {
    const config = await createConfig({ extends: ['recommended'] })
    const problems = await lintFromString({ source: JSON.stringify(document), config })
    expect(
      problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`),
    ).toEqual([])
  })

  it('names every error code that an endpoint can answer with', () => {
    const documented = new Set(
      Object.values(document.paths as Json)
        .flatMap((path: Json) => Object.values(path))
        .flatMap((operation: Json) => Object.values(operation.responses))
        .flatMap((response: Json) => codesOf(response)),
    )
    // An unknown address has no operation to list its errors under.
    const addressless = ['unknown_endpoint', 'method_not_allowed']
    expect(Object.keys(ERRORS).filter((code) => !documented.has(code))).toEqual(addressless)
  })

  it('leaves a field out of a success only where the request did not ask for it', () => {
    const absent = new Set<string>()
    for (const operation of Object.values(document.paths as Json).flatMap((path: Json) =>
      Object.values(path),
    ))
      for (const [status, response] of Object.entries((operation as Json).responses as Json))
        if (status.startsWith('2')) optionalFields(closed(resolved(response).content), absent)
    // Asked for by `include`, and by `locale` and `passkey` of a challenge. The note belongs to a text that is hashed as it is.
    const asked = ['display', 'images', 'note', 'passkey']
    // A bound that does not exist.
    expect([...absent].sort()).toEqual([...asked, 'max', 'min'].sort())
  })
})

/** Adds the names of the fields that objects of the schema may lack, at any depth. */
function optionalFields(schema: Json, names: Set<string>): void {
  if (typeof schema !== 'object' || schema === null) return
  for (const name of Object.keys(schema.type === 'object' ? (schema.properties ?? {}) : {}))
    if (!(schema.required ?? []).includes(name)) names.add(name)
  for (const part of Object.values(schema)) optionalFields(part, names)
}

/** The value at the place that a reference names, or the value itself. */
function resolved(value: Json): Json {
  if (typeof value?.$ref !== 'string') return value
  const path = value.$ref.slice(2).split('/')
  return path.reduce((at: Json, name: string) => at[name], document)
}

function codesOf(response: Json): string[] {
  const schema = resolved(response).content?.['application/json']?.schema
  return (schema?.allOf ?? []).flatMap((part: Json) => part.properties?.code?.enum ?? [])
}

/** The schema with its references resolved and its objects closed, so that an undocumented field is a fault. */
function closed(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  if (typeof schema.$ref === 'string') return closed(resolved(schema))
  if (schema.allOf) {
    // allOf and closed objects contradict each other, so the parts become one.
    const parts = schema.allOf.map(closed)
    return {
      ...parts[0],
      properties: Object.assign({}, ...parts.map(({ properties }: Json) => properties)),
    }
  }
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]))
  if (copy.type === 'object' && copy.properties) copy.additionalProperties = false
  return copy
}

/** The faults of a body by its schema in the document; empty where it has none. */
function faults(schema: Json, body: unknown): unknown[] {
  const [valid, errors] = Schema.Errors(closed(schema), body)
  return valid ? [] : errors
}

/** The document's path of an address: of those that fit, the one with the fewest parameters. */
function templateOf(address: string): string {
  const [path] = address.split('?')
  const fitting = Object.keys(document.paths).filter((template) =>
    new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path!),
  )
  const parametersOf = (template: string) => template.split('{').length
  return fitting.sort((a, b) => parametersOf(a) - parametersOf(b))[0] ?? path!
}

function expectDocumented(address: string, method: string, response: ApiResponse): void {
  const path = templateOf(address)
  const documented = resolved(document.paths[path]?.[method.toLowerCase()]?.responses[response.status])
  expect(documented, `${method} ${path} ${response.status} ${response.text.slice(0, 200)}`).toBeDefined()
  const { schema } = documented.content['application/json']
  expect(faults(schema, response.body)).toEqual([])
  const known = Object.keys(documented.headers).map((name) => name.toLowerCase())
  const ordinary = [
    'cache-control',
    'connection',
    'content-length',
    'content-type',
    'date',
    'keep-alive',
    'transfer-encoding',
    'uwebsockets',
    'www-authenticate',
    'x-content-type-options',
  ]
  expect(
    [...response.headers.keys()].filter((name) => !known.includes(name) && !ordinary.includes(name)),
  ).toEqual([])
}

describe('real responses are as documented', () => {
  let running: TestService
  let tenant: TestTenant
  let production: ApiClient & { key: string }
  let photo: string
  let plain: string

  beforeAll(async () => {
    running = await startService({
      COUNTERSIGN_LOCKOUT_ATTEMPTS: '2',
      COUNTERSIGN_CAPTURE_LISTEN: '127.0.0.1:0',
    })
    tenant = await running.tenant()
    production = await running.production(tenant)
    photo = base64(await face('ada'))
    plain = base64(await landscape())
  })
  afterAll(() => running?.stop())

  it('the checker sees an undocumented field, a missing one and a wrong one', () => {
    const schema = { $ref: '#/components/schemas/Error' }
    const body = {
      ...{ error: 'conflict', code: 'already_enrolled', message: 'm', request_id: 'r' },
      ...{ remedy: 'r', doc_url: 'https://verify.example/errors#already_enrolled' },
    }
    expect(faults(schema, body)).toEqual([])
    expect(faults(schema, { ...body, more: 1 })).not.toEqual([])
    expect(faults(schema, { ...body, code: 'other' })).not.toEqual([])
    expect(faults(schema, { ...body, message: undefined })).not.toEqual([])
    expect(Format.IsDateTime('2026-01-31T12:00:00.000Z')).toBe(true)
  })

  async function check(
    client: ApiClient,
    method: string,
    path: string,
    json: unknown,
    status: number,
    code?: string,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse> {
    const response = await client.call(method, path, json, { headers })
    expect({ status: response.status, code: response.body?.code }, response.text.slice(0, 300)).toEqual({
      status,
      code,
    })
    expectDocumented(path, method, response)
    return response
  }

  for (const environment of ['production', 'sandbox'] as const)
    it(`documents the answers of every endpoint in ${environment}`, async () => {
      const client = environment === 'production' ? production : tenant.sandbox
      const user = `everyone-${environment}`
      const key = { 'X-Svc-Idempotency-Key': `key-${environment}`, 'X-Request-Id': 'mine' }
      await check(client, 'GET', '/v1/health', undefined, 200)
      const enrolment = {
        user_id: user,
        image: photo,
        consent: { id: 'c-1', agreed_at: '2026-01-31T12:00:00Z' },
      }
      await check(client, 'POST', '/v1/enroll', enrolment, 201, undefined, key)
      const replayed = await check(client, 'POST', '/v1/enroll', enrolment, 201, undefined, key)
      expect(replayed.headers.get('x-svc-idempotent-replay')).toBe('true')
      await check(
        client,
        'POST',
        '/v1/enroll',
        { ...enrolment, replace: true },
        422,
        'idempotency_key_reused',
        key,
      )
      await check(client, 'POST', '/v1/enroll', enrolment, 409, 'already_enrolled')
      await check(client, 'POST', '/v1/enroll', { ...enrolment, images: [photo] }, 400, 'invalid_request')
      await check(
        client,
        'POST',
        '/v1/enroll',
        { user_id: user, image: base64(Buffer.from('x')), replace: true },
        422,
        'image_unreadable',
      )
      const verification = { user_id: user, image: photo, action: { type: 'transfer' }, nonce: 'n' }
      await check(client, 'POST', '/v1/verify', verification, 200)
      await check(
        client,
        'POST',
        '/v1/verify',
        { ...verification, user_id: 'stranger' },
        404,
        'reference_not_found',
      )
      await check(client, 'POST', '/v1/verify', { ...verification, action: 7 }, 400, 'invalid_request')
      await check(client, 'POST', '/v1/verify', verification, 400, 'invalid_idempotency_key', {
        'X-Svc-Idempotency-Key': 'k'.repeat(256),
      })
      await check(client, 'POST', '/v1/guidance', { image: photo, step: 'turn_left' }, 200)
      await check(client, 'POST', '/v1/guidance', { image: photo, step: 'smile' }, 400, 'invalid_request')
      await check(client, 'GET', `/v1/users/${user}`, undefined, 200)
      await check(client, 'GET', '/v1/users/stranger', undefined, 404, 'reference_not_found')
      await check(client, 'GET', `/v1/users/${'x'.repeat(129)}`, undefined, 400, 'invalid_request')
      await check(client, 'GET', '/v1/audit?limit=2', undefined, 200)
      await check(client, 'GET', '/v1/audit?limit=0', undefined, 400, 'invalid_request')
      await check(client, 'DELETE', '/v1/delete', { user_id: user }, 200)
      await check(client, 'DELETE', `/v1/delete?user_id=${user}`, undefined, 200)
      await check(client, 'DELETE', '/v1/delete', { user_id: 'stranger' }, 404, 'reference_not_found')
      await check(client, 'DELETE', '/v1/delete', {}, 400, 'invalid_request')
    })

  it('documents the answers of every scripted outcome in the sandbox', async () => {
    const OUTCOMES = {
      match: [201, 200, 200],
      no_match: [201, 200, 200],
      spoof: [422, 200, 404],
      low_quality: [422, 422, 404],
      no_face: [422, 422, 404],
      multiple_faces: [422, 422, 404],
      rate_limited: [429, 429, 429],
      unavailable: [503, 503, 503],
    }
    for (const [outcome, statuses] of Object.entries(OUTCOMES)) {
      const user_id = `u+${outcome}`
      const responses = [
        await tenant.sandbox.enroll({ user_id, image: photo }),
        await tenant.sandbox.verify({ user_id, image: photo, action: 'x' }),
        await tenant.sandbox.erase(user_id),
      ]
      const looked = await tenant.sandbox.call('GET', `/v1/users/${encodeURIComponent(user_id)}`)
      expectDocumented(looked.request.target, 'GET', looked)
      expect(
        responses.map(({ status }) => status),
        outcome,
      ).toEqual(statuses)
      for (const response of responses)
        expectDocumented(response.request.target, response.request.method, response)
    }
  })

  it('documents the answers of a lockout, a rejection and a rotation', async () => {
    const other = await running.tenant()
    const client = await running.production(other)
    await client.enroll({ user_id: 'ada', image: photo })
    const grace = base64(await face('grace'))
    for (const reason of ['no_match', 'no_match', 'locked_out']) {
      const rejected = await check(
        client,
        'POST',
        '/v1/verify',
        { user_id: 'ada', image: grace, action: 'x' },
        200,
      )
      expect(rejected.body).toMatchObject({ verdict: 'rejected', reason })
    }
    await check(client, 'POST', '/v1/verify', { user_id: 'ada', image: plain, action: 'x' }, 200)
    await check(client, 'POST', '/v1/enroll', { user_id: 'bob', image: plain }, 422, 'face_not_found')
    await check(client, 'POST', '/v1/keys/rotate-signing', {}, 200)
    await check(client, 'POST', '/v1/keys/rotate-signing', {}, 409, 'rotation_in_progress')
    await check(client, 'POST', '/v1/keys/rotate-signing', { force: true }, 200)
    await check(client, 'POST', '/v1/keys/rotate-signing', { force: 'yes' }, 400, 'invalid_request')
    await check(other.sandbox, 'POST', '/v1/keys/rotate-signing', {}, 403, 'production_key_required')
    await client.enroll({ user_id: 'eve', image: photo })
    const overlapping = await check(
      client,
      'POST',
      '/v1/verify',
      { user_id: 'eve', image: photo, action: 'x' },
      200,
    )
    expect(overlapping.body.jwt_next).toEqual(expect.any(String))
  })

  for (const { method, path } of DESCRIPTIONS)
    it(`documents the refusals of ${method} ${path} for callers without a right to it`, async () => {
      const url = running.service.url('production')
      const json = method === 'GET' ? undefined : {}
      await check(apiClient(url), method, path, json, 401, 'missing_api_key')
      await check(apiClient(url, 'nonsense'), method, path, json, 401, 'malformed_api_key')
      await check(apiClient(url, tenant.sandboxKey), method, path, json, 403, 'wrong_environment')
      await check(production, method, path, json, 400, 'invalid_idempotency_key', {
        'X-Svc-Idempotency-Key': 'k'.repeat(256),
      })
    })

  it('documents the refusals of a body that cannot be parsed', async () => {
    for (const [raw, type, code] of [
      ['{', 'application/json', 'malformed_json'],
      ['{}', 'text/plain', 'unsupported_media_type'],
    ] as const) {
      const response = await production.call('POST', '/v1/verify', undefined, {
        raw,
        headers: { 'Content-Type': type },
      })
      expect(response.body.code).toBe(code)
      expectDocumented('/v1/verify', 'POST', response)
    }
    const large = await production.enroll({ user_id: 'u', image: 'A'.repeat(9_000_000) })
    expect(large.body.code).toBe('body_too_large')
    expectDocumented('/v1/enroll', 'POST', large)
  })

  it('answers an unknown address with an error of the documented shape', async () => {
    for (const [method, path, code] of [
      ['GET', '/v1/nothing', 'unknown_endpoint'],
      ['GET', '/v1/verify', 'method_not_allowed'],
    ] as const) {
      const response = await production.call(method, path)
      expect(response.body.code).toBe(code)
      expect(faults({ $ref: '#/components/schemas/Error' }, response.body)).toEqual([])
    }
  })

  it('documents the refusal over the rate limit', async () => {
    const limited = await running.tenant({ ratePerSecond: 1 })
    const client = await running.production(limited)
    const responses = [await client.health(), await client.health(), await client.health()]
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 429])
    for (const response of responses) expectDocumented('/v1/health', 'GET', response)
  })

  it('serves the document with the addresses of this installation on every listener without a key', async () => {
    const at = { production: running.service.url('production'), sandbox: running.service.url('sandbox') }
    const own = buildOpenApi(await loadFeatures(), at) as Json
    expect(own.servers.map(({ url }: Json) => `${url}/v1`)).toEqual(Object.values(at))
    for (const url of [
      running.service.url('production').replace(/\/v1$/, ''),
      running.service.url('sandbox').replace(/\/v1$/, ''),
      running.service.adminUrl,
    ]) {
      const response = await fetch(`${url}/v1/openapi.json`)
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toContain('application/json')
      expect(await response.json()).toEqual(own)
    }
  })

  it('documents a session of the capture page before and after its verdict', async () => {
    await allowReturn(running, tenant)
    const { sandbox } = tenant
    const made = await askForSession(sandbox, { user_id: 'documented+match' })
    expectDocumented('/v1/capture-sessions', 'POST', made)
    const address = `/v1/capture-sessions/${made.body.session_id}`
    expectDocumented(address, 'GET', await sandbox.call('GET', address))
    const visitor = new Visitor(made.body.url)
    await visitor.open()
    await visitor.agree()
    await visitor.capture(plain)
    const done = await sandbox.call('GET', address)
    expect(done.body.result.status).toBe(200)
    expectDocumented(address, 'GET', done)
    const verdict = document.paths['/v1/verify'].post.responses[200].content['application/json'].schema
    expect(faults(verdict, done.body.result.body)).toEqual([])
    expectDocumented(address, 'GET', await production.call('GET', address))
  })

  it('has examples that the sandbox accepts unchanged, and shows them as commands', async () => {
    const other = await running.tenant()
    await allowReturn(running, other)
    const { sandbox } = other
    const shown = DESCRIPTIONS.filter(({ example }) => example)
    expect(shown.length).toBeGreaterThan(5)
    // The others need the user whom the example of an erasure erases.
    for (const one of shown.sort((a, b) => Number(a.id === 'delete') - Number(b.id === 'delete'))) {
      const { description, requestBody } = document.paths[one.path][one.method.toLowerCase()]
      const example = requestBody?.content['application/json'].example
      expect(description).toContain(example ? `--data '${JSON.stringify(example)}'` : 'curl')
      const answer = await sandbox.call(one.method, examplePath(one), example)
      expect(answer.status, one.id).toBe(one.success.status)
    }
  })
})
