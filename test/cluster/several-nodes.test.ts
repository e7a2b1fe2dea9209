/** Changes made at one of two services on one database hold at the other. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createLoginLink } from '../../src/admin/accounts/login-link.js'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { poll, until } from '../support/command.js'
import { base64, face } from '../support/faces.js'
import { sampleOf } from '../support/metrics.js'
import { oidcProvider } from '../support/oidc-provider.js'
import { operationsOf } from '../support/operations.js'
import { OPERATOR_HASH, OPERATOR_PASSWORD } from '../support/operator.js'
import { overPostgres } from '../support/postgres.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { type Cluster, type ClusterTenant, makeTenant, startCluster } from './nodes.js'

const ATTEMPTS = 4
const NAME = 'kim@example.com'

overPostgres(() => {
  const folder = temporaryFolder()
  let cluster: Cluster
  let provider: Awaited<ReturnType<typeof oidcProvider>>
  let tenant: ClusterTenant
  let ada: string
  let joan: string
  beforeAll(async () => {
    ada = base64(await face('ada'))
    joan = base64(await face('joan'))
    const client = { id: 'countersign', secret: 'client-secret' }
    provider = await oidcProvider(client)
    provider.claims = { email: NAME, email_verified: true }
    writeFileSync(join(folder, 'client.secret'), client.secret, { mode: 0o600 })
    cluster = await startCluster(2, {
      COUNTERSIGN_LOCKOUT_ATTEMPTS: String(ATTEMPTS),
      COUNTERSIGN_OPERATOR_PASSWORD: OPERATOR_HASH,
      COUNTERSIGN_ADMIN_URL: 'http://dashboard.example',
      COUNTERSIGN_OIDC_ISSUER: provider.issuer,
      COUNTERSIGN_OIDC_CLIENT_ID: client.id,
      COUNTERSIGN_OPERATOR_PASSWORD_SIGN_IN: 'true',
      COUNTERSIGN_OIDC_CLIENT_SECRET_FILE: join(folder, 'client.secret'),
    })
    await operationsOf(cluster.nodes[0]!).operators.add(NAME, 'viewer', COMMAND_LINE)
  })
  afterAll(async () => {
    await cluster?.stop()
    await provider?.close()
  })
  beforeEach(async () => {
    tenant = await makeTenant(cluster)
  })

  const operations = (node: number) => operationsOf(cluster.nodes[node]!)
  const record = () => cluster.nodes[0]!.core.tenancy.find(tenant.id)
  const production = (node: number) => tenant.production[node]!
  const sandbox = (node: number) => tenant.sandbox[node]!

  /** At the dashboard of a node, as a load balancer passes it on: `Host` is what the browser asked for. */
  const dashboard = (node: number, method: string, path: string, cookie?: string, body?: unknown) => {
    const origin = `http://127.0.0.1:${cluster.nodes[node]!.addresses.admin.port}`
    return fetch(`${origin}/api${path}`, {
      method,
      redirect: 'manual',
      headers: {
        Origin: origin,
        ...(cookie ? { Cookie: cookie } : {}),
        ...(body ? { 'Content-Type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
  }
  const cookieOf = (response: Response) => response.headers.get('set-cookie')!.split(';')[0]!

  it('a key revoked at one service is refused by the other at the next call', async () => {
    for (const node of [0, 1]) expect((await sandbox(node).health()).status).toBe(200)
    await operations(0).keys.revoke(await record(), COMMAND_LINE, 'sandbox')
    for (const node of [1, 0]) {
      const { status, body } = await sandbox(node).health()
      expect([status, body.code]).toEqual([401, 'revoked_api_key'])
    }
  })

  it('a tenant suspended at one service is refused by the other, and served again once resumed', async () => {
    const verify = () => sandbox(1).verify({ user_id: 'u+match', image: ada, action: 'x' })
    expect((await verify()).status).toBe(200)
    await operations(0).lifecycle.suspend(await record(), COMMAND_LINE)
    expect((await verify()).body.code).toBe('tenant_suspended')
    await operations(1).lifecycle.resume(await record(), COMMAND_LINE)
    expect((await sandbox(0).health()).status).toBe(200)
  })

  it('a contract changed at one service holds at the other', async () => {
    const burst = async (node: number) => {
      const { headers } = await production(node).verify({ user_id: 'nobody', image: ada, action: 'x' })
      return Number(/q=(\d+)/.exec(headers.get('ratelimit-policy')!)![1])
    }
    const before = await burst(1)
    const contract = { ratePerSecond: 7, fmr: null, requireLiveness: null, replaceVerdictMinutes: null }
    const { burst: granted } = await operations(0).tenants.setContract(await record(), COMMAND_LINE, contract)
    expect(granted).not.toBe(before)
    expect([await burst(1), await burst(0)]).toEqual([granted, granted])
  })

  it('a signing secret rotated at one service signs at the other, together with the older one', async () => {
    await production(1).health()
    const { body } = await production(0).rotate({})
    const { headers } = await production(1).health()
    expect(headers.get('x-svc-signature')).toContain(`kid=${body.signing_secret.id}`)
    expect((await production(1).rotate({})).body.code).toBe('rotation_in_progress')
  })

  it('rejections at two services count together, and a lockout holds at both', async () => {
    await production(0).enroll({ user_id: 'ada', image: ada })
    const wrong = (i: number) => production(i % 2).verify({ user_id: 'ada', image: joan, action: 'x' })
    const answers = await Promise.all(Array.from({ length: 2 * ATTEMPTS }, (_, i) => wrong(i)))
    const reasons = answers.map(({ body }) => body.reason)
    expect(reasons.filter((reason) => reason === 'no_match')).toHaveLength(ATTEMPTS)
    expect(reasons.filter((reason) => reason === 'locked_out')).toHaveLength(ATTEMPTS)
    for (const node of [0, 1]) {
      const { body } = await production(node).verify({ user_id: 'ada', image: ada, action: 'x' })
      expect(body.reason).toBe('locked_out')
    }
  })

  it('a user erased at one service is unknown at the other', async () => {
    await production(0).enroll({ user_id: 'ada', image: ada })
    expect((await production(1).verify({ user_id: 'ada', image: ada, action: 'x' })).status).toBe(200)
    await production(0).erase('ada')
    const { body } = await production(1).verify({ user_id: 'ada', image: ada, action: 'x' })
    expect(body.code).toBe('reference_not_found')
  })

  it('a session of the operator is valid at both services and ends at both', async () => {
    const signedIn = await dashboard(0, 'POST', '/session', undefined, { password: OPERATOR_PASSWORD })
    const { csrf_token } = (await signedIn.json()) as { csrf_token: string }
    const cookie = cookieOf(signedIn)
    expect((await dashboard(1, 'GET', '/session', cookie)).status).toBe(200)
    const origin = `http://127.0.0.1:${cluster.nodes[1]!.addresses.admin.port}`
    const headers = { Origin: origin, Cookie: cookie, 'X-CSRF-Token': csrf_token }
    expect((await fetch(`${origin}/api/session`, { method: 'DELETE', headers })).ok).toBe(true)
    expect((await dashboard(0, 'GET', '/session', cookie)).status).toBe(401)
  })

  it('a login link works once, at either service', async () => {
    const { store } = cluster.nodes[0]!.core
    const link = await store.transaction('installation', (tx) =>
      createLoginLink(tx, { tenantId: tenant.id, adminUrl: 'http://dashboard.example', now: Date.now() }),
    )
    const credentials = { login_token: link.split('/').at(-1) }
    expect((await dashboard(1, 'POST', '/session', undefined, credentials)).status).toBe(201)
    expect((await dashboard(0, 'POST', '/session', undefined, credentials)).status).toBe(401)
  })

  it('a sign-in by the provider that begins at one service ends at the other', async () => {
    const login = await dashboard(0, 'GET', '/oidc/login')
    const back = await fetch(login.headers.get('location')!, { redirect: 'manual' })
    const { pathname, search } = new URL(back.headers.get('location')!)
    const callback = `${pathname}${search}`.replace(/^\/api/, '')
    const signedIn = await dashboard(1, 'GET', callback, cookieOf(login))
    expect([signedIn.status, signedIn.headers.get('location')]).toEqual([302, '/'])
    const session = await dashboard(0, 'GET', '/session', cookieOf(signedIn))
    expect(await session.json()).toMatchObject({ person: { name: NAME, role: 'viewer' } })
  })

  it('traffic that two services count is shown by both, and counted once', async () => {
    const calls = [3, 5]
    for (const [node, count] of calls.entries())
      for (let i = 0; i < count; i++)
        await sandbox(node).verify({ user_id: 'u+match', image: ada, action: 'x' })
    const signedIn = await dashboard(0, 'POST', '/session', undefined, { password: OPERATOR_PASSWORD })
    const shown = async (node: number, window: string) => {
      const path = `/tenants/${tenant.id}/traffic?window=${window}`
      const { slots } = (await (await dashboard(node, 'GET', path, cookieOf(signedIn))).json()) as {
        slots: Array<{ sandbox: { requests: number } }>
      }
      return slots.reduce((sum, { sandbox }) => sum + sandbox.requests, 0)
    }
    for (const window of ['quarter', 'hour', 'day', 'week'])
      for (const node of [0, 1])
        expect(
          await poll(
            () => shown(node, window),
            (count) => count >= 8,
          ),
        ).toBe(8)
  })

  it('a service is not ready while its clock differs from the database’s by more than the bound', async () => {
    const ready = async (node: number) => {
      const { port } = cluster.nodes[node]!.addresses.admin
      return (await fetch(`http://127.0.0.1:${port}/readyz`)).status
    }
    const offset = async (node: number) => {
      const { port } = cluster.nodes[node]!.addresses.admin
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
      return sampleOf(text, 'countersign_clock_offset_seconds')
    }
    expect([await ready(0), await ready(1)]).toEqual([200, 200])
    const { now } = Date
    try {
      Date.now = () => now() + 60_000
      for (const node of [0, 1]) await until(async () => (await ready(node)) === 503)
      expect(cluster.logText()).toContain('"ahead_ms":')
      expect(await offset(0)).toBeCloseTo(60, 0)
    } finally {
      Date.now = now
    }
    for (const node of [0, 1]) await until(async () => (await ready(node)) === 200)
  })
})
