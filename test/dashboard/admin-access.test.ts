/** Access to the admin listener: by which channels, host names and passwords it is reached, and what it reveals over each. */

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { addressOf, loginToken, request, signIn, signInAt } from '../support/dashboard.js'
import { OPERATOR_PASSWORD } from '../support/operator.js'
import { startService, type TestService } from '../support/service.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { overTransports } from '../support/transports.js'

const dir = temporaryFolder()
const path = (name: string) => join(dir, name)

const services: TestService[] = []
async function start(env: Record<string, string> = {}): Promise<TestService> {
  const running = await startService(env)
  services.push(running)
  return running
}
afterEach(async () => {
  await Promise.all(services.splice(0).map((running) => running.stop()))
})

interface Answer {
  status: number
  headers: Record<string, unknown>
  text: string
}

/** Sends a request as a browser does whose page has the host name `host`. Names in certificates are not checked. */
function ask(base: string, target: string, host?: string, body?: unknown): Promise<Answer> {
  const { protocol, hostname, port } = new URL(base)
  const secure = protocol === 'https:'
  return new Promise((resolve, reject) => {
    const options = {
      hostname,
      port,
      path: target,
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(host === undefined ? {} : { Host: host, Origin: `${protocol}//${host}` }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      rejectUnauthorized: false,
    }
    const sent = (secure ? httpsRequest : httpRequest)(options, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, text }))
    })
    sent.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
  })
}

describe('a page whose foreign host name was rebound to this address', () => {
  it('reads nothing and signs nobody in', async () => {
    const running = await start()
    const { adminUrl } = running.service
    const { port } = new URL(adminUrl)
    const targets = [
      '/',
      '/metrics',
      '/livez',
      '/v1/openapi.json',
      '/api/session',
      '/sandbox/v1/health',
      '/nothing',
    ]
    for (const target of targets) {
      const answer = await ask(adminUrl, target, `evil.example:${port}`)
      expect([answer.status, JSON.parse(answer.text).code], target).toEqual([421, 'unknown_host'])
    }
    const credentials = { password: OPERATOR_PASSWORD }
    const signedIn = await ask(adminUrl, '/api/session', `evil.example:${port}`, credentials)
    expect([signedIn.status, signedIn.headers['set-cookie']]).toEqual([421, undefined])
    const own = await ask(adminUrl, '/api/session', `localhost:${port}`, credentials)
    expect(own.status).toBe(201)
    const { text } = await ask(adminUrl, '/metrics')
    expect(text).toMatch(/^countersign_dashboard_refusals_total\{code="unknown_host"\} [1-9]/m)
  })

  it('is distinguished from pages under IP addresses, localhost, ADMIN_URL and ADMIN_HOSTS', async () => {
    const running = await start({
      COUNTERSIGN_ADMIN_URL: 'https://Desk.example.test/',
      COUNTERSIGN_ADMIN_HOSTS: 'countersign, Metrics.example.test',
    })
    const { port } = running.service.addresses.admin
    const base = `http://127.0.0.1:${port}`
    for (const host of [
      ...[`127.0.0.1:${port}`, '10.1.2.3', '[::1]:8082', 'localhost', 'LOCALHOST.:80', 'desk.example.test'],
      ...['countersign:8082', 'metrics.example.test'],
    ])
      expect((await ask(base, '/livez', host)).status, host).toBe(200)
    const foreign = [
      'example.test',
      'desk.example.test.evil.example',
      'localhost.evil.example',
      '127.0.0.1.nip.io',
    ]
    for (const host of foreign) expect((await ask(base, '/livez', host)).status, host).toBe(421)
  })
})

it('the operator’s password ends, when it is replaced, only the sessions of operators without a name', async () => {
  const file = path('operator.password')
  writeFileSync(file, 'first password of all', { mode: 0o600 })
  const running = await startService({ COUNTERSIGN_OPERATOR_PASSWORD_FILE: file })
  services.push(running)
  const { id } = await running.tenant()
  const operator = await signIn(running, { password: 'first password of all' })
  const tenant = await signIn(running, { login_token: await loginToken(running, id) })
  const statusOf = async ({ cookie }: { cookie: string }) =>
    (await request(running, 'GET', '/session', undefined, { Cookie: cookie })).status
  await running.restart()
  expect([await statusOf(operator), await statusOf(tenant)]).toEqual([200, 200])
  writeFileSync(file, 'second password of all')
  await running.restart()
  expect([await statusOf(operator), await statusOf(tenant)]).toEqual([401, 200])
  await expect(signIn(running, { password: 'first password of all' })).rejects.toThrow('sign_in_failed')
  expect(await statusOf(await signIn(running, { password: 'second password of all' }))).toBe(200)
})

it('metrics with their own listener are served only there, and not by the dashboard', async () => {
  const running = await start({ COUNTERSIGN_METRICS_LISTEN: '127.0.0.1:0' })
  const base = `http://127.0.0.1:${running.service.addresses.metrics!.port}`
  expect((await ask(base, '/metrics')).text).toContain('countersign_engine_workers 1')
  for (const target of ['/', '/api/session', '/readyz', '/v1/openapi.json'])
    expect((await ask(base, target)).status, target).toBe(404)
  expect((await ask(base, '/metrics', 'evil.example')).status).toBe(421)
  expect((await ask(running.service.adminUrl, '/metrics')).status).toBe(404)
  const { cookie } = await signIn(running, { password: OPERATOR_PASSWORD })
  const system = await request(running, 'GET', '/system', undefined, { Cookie: cookie })
  expect(system.body).toMatchObject({ has_metrics: false })
  expect((await ask(running.service.adminUrl, '/readyz')).status).toBe(200)
})

overTransports((transport) => {
  it('dashboard and metrics accept only TLS when it is configured, and cookies are sent only over TLS', async () => {
    const [cert, key] = [path('cert.pem'), path('key.pem')]
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
    const names = ['-keyout', key, '-out', cert, '-subj', '/CN=localhost']
    execFileSync('openssl', ['req', '-x509', ...curve, '-days', '30', ...names], { stdio: 'ignore' })
    const running = await start({
      COUNTERSIGN_HTTP: transport,
      COUNTERSIGN_ADMIN_TLS_CERT: cert,
      COUNTERSIGN_ADMIN_TLS_KEY: key,
      COUNTERSIGN_METRICS_LISTEN: '127.0.0.1:0',
    })
    const { adminUrl, addresses } = running.service
    expect(adminUrl).toMatch(/^https:/)
    expect((await ask(adminUrl, '/')).text).toContain('<html')
    const { port } = new URL(adminUrl)
    const { headers } = await ask(adminUrl, '/api/session', `localhost:${port}`, {
      password: OPERATOR_PASSWORD,
    })
    expect(String(headers['set-cookie'])).toMatch(/; Secure$/)
    const metrics = `127.0.0.1:${addresses.metrics!.port}`
    expect((await ask(`https://${metrics}`, '/metrics')).status).toBe(200)
    for (const plain of [`http://${metrics}`, adminUrl.replace('https:', 'http:')])
      expect(await ask(plain, '/metrics').catch(() => null)).toSatisfy(
        (answer: Answer | null) => answer === null || answer.status === 400,
      )
  })
})

describe('an unencrypted channel', () => {
  const outside = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address

  it('carries no key, secret or login link to another host, unless TLS ends in front', async ({ skip }) => {
    if (!outside) return skip('this machine has no address but loopback')
    for (const upstream of ['false', 'true']) {
      const running = await start({
        COUNTERSIGN_ADMIN_LISTEN: '0.0.0.0:0',
        COUNTERSIGN_TLS_TERMINATED_UPSTREAM: upstream,
        COUNTERSIGN_ADMIN_URL: `http://${outside}`,
      })
      const { id } = await running.tenant()
      const base = `http://${outside}:${running.service.addresses.admin.port}`
      const origin = { Origin: base, 'Content-Type': 'application/json' }
      const signedIn = await signInAt(base, { password: OPERATOR_PASSWORD })
      const headers = {
        ...origin,
        Cookie: signedIn.headers.get('set-cookie')!.split(';')[0]!,
        'X-CSRF-Token': ((await signedIn.json()) as { csrf_token: string }).csrf_token,
      }
      for (const [target, body] of [
        ['/tenants', { name: 'other' }],
        ['/operators', { name: 'kim', role: 'viewer' }],
        ['/operators/password', { name: 'kim' }],
        [`/tenants/${id}/login-link`, undefined],
        [`/tenants/${id}/keys/reissue`, { type: 'sandbox', grace_seconds: 0 }],
        [`/tenants/${id}/keys/reveal`, undefined],
        [`/tenants/${id}/rotate-signing`, { force: false }],
      ] as const) {
        const answer = await fetch(`${base}/api${target}`, {
          method: 'POST',
          headers,
          ...(body ? { body: JSON.stringify(body) } : {}),
        })
        const { code } = (await answer.json()) as { code?: string }
        if (upstream === 'false') expect([answer.status, code], target).toEqual([403, 'insecure_channel'])
        else expect(code, target).not.toBe('insecure_channel')
      }
      if (upstream === 'false') {
        const refused: string[] = []
        const session = await fetch(`${base}/api/session`, { headers })
        const { may } = (await session.json()) as { may: { operator: string[]; tenant: string[] } }
        for (const [names, below] of [
          [may.operator, ''],
          [may.tenant, `/tenants/${id}`],
        ] as const)
          for (const name of names.filter((one) => !one.startsWith('GET '))) {
            const [method, path] = addressOf(name, below)
            const answer = await fetch(`${base}/api${path}`, { method, headers, body: '{"not":"valid"}' })
            const { code } = (await answer.json()) as { code?: string }
            if (code === 'insecure_channel') refused.push(name)
          }
        expect(refused.sort()).toEqual([
          ...['POST /keys', 'POST /keys/named/reissue', 'POST /keys/reissue', 'POST /keys/reveal'],
          ...['POST /login-link', 'POST /openid-clients', 'POST /operators', 'POST /operators/password'],
          ...['POST /people', 'POST /people/reset', 'POST /rotate-signing', 'POST /second-factor'],
          ...['POST /second-factor/confirm', 'POST /tenants', 'POST /try/call'],
        ])
      }
      expect(await running.operations.operators.list()).toHaveLength(upstream === 'false' ? 0 : 1)
      const keys = await running.service.core.store.read.apiKeys(id)
      expect(keys).toHaveLength(upstream === 'false' ? 1 : 2)
    }
  })
})
