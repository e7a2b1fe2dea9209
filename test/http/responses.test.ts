import { describe, expect, it } from 'vitest'
import { VERSION } from '../../src/lib/version.js'
import { type ApiResponse, apiClient } from '../support/client.js'
import { base64, face } from '../support/faces.js'
import { plain } from '../support/images.js'
import { exchange, rawRequest } from '../support/raw-socket.js'
import { serviceOfFile } from '../support/service.js'
import { validSignatures } from '../support/trust.js'

const running = await serviceOfFile({ COUNTERSIGN_LOCKOUT_ATTEMPTS: '0' })
const tenant = await running.tenant()
const { sandbox } = tenant
const production = await running.production(tenant)
const image = base64(await plain())
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** Successes and refusals of every kind, from both environments. */
async function everyKindOfResponse(): Promise<Record<string, ApiResponse>> {
  const photo = base64(await face('ada'))
  return {
    enrolled: await production.enroll({ user_id: 'ada', image: photo, replace: true }),
    verified: await production.verify({ user_id: 'ada', image: photo, action: 'x' }),
    erased: await production.erase('ada'),
    health: await sandbox.health(),
    openapi: await sandbox.call('GET', '/v1/openapi.json'),
    'bad request': await sandbox.enroll({}),
    unauthenticated: await running.anonymous('production').health(),
    'wrong environment': await apiClient(running.service.url('production'), tenant.sandboxKey).health(),
    'unknown path': await sandbox.call('GET', '/nothing'),
    'wrong method': await sandbox.call('PUT', '/v1/enroll', {}),
    unprocessable: await sandbox.enroll({ user_id: 'a+no_face', image }),
    limited: await sandbox.enroll({ user_id: 'a+rate_limited', image }),
    unavailable: await sandbox.enroll({ user_id: 'a+unavailable', image }),
  }
}

describe('every response', () => {
  it('answers with a request id, as JSON that is neither stored nor sniffed', async () => {
    const ids = new Set<string>()
    for (const [kind, { headers, text }] of Object.entries(await everyKindOfResponse())) {
      expect(headers.get('x-request-id'), kind).toMatch(UUID_V7)
      ids.add(headers.get('x-request-id')!)
      expect(headers.get('content-type'), kind).toBe('application/json; charset=utf-8')
      expect(headers.get('cache-control'), kind).toBe('no-store')
      expect(headers.get('x-content-type-options'), kind).toBe('nosniff')
      expect(headers.get('x-svc-signature'), kind).toMatch(/^t=\d+,kid=[^,]+,v2=[0-9a-f]{64}$/)
      expect(() => JSON.parse(text), kind).not.toThrow()
    }
    expect(ids.size).toBe(13)
  })

  it('gives each response a request id of the time of the request', async () => {
    const id = (await sandbox.health()).headers.get('x-request-id')!
    expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(running.clock.now())
  })

  it('names the stages of an authenticated request in Server-Timing', async () => {
    for (const [kind, { headers }] of Object.entries(await everyKindOfResponse()))
      expect(headers.get('server-timing'), kind).toMatch(/^([a-z]+;dur=\d+(\.\d+)?(, |$))+$/)
    const photo = base64(await face('ada'))
    await production.enroll({ user_id: 'timed', image: photo })
    const { headers } = await production.verify({ user_id: 'timed', image: photo, action: 'x' })
    for (const stage of ['auth', 'queue', 'decode', 'detect', 'align', 'embed', 'match', 'store', 'sign'])
      expect(headers.get('server-timing')).toContain(`${stage};dur=`)
  })
})

describe('a caller’s own request id', () => {
  it('echoes the caller’s request id next to that of the service', async () => {
    for (const id of ['mine', 'x'.repeat(128), 'a b~!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}']) {
      const { headers } = await sandbox.call('GET', '/v1/health', undefined, {
        headers: { 'X-Request-Id': id },
      })
      expect(headers.get('x-client-request-id')).toBe(id)
      expect(headers.get('x-request-id')).toMatch(UUID_V7)
    }
  })

  it('echoes the caller’s request id on refusals', async () => {
    const { headers } = await running
      .anonymous('sandbox')
      .call('GET', '/v1/health', undefined, { headers: { 'X-Request-Id': 'mine' } })
    expect(headers.get('x-client-request-id')).toBe('mine')
  })

  it('does not echo a request id that is too long or not printable ASCII', async () => {
    expect((await sandbox.health()).headers.has('x-client-request-id')).toBe(false)
    for (const id of ['', 'x'.repeat(129), 'caf\u00e9s', 'a\tb', 'a\u0080b']) {
      const bytes = rawRequest('GET /v1/health', [
        `Authorization: Bearer ${tenant.sandboxKey}`,
        `X-Request-Id: ${id}`,
      ])
      const response = await exchange(running.service.url('sandbox'), Buffer.from(bytes, 'latin1'))
      expect(response?.status).toBe(200)
      expect(response?.headers, JSON.stringify(id)).not.toHaveProperty('x-client-request-id')
    }
  })
})

describe('the signature', () => {
  const ours = () => ({ [tenant.secret.id]: tenant.secret.secret })
  const instance = () => ({ instance: running.service.core.keys.instance.toString('hex') })

  it('signs every answer to an authenticated caller with the tenant’s secret', async () => {
    const responses = await everyKindOfResponse()
    for (const kind of [
      'enrolled',
      'verified',
      'erased',
      'health',
      'bad request',
      'unknown path',
      'wrong method',
      'unprocessable',
      'limited',
      'unavailable',
    ])
      expect(validSignatures(responses[kind]!, ours()), kind).toEqual([tenant.secret.id])
  })

  it('signs every other response with the instance’s secret', async () => {
    const anonymous = running.anonymous('sandbox')
    const foreign = apiClient(running.service.url('production'), tenant.sandboxKey)
    for (const response of [
      await anonymous.health(),
      await anonymous.call('GET', '/v1/nothing'),
      await anonymous.call('PUT', '/v1/enroll', {}),
      await foreign.health(),
      await apiClient(running.service.url('sandbox'), 'svc-sbx-wrong').enroll({ user_id: 'x', image }),
      await anonymous.call('GET', '/v1/openapi.json'),
    ])
      expect(validSignatures(response, instance())).toEqual(['instance'])
  })

  it('signs the query', async () => {
    const target = '/v1/delete?user_id=a%20b'
    const response = await sandbox.call('DELETE', target)
    expect(validSignatures(response, ours())).toEqual([tenant.secret.id])
    const elsewhere = { ...response, request: { method: 'DELETE', target: '/v1/delete' } }
    expect(validSignatures(elsewhere, ours())).toEqual([])
  })

  it('signs status, method, body and request id', async () => {
    const response = await sandbox.health()
    const forged: ApiResponse[] = [
      { ...response, status: 201 },
      { ...response, text: response.text.replace('ok', 'OK') },
      { ...response, request: { ...response.request, method: 'POST' } },
      { ...response, headers: changed(response.headers, 'x-request-id', 'another') },
      {
        ...response,
        headers: changed(
          response.headers,
          'x-svc-signature',
          response.headers.get('x-svc-signature')!.replace(/^t=\d/, 't=9'),
        ),
      },
    ]
    expect(validSignatures(response, ours())).toEqual([tenant.secret.id])
    for (const response of forged) expect(validSignatures(response, ours())).toEqual([])
  })

  it('stamps the signature with the clock', async () => {
    const stamp = (await sandbox.health()).headers.get('x-svc-signature')!
    expect(stamp.startsWith(`t=${Math.floor(running.clock.now() / 1000)},`)).toBe(true)
  })

  it('signs bytes outside ASCII as they are sent', async () => {
    const response = await sandbox.enroll({ user_id: 'größe-😀', image })
    expect(response.body.user_id).toBe('größe-😀')
    expect(validSignatures(response, ours())).toEqual([tenant.secret.id])
  })

  function changed(headers: Headers, name: string, value: string): Headers {
    const copy = new Headers(headers)
    copy.set(name, value)
    return copy
  }
})

describe('an address', () => {
  const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
  const ADDRESSES: Record<string, string> = {
    '/v1/enroll': 'POST',
    '/v1/verify': 'POST',
    '/v1/delete': 'DELETE',
    '/v1/health': 'GET',
    '/v1/keys/rotate-signing': 'POST',
    '/v1/openapi.json': 'GET',
  }
  for (const [path, allowed] of Object.entries(ADDRESSES))
    it(`refuses every other method with 405 and Allow: ${path}`, async () => {
      for (const client of [sandbox, production, running.anonymous('sandbox')])
        for (const method of METHODS.filter((method) => method !== allowed)) {
          const response = await client.call(method, path)
          expect(response.status, method).toBe(405)
          expect(response.body).toMatchObject({ error: 'invalid_request', code: 'method_not_allowed' })
          expect(response.headers.get('allow')).toBe(allowed)
        }
    })

  it('answers an unknown address with 404, and names the version', async () => {
    for (const path of [
      '/',
      '/health',
      '/enroll',
      '/v2/health',
      '/v1',
      '/v1/',
      '/v1/health/',
      '/v1//health',
      '/V1/health',
      '/v1/healthz',
      '/v1/%68ealth',
      '/v1/keys',
      '/v1/constructor',
      '/__proto__',
      '/livez',
      '/metrics',
    ])
      for (const client of [sandbox, running.anonymous('production')]) {
        const response = await client.call('GET', path)
        expect(response.status, path).toBe(404)
        expect(response.body).toMatchObject({ error: 'not_found', code: 'unknown_endpoint' })
        expect(response.body.message).toContain('/v1')
      }
  })

  it('knows every address in both environments', async () => {
    for (const client of [sandbox, production]) expect((await client.health()).status).toBe(200)
  })

  it('serves the OpenAPI document without a key', async () => {
    const response = await running.anonymous('production').call('GET', '/v1/openapi.json')
    expect(response.status).toBe(200)
    expect(response.body.openapi).toMatch(/^3\.1/)
    expect(Object.keys(response.body.paths)).toEqual(
      expect.arrayContaining([
        '/v1/enroll',
        '/v1/verify',
        '/v1/delete',
        '/v1/health',
        '/v1/keys/rotate-signing',
      ]),
    )
    expect(response.body.info.version).toBe(VERSION)
  })
})
