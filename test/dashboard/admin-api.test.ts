import { describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../src/lib/clock.js'
import { apiClient } from '../support/client.js'
import { addressOf, loginToken, request, routesOf, signIn } from '../support/dashboard.js'
import { withDatabase } from '../support/database.js'
import { base64, face } from '../support/faces.js'
import { OPERATOR_PASSWORD } from '../support/operator.js'
import { openSocket, rawRequest } from '../support/raw-socket.js'
import { serviceOfFile, serviceOfTest } from '../support/service.js'
import { validSignatures } from '../support/trust.js'

const running = await serviceOfFile()
const [own, other] = [await running.tenant(), await running.tenant()]
const tenant = await signIn(running, { login_token: await loginToken(running, own.id) })
const operator = await signIn(running, { password: OPERATOR_PASSWORD })

const bare = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  request(running, method, path, body, headers)

describe('signing in', () => {
  it('sets a cookie that neither scripts nor other sites can read', async () => {
    const token = await loginToken(running, own.id)
    const origin = { Origin: running.service.adminUrl }
    const { headers, body } = await bare('POST', '/session', { login_token: token }, origin)
    expect(headers.get('set-cookie')).toMatch(
      /^countersign_session=[0-9A-Za-z]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=28800$/,
    )
    expect(body).toMatchObject({ role: 'tenant', tenant_id: own.id })
  })

  it('works once with a link, and not after an hour', async () => {
    const token = await loginToken(running, own.id)
    await signIn(running, { login_token: token })
    await expect(signIn(running, { login_token: token })).rejects.toThrow(/sign_in_failed.*login link/)
    const late = await serviceOfTest()
    const { id } = await late.tenant()
    const unused = await loginToken(late, id)
    late.clock.advance(HOUR_MS)
    await expect(signIn(late, { login_token: unused })).rejects.toThrow('sign_in_failed')
    const session = await signIn(late, { password: OPERATOR_PASSWORD })
    late.clock.advance(8 * HOUR_MS)
    expect((await session.call('GET', '/tenants')).body.code).toBe('not_signed_in')
    for (let tries = 0; tries < 9; tries++)
      await expect(signIn(late, { password: 'wrong' })).rejects.toThrow(/sign_in_failed.*password is wrong/)
    for (let tries = 0; tries < 2; tries++) await signIn(late, { password: 'wrong' }).catch(() => {})
    await expect(signIn(late, { password: OPERATOR_PASSWORD })).rejects.toThrow('too_many_sign_ins')
  })

  it('stores neither link nor session in plain text', () => {
    const rows = withDatabase(running, (database) =>
      database.prepare('SELECT hash FROM dashboard_session UNION ALL SELECT hash FROM login_link').all(),
    ) as Array<{ hash: Buffer }>
    expect(rows.length).toBeGreaterThan(1)
    const token = tenant.cookie.split('=')[1]!
    for (const { hash } of rows) expect(hash.toString('latin1')).not.toContain(token)
  })

  it('lasts until the person signs out', async () => {
    const session = await signIn(running, { login_token: await loginToken(running, own.id) })
    expect((await session.call('DELETE', '/session')).status).toBe(200)
    expect((await session.call('GET', '/session')).body.code).toBe('not_signed_in')
  })
})

describe('a body', () => {
  const large = { login_token: 'x'.repeat(20_000) }
  const announced = (path: string) =>
    openSocket(running.service.adminUrl).then(async (connection) => {
      const { host } = new URL(running.service.adminUrl)
      const lines = [`Origin: http://${host}`, 'Content-Type: application/json', 'Content-Length: 5000000']
      connection.send(rawRequest(`POST ${path}`, lines).replace(/Host: .*/, `Host: ${host}`))
      const answer = await connection.response()
      await connection.closed()
      return answer!.body.code
    })

  it('is refused before the sign-in without waiting for it, even if it is large', async () => {
    expect(await announced('/api/session')).toBe('body_too_large')
    const headers = { Origin: running.service.adminUrl }
    expect((await bare('POST', '/session', large, headers)).body.code).toBe('body_too_large')
    expect((await bare('POST', `/tenants/${own.id}/try/inspect`, large, headers)).body.code).toBe(
      'not_signed_in',
    )
  })

  it('must be small unless it carries photos', async () => {
    const answer = await tenant.call('POST', `/tenants/${own.id}/erase`, large)
    expect(answer.body.code).toBe('body_too_large')
    const photo = await tenant.call('POST', `/tenants/${own.id}/try/inspect`, { image: 'A'.repeat(20_000) })
    expect(photo.body.code).toBe('image_unreadable')
  })
})

describe('a request that changes something', () => {
  const path = () => `/tenants/${own.id}/rotate-signing`
  const secrets = async () => (await tenant.call('GET', `/tenants/${own.id}`)).body.signing_secrets.length

  it('is refused without the token, with a wrong one, and from another origin', async () => {
    const origin = { Origin: running.service.adminUrl }
    const cookie = { Cookie: tenant.cookie }
    for (const headers of [
      { ...cookie, ...origin },
      { ...cookie, ...origin, 'X-CSRF-Token': operator.csrf },
      { ...cookie, 'X-CSRF-Token': tenant.csrf },
      { ...cookie, 'X-CSRF-Token': tenant.csrf, Origin: 'https://evil.example' },
      { ...cookie, 'X-CSRF-Token': tenant.csrf, Origin: 'null' },
    ] as Array<Record<string, string>>) {
      const answer = await bare('POST', path(), { force: false }, headers)
      expect(answer.outcome).toBe('403 cross_site_request')
    }
    expect(await secrets()).toBe(1)
  })

  it('needs a session', async () => {
    const headers = { Origin: running.service.adminUrl, 'X-CSRF-Token': tenant.csrf }
    expect((await bare('POST', path(), { force: false }, headers)).body.code).toBe('not_signed_in')
    expect((await bare('GET', `/tenants/${own.id}`)).status).toBe(401)
  })
})

describe('a tenant', () => {
  it('has no access to other tenants or to the operator’s routes', async () => {
    const [all, may] = [await routesOf(operator), await routesOf(tenant)]
    const ofOperators = all.tenant.filter((name) => !may.tenant.includes(name))
    expect(ofOperators.toSorted()).toEqual([
      ...['DELETE /', 'PATCH /', 'POST /drift/restart', 'POST /login-link', 'POST /resume', 'POST /suspend'],
      ...['POST /users/unlock', 'POST /webhooks', 'POST /webhooks/remove'],
    ])
    // These are about the account and the session of the person who asks.
    expect(may.operator.toSorted()).toEqual([
      ...['POST /password', 'POST /second-factor', 'POST /second-factor/confirm'],
      ...['POST /second-factor/remove', 'POST /session/confirm', 'POST /sessions/end'],
    ])
    const forbidden = [
      ...all.tenant.map((name) => addressOf(name, `/tenants/${other.id}`)),
      ...ofOperators.map((name) => addressOf(name, `/tenants/${own.id}`)),
      ...all.operator.filter((name) => !may.operator.includes(name)).map((name) => addressOf(name)),
    ]
    expect(forbidden.length).toBeGreaterThan(80)
    for (const [method, path] of forbidden) {
      const { outcome } = await tenant.call(method, path, method === 'GET' ? undefined : {})
      expect(outcome, `${method} ${path}`).toBe('403 not_permitted')
    }
    expect((await other.sandbox.health()).status).toBe(200)
  })

  it('cannot use another tenant’s key on the page "Try it"', async () => {
    const path = `/tenants/${own.id}/try/call?operation=verify`
    const answer = await tenant.call('POST', path, {}, { 'X-Tried-Key': other.sandboxKey })
    expect(answer.body.code).toBe('not_permitted')
  })

  it('can call only enroll, verify, challenges and guidance on the page "Try it"', async () => {
    for (const query of ['', '?operation=', '?operation=delete', '?operation=../keys/rotate-signing']) {
      const path = `/tenants/${own.id}/try/call${query}`
      const answer = await tenant.call('POST', path, {}, { 'X-Tried-Key': own.sandboxKey })
      expect(answer.body.code, query).toBe('invalid_request')
    }
  })

  it('gets the API’s refusal for megabytes of JSON on the page "Try it", before they are parsed', async () => {
    const members = Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`member${i}`, {}]))
    const key = { 'X-Tried-Key': own.sandboxKey }
    const body = { user_id: 'u+match', image: 'AAAA', action: members }
    const tried = await tenant.call('POST', `/tenants/${own.id}/try/call?operation=verify`, body, key)
    expect([tried.body.status, tried.body.body.details[0].issue]).toEqual([
      400,
      'holds more than 32 KiB in addition to its images',
    ])
    const inspect = await tenant.call('POST', `/tenants/${own.id}/try/inspect`, { image: members })
    expect(inspect.body.details[0].issue).toBe('holds more than 32 KiB in addition to its images')
  })

  it('has the same rate limit of the sandbox on the page "Try it" as with its key', async () => {
    const { id, sandbox } = await running.tenant()
    const session = await signIn(running, { login_token: await loginToken(running, id) })
    const inspect = () => session.call('POST', `/tenants/${id}/try/inspect`, { image: 'AAAA' })
    expect((await inspect()).body.code).toBe('image_unreadable')
    const left = await Promise.all(Array.from({ length: 100 }, () => sandbox.health()))
    expect(left.filter(({ status }) => status === 200)).toHaveLength(99)
    const refused = await inspect()
    expect(refused.outcome).toBe('429 rate_limited')
    expect(refused.headers.get('retry-after')).toBe('1')
  })

  it('reissues a key with a grace period', async () => {
    running.clock.advance(1)
    const reissue = { type: 'sandbox', grace_seconds: 60 }
    const { body } = await tenant.call('POST', `/tenants/${own.id}/keys/reissue`, reissue)
    expect(body.key).toMatch(/^svc-sbx-/)
    expect((await own.sandbox.health()).status).toBe(200)
    const { keys } = (await tenant.call('GET', `/tenants/${own.id}`)).body
    expect(keys.map(({ state }: { state: string }) => state)).toEqual(['active', 'grace'])
    expect(JSON.stringify(keys)).not.toContain(body.key)
  })

  it('tries a photo in the sandbox with face, verdict, signature and JWT, then reveals the production key once', async () => {
    const image = base64(await face('ada'))
    const inspected = await tenant.call('POST', `/tenants/${own.id}/try/inspect`, { image })
    expect(inspected.status).toBe(200)
    expect(inspected.body.box.width).toBeGreaterThan(80)
    expect(inspected.body.landmarks).toHaveLength(5)
    const verify = (body: object) =>
      tenant.call('POST', `/tenants/${own.id}/try/call?operation=verify`, body, {
        'X-Tried-Key': own.sandboxKey,
      })
    const tried = await verify({ user_id: 'u+match', image, action: 'x' })
    expect(tried.body).toMatchObject({
      environment: 'sandbox',
      status: 200,
      signature_valid: true,
      body: { verdict: 'approved' },
      jwt: { valid: true, claims: { sub: 'u+match', env: 'sandbox' } },
    })
    // A call without a photo is smaller than Node's pool of small buffers.
    const small = await verify({ user_id: 'u+match', action: 'x' })
    expect([small.status, small.body.status, small.body.body?.code]).toEqual([200, 400, 'invalid_request'])
    const { slots } = (await tenant.call('GET', `/tenants/${own.id}/traffic`)).body
    expect(slots.at(-1).sandbox).toMatchObject({ approved: 1, rejected: 0 })
    expect(slots.at(-1).sandbox.latencies.verify.total).toHaveLength(3)
    const reveal = () => tenant.call('POST', `/tenants/${own.id}/keys/reveal`, {})
    expect((await reveal()).body.key).toMatch(/^svc-prod-/)
    expect((await reveal()).body.code).toBe('production_key_already_revealed')
  })

  it('reveals the production key with a new signing secret on request', async () => {
    const fresh = await running.tenant()
    const image = base64(await face('ada'))
    await fresh.sandbox.verify({ user_id: 'u+match', image, action: 'x' })
    const session = await signIn(running, { login_token: await loginToken(running, fresh.id) })
    const { body } = await session.call('POST', `/tenants/${fresh.id}/keys/reveal`, { new_secret: true })
    expect(body).toEqual({
      key: expect.stringMatching(/^svc-prod-/),
      signing_secret: { id: expect.stringMatching(/^sec_/), secret: expect.stringMatching(/^svc-sec-/) },
    })
    const answer = await apiClient(running.service.url('production'), body.key).health()
    const { id, secret } = body.signing_secret
    expect(validSignatures(answer, { [id]: secret, [fresh.secret.id]: fresh.secret.secret })).toEqual([id])
  })

  it('rotates its secret, and gets an error during the overlap of a rotation', async () => {
    const rotate = (force: boolean) => tenant.call('POST', `/tenants/${own.id}/rotate-signing`, { force })
    const first = await rotate(false)
    expect(first.body.signing_secret.secret).toMatch(/^svc-sec-/)
    expect((await rotate(false)).body.code).toBe('rotation_in_progress')
    expect((await rotate(true)).body.previous.id).toBe(first.body.signing_secret.id)
  })

  it('erases a user with a receipt and an audit entry whose actor is the dashboard', async () => {
    const production = await running.production(other)
    const session = await signIn(running, { login_token: await loginToken(running, other.id) })
    // Entries of the sign-ins.
    const { entries: before } = (await session.call('GET', `/tenants/${other.id}/audit/chain`)).body
    await production.enroll({ user_id: 'ada', image: base64(await face('ada')) })
    const erase = () =>
      session.call('POST', `/tenants/${other.id}/erase`, { user_id: 'ada', environment: 'production' })
    const receipt = await erase()
    expect(receipt.body).toMatchObject({ status: 'erased', erased: { references: 1 } })
    expect((await erase()).body.erasure_id).toBe(receipt.body.erasure_id)
    const { entries } = (await session.call('GET', `/tenants/${other.id}/audit?event=delete`)).body
    expect(entries).toHaveLength(2)
    expect(entries[1]).toMatchObject({ actor: 'dashboard:tenant', erasure_id: receipt.body.erasure_id })
    const chain = await session.call('GET', `/tenants/${other.id}/audit/chain`)
    expect(chain.body).toEqual({ entries: before + 3, broken_at: null })
    const csv = await session.call('GET', `/tenants/${other.id}/audit/export?format=csv`)
    expect(csv.text.trim().split('\n')).toHaveLength(before + 4)
    const lines = await session.call('GET', `/tenants/${other.id}/audit/export?format=jsonl&event=enroll`)
    expect(JSON.parse(lines.text)).toMatchObject({ sequence: before + 1, event: 'enroll' })
  })
})

describe('the operator', () => {
  it('creates a tenant, changes its contract and makes it a link that works', async () => {
    const created = await operator.call('POST', '/tenants', { name: 'acme', rate_per_second: 5 })
    expect(created.status).toBe(201)
    const { id } = created.body.tenant
    for (const fmr of [0.5, 0.011, 1e-9]) {
      for (const lax of [
        await operator.call('POST', '/tenants', { name: 'lax', fmr }),
        await operator.call('PATCH', `/tenants/${id}`, { rate_per_second: 7, fmr }),
      ])
        expect(lax.outcome).toBe('400 fmr_not_reached')
    }
    const changed = await operator.call('PATCH', `/tenants/${id}`, { rate_per_second: 7, fmr: 5e-5 })
    expect(changed.body).toMatchObject({ rate_per_second: 7, burst: 14, fmr: 5e-5 })
    const link: string = (await operator.call('POST', `/tenants/${id}/login-link`, {})).body.login_link
    const session = await signIn(running, { login_token: link.split('/').at(-1)! })
    expect((await session.call('GET', `/tenants/${id}`)).body.name).toBe('acme')
    expect((await operator.call('POST', '/tenants', { name: 'acme' })).body.code).toBe('tenant_exists')
    expect((await operator.call('POST', '/tenants', { name: 'a b' })).body.code).toBe('invalid_tenant_name')
    expect((await operator.call('POST', '/tenants', { nom: 'x' })).body.code).toBe('invalid_request')
  })

  it('suspends, resumes and deletes a tenant, with its name as confirmation and a receipt', async () => {
    const { id, sandbox, ...made } = await running.tenant()
    const production = await running.production({ id, sandbox, ...made })
    await production.enroll({ user_id: 'ada', image: base64(await face('ada')) })
    const path = `/tenants/${id}`
    const overview = (await operator.call('GET', path)).body
    expect(overview).toMatchObject({ references: { production: 1, sandbox: 0 }, suspended_at: null })

    const suspended = await operator.call('POST', `${path}/suspend`)
    expect(suspended.body).toMatchObject({ status: 'suspended', suspended_at: expect.any(String) })
    expect((await sandbox.health()).body.code).toBe('tenant_suspended')
    expect((await operator.call('POST', `${path}/suspend`)).body.code).toBe('tenant_suspended')
    const resumed = await operator.call('POST', `${path}/resume`)
    expect(resumed.body).toMatchObject({ status: 'active', suspended_at: null })
    expect((await sandbox.health()).status).toBe(200)
    expect((await operator.call('POST', `${path}/resume`)).body.code).toBe('tenant_not_suspended')

    for (const name of ['', `${overview.name}x`]) {
      const refused = await operator.call('DELETE', path, { name })
      expect(refused.outcome).toBe('400 not_confirmed')
    }
    expect((await operator.call('GET', path)).body.status).toBe('active')
    const receipt = await operator.call('DELETE', path, { name: overview.name })
    expect(receipt.body).toMatchObject({
      tenant_id: id,
      name: overview.name,
      status: 'deleted',
      erased: { users: 1, references: 1 },
    })
    const after = (await operator.call('GET', path)).body
    expect(after).toMatchObject({
      status: 'deleted',
      deleted_at: receipt.body.erased_at,
      keys: [{ state: 'revoked' }, { state: 'revoked' }],
    })
    expect((await operator.call('DELETE', path, { name: overview.name })).body.code).toBe('tenant_deleted')
    const { entries } = (await operator.call('GET', `${path}/audit`)).body
    expect(entries.slice(0, 4)).toMatchObject(
      ['tenant_deleted', 'tenant_suspended', 'tenant_resumed', 'tenant_suspended'].map((event) => ({
        event,
        actor: 'dashboard:operator',
      })),
    )
    expect(entries[0].erasure_id).toBe(receipt.body.erasure_id)
  })

  it('sees the state of the installation', async () => {
    const { body } = await operator.call('GET', '/system')
    expect(body).toMatchObject({
      engine: { status: 'ok' },
      has_metrics: true,
      pack: { id: running.service.engine.pack.modelId },
      database: { status: 'ok', counts: { tenants: expect.any(Number) } },
    })
    expect(body.database.bytes + (body.database.log_bytes ?? 0)).toBeGreaterThan(0)
    expect(body.packs.filter(({ active }: { active: boolean }) => active)).toEqual([
      { id: body.pack.id, active: true, problem: null },
    ])
    const thresholds = body.pack.calibration.map(({ threshold }: { threshold: number }) => threshold)
    expect(thresholds.length).toBeGreaterThan(1)
  })
})
