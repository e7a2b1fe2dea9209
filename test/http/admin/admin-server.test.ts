import { createHmac } from 'node:crypto'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { metricsHandler } from '../../../src/http/admin/admin-server.js'
import { HostGuard } from '../../../src/http/admin/host-guard.js'
import type { IncomingRequest } from '../../../src/http/listeners/listener.js'
import { systemClock } from '../../../src/lib/clock.js'
import { base64, face } from '../../support/faces.js'
import { serviceOfFile } from '../../support/service.js'

const running = await serviceOfFile()
const tenant = await running.tenant()
const get = (path: string, options: RequestInit = {}) => fetch(running.service.adminUrl + path, options)

describe('the pages', () => {
  for (const path of ['/', '/docs/api'])
    it(`${path} allows only its own scripts and no framing`, async () => {
      const response = await get(path)
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
      const policy = response.headers.get('content-security-policy')!.split('; ')
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("script-src 'self'")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(await response.text()).not.toMatch(/<script(?![^>]*\ssrc=)|\son[a-z]+=|https?:/i)
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      expect(response.headers.get('referrer-policy')).toBe('no-referrer')
      expect(response.headers.get('cache-control')).toBe('no-store')
    })
})

it('a page that cannot be served answers 503, and the log has the reason', async () => {
  const lines: string[] = []
  const log = pino({ base: null }, { write: (line: string) => void lines.push(line) })
  const metrics = { contentType: 'text/plain', render: () => Promise.reject(new Error('no such folder')) }
  const hosts = new HostGuard(
    new Set(),
    systemClock,
    () => {},
    () => 'http://127.0.0.1:8082/errors',
  )
  const request: IncomingRequest = {
    method: 'GET',
    path: '/metrics',
    query: '',
    headers: { host: '127.0.0.1' },
    remoteAddress: '127.0.0.1',
    encrypted: false,
    signal: new AbortController().signal,
    body: async () => Buffer.alloc(0),
  }
  expect((await metricsHandler(metrics, hosts, log)(request)).status).toBe(503)
  expect(JSON.parse(lines[0]!)).toMatchObject({
    level: 50,
    path: '/metrics',
    err: { message: 'no such folder' },
  })
})

describe('probes', () => {
  it.each([
    ['/livez', 'the process runs', 'ok'],
    ['/readyz', 'the service is ready', 'ready'],
  ])('%s answers 200 while %s', async (path, _while, status) => {
    const response = await get(path)
    expect([response.status, await response.json()]).toEqual([200, { status }])
  })
})

describe('/metrics', () => {
  it('counts requests by endpoint, status and code, in the Prometheus format', async () => {
    const count = async (labels: string) => {
      const text = await (await get('/metrics')).text()
      const line = text.split('\n').find((one) => one.startsWith(`countersign_requests_total{${labels}}`))
      return Number(line?.split(' ').at(-1) ?? 0)
    }
    const ok = 'environment="sandbox",endpoint="health",status="200",code=""'
    const refused = 'environment="sandbox",endpoint="health",status="401",code="missing_api_key"'
    const before = [await count(ok), await count(refused)]
    await tenant.sandbox.health()
    await running.anonymous('sandbox').health()
    expect([await count(ok), await count(refused)]).toEqual([before[0]! + 1, before[1]! + 1])
    const response = await get('/metrics')
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  })

  it('reports engine, stages, verdicts and the process', async () => {
    await tenant.sandbox.verify({ user_id: 'u+match', image: base64(await face('ada')), action: 'x' })
    const text = await (await get('/metrics')).text()
    for (const metric of [
      'countersign_request_duration_seconds_bucket',
      'countersign_stage_duration_seconds_count{environment="sandbox",stage="auth"}',
      'countersign_verdicts_total{environment="sandbox",verdict="approved",reason=""}',
      'countersign_engine_workers_ready 1',
      'countersign_engine_workers 1',
      'countersign_engine_queue_waiting',
      'process_resident_memory_bytes',
    ])
      expect(text).toContain(metric)
    // Every line is a comment or a sample.
    for (const line of text.split('\n').filter(Boolean))
      expect(line).toMatch(/^(# (HELP|TYPE) |[a-zA-Z_:][\w:]*(\{[^}]*\})? \S+$)/)
  })

  it('makes no label of a caller’s input', async () => {
    const series = async () => (await (await get('/metrics')).text()).match(/^countersign_\w+/gm)!.length
    await tenant.sandbox.call('GET', '/v1/unknown-0')
    await tenant.sandbox.verify({ user_id: 'someone-0+match', image: 'AAAA', action: 'x' })
    const before = await series()
    for (let i = 1; i < 5; i++) {
      await tenant.sandbox.call('GET', `/v1/unknown-${i}`)
      await tenant.sandbox.verify({ user_id: `someone-${i}+match`, image: 'AAAA', action: 'x' })
    }
    expect(await series()).toBe(before)
    expect(await (await get('/metrics')).text()).not.toMatch(/unknown-\d|someone-\d/)
  })
})

describe('every address of the admin listener', () => {
  const PAGES = ['/', '/docs/api', '/livez', '/readyz', '/metrics', '/v1/openapi.json']

  for (const path of PAGES) {
    it(`${path} answers HEAD like GET, without the body`, async () => {
      const [head, full] = [await get(path, { method: 'HEAD' }), await get(path)]
      expect(head.status).toBe(full.status)
      expect(head.headers.get('content-type')).toBe(full.headers.get('content-type'))
      expect(await head.text()).toBe('')
    })

    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
      it(`${path} refuses ${method}`, async () => {
        const response = await get(path, { method })
        expect(response.status).toBe(405)
        expect(response.headers.get('allow')).toBe('GET, HEAD')
      })
  }

  for (const path of [
    '/nothing',
    '/v1/health',
    '/v1/verify',
    '/livez/',
    '/__proto__',
    '/constructor',
    '/../etc/passwd',
  ])
    it(`${path} is not found`, async () => {
      const response = await get(path)
      expect(response.status).toBe(404)
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      expect(await response.text()).toBe('There is no such page.\n')
    })

  it('/sandbox/v1/ answers like the sandbox’s own listener, and never reaches production', async () => {
    const call = (path: string, key?: string, options: RequestInit = {}) =>
      get(`/sandbox${path}`, { ...options, headers: key ? { Authorization: `Bearer ${key}` } : {} })
    const health = await call('/v1/health', tenant.sandboxKey)
    expect(health.status).toBe(200)
    // The signature covers the path of the API and uses the tenant's own secret.
    const { secret, id } = tenant.secret
    const [, t, mac] = /^t=(\d+),kid=.*,v2=(.*)$/.exec(health.headers.get('x-svc-signature')!)!
    const text = await health.text()
    const signed = `v2:sandbox:${t}:${health.headers.get('x-request-id')}:200:GET:/v1/health:${text}`
    expect(health.headers.get('x-svc-signature')).toContain(`kid=${id},`)
    expect(mac).toBe(createHmac('sha256', secret).update(signed).digest('hex'))
    const { key } = await running.production(tenant)
    const refused = await call('/v1/health', key)
    expect(refused.status).toBe(403)
    expect(await refused.json()).toMatchObject({ code: 'wrong_environment' })
    expect((await call('/v1/health')).status).toBe(401)
    const preflight = await call('/v1/verify', undefined, { method: 'OPTIONS' })
    expect(preflight.ok).toBe(false)
    expect(preflight.headers.get('access-control-allow-origin')).toBeNull()
    expect((await call('/api/session', tenant.sandboxKey)).status).toBe(404)
  })

  it('ignores a query', async () => {
    expect((await get('/livez?probe=1')).status).toBe(200)
  })
})
