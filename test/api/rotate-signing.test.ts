import { networkInterfaces } from 'node:os'
import { beforeEach, describe, expect, it } from 'vitest'
import { MINUTE_MS } from '../../src/lib/clock.js'
import { expectInvalid, expectRefusal, expectSigned } from '../support/answers.js'
import { type ApiClient, apiClient } from '../support/client.js'
import { keptBytes } from '../support/database.js'
import { blank as image } from '../support/images.js'
import { serviceOfFile, startService, type TestTenant } from '../support/service.js'
import { decodeJwt, validSignatures } from '../support/trust.js'

let tenant: TestTenant
const OVERLAP_MS = 30 * MINUTE_MS

const running = await serviceOfFile()
beforeEach(async () => {
  tenant = await running.tenant()
})

/** A sandbox verify that is never approved, so that the sandbox key may still rotate. */
const verify = (client: ApiClient, kid?: string) =>
  client.verify(
    { user_id: 'someone+no_match', image, action: 'x' },
    kid ? { headers: { 'X-Svc-Signing-Key-Id': kid } } : {},
  )
/** The tenant's first secret and these, by their ids. */
const secretsOf = (...later: Array<{ id: string; secret: string }>) =>
  Object.fromEntries([tenant.secret, ...later].map(({ id, secret }) => [id, secret]))
const kidOf = (jwt: string) => decodeJwt(jwt, '').header.kid

describe('a rotation', () => {
  it('answers a rotation with the new secret, the old id and the end of the overlap', async () => {
    const response = await tenant.sandbox.rotate()
    expect(response.status).toBe(200)
    expect(response.body).toEqual({
      signing_secret: {
        id: expect.stringMatching(/^sec_[0-9a-f]{32}$/),
        secret: expect.stringMatching(/^svc-sec-[0-9A-Za-z]{43}$/),
        created_at: new Date(running.clock.now()).toISOString(),
      },
      previous: {
        id: tenant.secret.id,
        valid_until: new Date(running.clock.now() + OVERLAP_MS).toISOString(),
      },
      overlap_seconds: 1800,
    })
    expect(response.body.signing_secret.secret).not.toBe(tenant.secret.secret)
  })

  it('takes the next rotation at the end of each overlap, without a body, with an empty object, and with force', async () => {
    for (const body of [undefined, {}, { force: true }, { force: false }]) {
      expect((await tenant.sandbox.rotate(body)).status).toBe(200)
      running.clock.advance(OVERLAP_MS)
    }
  })

  it('refuses a rotation with other fields and types', async () => {
    await expectInvalid(tenant.sandbox.rotate({ force: 'yes' }), 'force')
    await expectInvalid(tenant.sandbox.rotate({ forced: true }), 'forced')
  })

  it('signs the answer to a rotation so that a holder of the old secret can check it', async () => {
    expectSigned(await tenant.sandbox.rotate(), tenant)
  })

  it('rotates once when requests come in parallel', async () => {
    const responses = await Promise.all(Array.from({ length: 5 }, () => tenant.sandbox.rotate()))
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409])
  })

  it('rotates no secret of another tenant', async () => {
    const other = await running.tenant()
    await tenant.sandbox.rotate()
    const response = await verify(other.sandbox)
    expect(response.body.jwt_next).toBeNull()
    expect(kidOf(response.body.jwt)).toBe(other.secret.id)
  })

  it('stores no secret in the clear and logs none', async () => {
    const { secret } = (await tenant.sandbox.rotate()).body.signing_secret
    for (const [name, bytes] of await keptBytes(running)) expect(bytes.includes(secret), name).toBe(false)
    expect(running.logText()).not.toContain(secret)
  })
})

describe('during the overlap', () => {
  let incoming: { id: string; secret: string }
  beforeEach(async () => {
    incoming = (await tenant.sandbox.rotate()).body.signing_secret
  })

  it('signs `jwt` with the old secret and `jwt_next` with the new one during an overlap, with the same claims', async () => {
    const { body } = await verify(tenant.sandbox)
    const old = decodeJwt(body.jwt, tenant.secret.secret)
    const next = decodeJwt(body.jwt_next, incoming.secret)
    expect([old.valid, old.header.kid]).toEqual([true, tenant.secret.id])
    expect([next.valid, next.header.kid]).toEqual([true, incoming.id])
    expect(next.claims).toEqual(old.claims)
  })

  it('signs only with the new secret for a caller that names it during an overlap', async () => {
    const { body } = await verify(tenant.sandbox, incoming.id)
    const { valid, header } = decodeJwt(body.jwt, incoming.secret)
    expect([valid, header.kid]).toEqual([true, incoming.id])
    expect(body.jwt_next).toBeNull()
  })

  it('signs with both secrets for a caller that names the old secret or an unknown one', async () => {
    for (const kid of [tenant.secret.id, 'sec_unknown']) {
      const { body } = await verify(tenant.sandbox, kid)
      expect(kidOf(body.jwt)).toBe(tenant.secret.id)
      expect(kidOf(body.jwt_next)).toBe(incoming.id)
    }
  })

  it('signs every response with both secrets during an overlap, errors included', async () => {
    const responses = [
      await verify(tenant.sandbox),
      await tenant.sandbox.health(),
      await tenant.sandbox.enroll({}),
      await tenant.sandbox.call('GET', '/v1/nothing'),
    ]
    for (const response of responses)
      expect(validSignatures(response, secretsOf(incoming))).toEqual([tenant.secret.id, incoming.id])
  })

  it('refuses another rotation during an overlap with 409, until force ends the older secret at once', async () => {
    running.clock.advance(10 * MINUTE_MS)
    const refused = await tenant.sandbox.rotate()
    expect(refused.status).toBe(409)
    expect(refused.body).toMatchObject({ error: 'conflict', code: 'rotation_in_progress' })
    expect(refused.headers.get('retry-after')).toBe(String(20 * 60))
    expect((await tenant.sandbox.rotate({ force: false })).status).toBe(409)

    const forced = await tenant.sandbox.rotate({ force: true })
    expect(forced.status).toBe(200)
    expect(forced.body.previous).toEqual({
      id: incoming.id,
      valid_until: new Date(running.clock.now() + OVERLAP_MS).toISOString(),
    })
    const newest = forced.body.signing_secret
    const { body } = await verify(tenant.sandbox)
    expect([kidOf(body.jwt), kidOf(body.jwt_next)]).toEqual([incoming.id, newest.id])
    const response = await tenant.sandbox.health()
    expect(validSignatures(response, secretsOf(incoming, newest))).toEqual([incoming.id, newest.id])
  })
})

describe('the end of the overlap', () => {
  it('ends the overlap after 30 minutes to the millisecond; then only the new secret signs', async () => {
    const incoming = (await tenant.sandbox.rotate()).body.signing_secret
    running.clock.advance(OVERLAP_MS - 1)
    expect((await verify(tenant.sandbox)).body).toHaveProperty('jwt_next')
    running.clock.advance(1)
    const after = await verify(tenant.sandbox)
    expect(after.body.jwt_next).toBeNull()
    expect(decodeJwt(after.body.jwt, incoming.secret).valid).toBe(true)
    expect(validSignatures(after, secretsOf(incoming))).toEqual([incoming.id])
    expect(after.headers.get('x-svc-signature')).not.toContain(tenant.secret.id)
  })
})

describe('the right to rotate', () => {
  it('refuses a rotation by the sandbox key once the production key is issued', async () => {
    const cleared = await tenant.sandbox.verify({ user_id: 'a+match', image, action: 'x' })
    expect(cleared.body.production_key).toBe('issued')
    for (const body of [undefined, { force: true }]) {
      const response = tenant.sandbox.rotate(body)
      await expectRefusal(response, 403, 'production_key_required', { error: 'permission_denied' })
    }
    expect((await verify(tenant.sandbox)).body.jwt_next).toBeNull()
  })

  it('lets the production key rotate once it is issued', async () => {
    const production = await running.production(tenant)
    const response = await production.rotate()
    expect(response.status).toBe(200)
    const { body } = await verify(tenant.sandbox)
    expect(kidOf(body.jwt_next)).toBe(response.body.signing_secret.id)
  })

  it('audits a rotation in production, without the secret', async () => {
    const production = await running.production(tenant)
    const { body } = await production.rotate()
    const head = await running.service.core.store.read.auditHead(tenant.id)
    expect(JSON.parse(head!.entry)).toMatchObject({
      event: 'rotate_signing',
      status: 200,
      current: body.signing_secret.id,
      previous: tenant.secret.id,
    })
    expect(head!.entry).not.toContain(body.signing_secret.secret)
  })
})

describe('a channel in the clear', () => {
  /** An address of this machine that is not loopback, as another host would use it. */
  const outside = () => {
    const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
    return addresses.find(({ internal, family }) => !internal && family === 'IPv4')?.address
  }

  it('sends no secret to another host in the clear, unless TLS ends in front', async ({ skip }) => {
    const host = outside()
    if (!host) return skip('this machine has no address but loopback')
    for (const [upstream, status] of [
      ['false', 403],
      ['true', 200],
    ] as const) {
      const exposed = await startService({
        COUNTERSIGN_SANDBOX_LISTEN: '0.0.0.0:0',
        COUNTERSIGN_TLS_TERMINATED_UPSTREAM: upstream,
      })
      try {
        const customer = await exposed.tenant()
        const { port } = new URL(exposed.service.url('sandbox'))
        const far = apiClient(`http://${host}:${port}/v1`, customer.sandboxKey)
        const response = await far.rotate()
        expect(response.status).toBe(status)
        if (status === 403)
          expect(response.body).toMatchObject({ error: 'permission_denied', code: 'insecure_channel' })
        const near = apiClient(`http://127.0.0.1:${port}/v1`, customer.sandboxKey)
        const headers = { 'X-Svc-Idempotency-Key': 'rotate-once' }
        expect((await near.rotate({ force: true }, { headers })).status).toBe(200)
        const replay = await far.rotate({ force: true }, { headers })
        expect(replay.status).toBe(status === 200 ? 409 : status)
        expect(replay.text).not.toContain('svc-sec-')
      } finally {
        await exposed.stop()
      }
    }
  })
})
