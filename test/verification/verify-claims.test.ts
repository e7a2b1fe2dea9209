import { createHash } from 'node:crypto'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { expectInvalid, expectRefusal } from '../support/answers.js'
import { withDatabase } from '../support/database.js'
import { base64, landscape, photosOf } from '../support/faces.js'
import { plain, UNUSABLE, unreadableFiles } from '../support/images.js'
import { serviceOfFile, serviceOfTest } from '../support/service.js'
import { decodeJwt } from '../support/trust.js'

const running = await serviceOfFile({ COUNTERSIGN_LOCKOUT_ATTEMPTS: '0' })
const tenant = await running.tenant()
const production = await running.production(tenant)
const [ada, adaToday, joan] = await photosOf('ada', 'adaElsewhere', 'joan')
const blank = base64(await landscape())
await production.enroll({ user_id: 'ada', image: ada })

const verify = (fields: Record<string, unknown>) =>
  production.verify({ user_id: 'ada', image: adaToday, action: 'sign in', ...fields })
/** @param action in JSON */
const verifyRaw = (action: string) => {
  const raw = `{"user_id":"ada","image":${JSON.stringify(adaToday)},"action":${action}}`
  return production.call('POST', '/v1/verify', undefined, { raw })
}
const claimsOf = (jwt: string) => decodeJwt(jwt, tenant.secret.secret)
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

describe('the JWT of an approval', () => {
  it('puts exactly the claims of the contract into the JWT of an approval', async () => {
    const action = { to: 'DE89', amount: '1250.00', nested: { z: 1, a: [true, null] } }
    const response = await verify({ action, nonce: 'n-1' })
    const now = Math.floor(running.clock.now() / 1000)
    const { header, claims, valid } = claimsOf(response.body.jwt)
    expect(valid).toBe(true)
    expect(header).toEqual({ alg: 'HS256', typ: 'stepup+jwt', kid: tenant.secret.id })
    expect(claims).toEqual({
      iss: running.service.url('production'),
      aud: tenant.id,
      sub: 'ada',
      iat: now,
      nbf: now,
      exp: now + 300,
      jti: response.body.verification_id,
      txn: response.headers.get('x-request-id'),
      env: 'production',
      verdict: 'approved',
      score: response.body.score,
      fmr: 1e-4,
      fmr_basis: 'measured',
      action,
      action_hash: sha256('{"amount":"1250.00","nested":{"a":[true,null],"z":1},"to":"DE89"}'),
      nonce: 'n-1',
      amr: ['face'],
      acr: 'urn:countersign:acr:face',
      auth_time: now,
      model: response.body.model,
      model_grade: 'evaluation',
      liveness: { checked: false, passed: null, methods: [], score: null },
      replay: { suspected: false },
    })
  })

  it('puts the same facts into the JWT and the response around it', async () => {
    const { body } = await verify({})
    const { claims } = claimsOf(body.jwt)
    expect(body).toEqual({
      verification_id: expect.stringMatching(/^ver_[0-9a-f]{32}$/),
      user_id: 'ada',
      verdict: 'approved',
      reason: null,
      score: claims.score,
      threshold: expect.any(Number),
      fmr: claims.fmr,
      fmr_basis: claims.fmr_basis,
      model_grade: claims.model_grade,
      liveness: { checked: false, score: null, passed: null, methods: [], guidance: [], findings: [] },
      // The photo of today is tilted further than an enrollment takes it.
      quality: {
        score: expect.any(Number),
        passed: false,
        issues: [expect.objectContaining({ path: 'image', component: 'head_pose_roll' })],
      },
      replay: claims.replay,
      display: null,
      model: claims.model,
      verified_at: new Date(running.clock.now()).toISOString(),
      jwt: expect.any(String),
      jwt_next: null,
      jwt_public: expect.any(String),
      jwt_expires_at: new Date(claims.exp * 1000).toISOString(),
      production_key: null,
      capture_integrity: null,
      passkey: null,
      policy_hash: null,
      policy_rule: null,
      approval_id: null,
    })
    expect(body.score).toBeGreaterThanOrEqual(body.threshold)
  })

  it('puts no nonce into the JWT when none was sent, and the empty one when that was sent', async () => {
    expect(claimsOf((await verify({})).body.jwt).claims).not.toHaveProperty('nonce')
    expect(claimsOf((await verify({ nonce: '' })).body.jwt).claims.nonce).toBe('')
  })

  it('gives every JWT a jti and a txn of its own', async () => {
    const [one, two] = [await verify({}), await verify({})].map(({ body }) => claimsOf(body.jwt).claims)
    expect(one.jti).not.toBe(two.jti)
    expect(one.txn).not.toBe(two.txn)
  })

  it('names the false match rate that the threshold attains, not the one that was asked for', async () => {
    const strict = await running.tenant({ ratePerSecond: 1000, fmr: 1e-6 })
    const client = await running.production(strict)
    await client.enroll({ user_id: 'ada', image: ada })
    const ours = await verify({})
    const theirs = await client.verify({ user_id: 'ada', image: adaToday, action: 'sign in' })
    // The calibration ends at this rate.
    const attained = { fmr: 2e-5, fmr_basis: 'measured', model_grade: 'evaluation' }
    expect(theirs.body).toMatchObject(attained)
    expect(decodeJwt(theirs.body.jwt, strict.secret.secret).claims).toMatchObject(attained)
    expect((await strict.audit()).at(-1)).toMatchObject(attained)
    expect(theirs.body.threshold).toBeGreaterThan(ours.body.threshold)
  })
})

describe('the JWT of a rejection', () => {
  it('says in the JWT of a rejection why, and claims no authentication context', async () => {
    const response = await verify({ image: joan, nonce: 'n-2' })
    expect(response.status).toBe(200)
    expect(response.body).toMatchObject({ verdict: 'rejected', reason: 'no_match' })
    expect(response.body.score).toBeLessThan(response.body.threshold)
    const { claims, valid } = claimsOf(response.body.jwt)
    expect(valid).toBe(true)
    expect(claims).toMatchObject({ verdict: 'rejected', reason: 'no_match', acr: '0', nonce: 'n-2' })
  })

  it('puts no score into the tokens of a rejection, which a browser may get', async () => {
    const { body } = await verify({ image: joan })
    expect(body).toMatchObject({ reason: 'no_match', score: expect.any(Number) })
    for (const token of [body.jwt, body.jwt_public]) {
      const { claims } = claimsOf(token)
      expect(claims).not.toHaveProperty('score')
      expect(claims.liveness).toEqual({ checked: false, passed: null, methods: [] })
    }
  })
})

it('takes the lifetime of a JWT from its setting', async () => {
  const short = await serviceOfTest({ COUNTERSIGN_JWT_TTL_SECONDS: '10' })
  const other = await short.tenant()
  const { body } = await other.sandbox.verify({ user_id: 'a+match', image: ada, action: 'x' })
  const { claims } = decodeJwt(body.jwt, other.secret.secret)
  expect(claims.exp - claims.iat).toBe(10)
})

describe('the action', () => {
  it.each<[unknown, string]>([
    ['sign in', '"sign in"'],
    ['', '""'],
    [{ '😀': 1, '\ufb33': 2, a: [1e-27] }, '{"a":[1e-27],"😀":1,"\ufb33":2}'],
  ])(
    'holds the action %j as it is, and its hash in the canonical form of RFC 8785',
    async (action, canonical) => {
      const { claims } = claimsOf((await verify({ action })).body.jwt)
      expect([claims.action, claims.action_hash]).toEqual([action, sha256(canonical)])
    },
  )

  it('keeps a key of the action named __proto__ as data', async () => {
    const action = '{"__proto__":{"polluted":true},"a":1}'
    const { claims } = claimsOf((await verifyRaw(action)).body.jwt)
    expect(claims.action_hash).toBe(sha256(action))
    expect(JSON.stringify(claims.action)).toBe(action)
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  it('takes an action of 4096 bytes in canonical form, and not one more', async () => {
    expect((await verify({ action: 'x'.repeat(4094) })).status).toBe(200)
    await expectInvalid(verify({ action: 'x'.repeat(4095) }), 'action')
    // Each character has two bytes in UTF-8.
    expect((await verify({ action: 'é'.repeat(2047) })).status).toBe(200)
    expect((await verify({ action: 'é'.repeat(2048) })).status).toBe(400)
    await expectInvalid(verify({ action: { text: 'x'.repeat(4090) } }), 'action')
  })

  const WRONG = { missing: undefined, null: null, 'a number': 5, 'a list': ['pay'], 'a boolean': true }
  it.each(Object.entries(WRONG))('refuses as action: %s', async (_, action) => {
    const { status, body } = await verify({ action })
    expect([status, body.code]).toEqual([400, 'invalid_request'])
    const paths = body.details.map(({ path }: { path: string }) => path)
    expect(new Set(paths)).toEqual(new Set(['action']))
  })

  it.each([
    ['a lone surrogate', '{"a":"\\udc00"}', 'action'],
    ['a lone surrogate in a key', '{"a\\ud800":1}', 'action'],
    ['a thousandfold nesting', `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`, 'action'],
    ['a nesting of ten thousand arrays', `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`, 'action'],
    ['a nesting deeper than a body is parsed', `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 'body'],
    ...['1e400', '1e30', '9007199254740993'].map((amount) => [
      ...[`the number ${amount}, which double precision does not hold exactly`, `{"amount":${amount}}`],
      'action.amount',
    ]),
  ])('refuses an action that holds %s', async (_, json, path) => {
    await expectInvalid(verifyRaw(json!), path!)
  })
})

describe('the nonce', () => {
  it('takes a nonce of 256 characters', async () => {
    const nonce = 'é'.repeat(256)
    expect(claimsOf((await verify({ nonce })).body.jwt).claims.nonce).toBe(nonce)
  })

  it.each([['x'.repeat(257)], [`a${'\u0301'.repeat(300)}`], [7]])('refuses the nonce %j', async (nonce) => {
    await expectInvalid(verify({ nonce }), 'nonce')
  })
})

describe('of several images', () => {
  it('compares the image of best quality of several', async () => {
    const darker = base64(
      await sharp(Buffer.from(adaToday, 'base64')).modulate({ brightness: 0.5 }).jpeg().toBuffer(),
    )
    const alone = await verify({ image: adaToday })
    expect((await verify({ image: darker })).body.score).not.toBe(alone.body.score)
    for (const images of [
      [darker, adaToday],
      [adaToday, darker],
    ]) {
      const together = await verify({ image: undefined, images })
      expect(together.body).toMatchObject({ verdict: 'approved', score: alone.body.score })
    }
  })

  it('passes over unusable images of several', async () => {
    expect((await verify({ image: undefined, images: [blank, adaToday] })).body.verdict).toBe('approved')
  })

  it('answers with the refusal of the first image when none of several is usable', async () => {
    const response = verify({ image: undefined, images: [blank, base64(await plain(20, 20))] })
    await expectRefusal(response, 422, 'face_not_found', { details: [{ path: 'images.0' }] })
  })
})

describe('an unusable image', () => {
  it.each(UNUSABLE)('refuses an unusable image with 422 %s and no verdict', async (code, make) => {
    const response = await verify({ image: base64(await make()) })
    const details = [{ path: 'image', issue: expect.any(String) }]
    expect(response).toMatchObject({ status: 422, body: { error: 'biometric_rejected', code, details } })
    expect(response.body).not.toHaveProperty('jwt')
    expect(response.body).not.toHaveProperty('verdict')
  })

  it('refuses an image that is not a complete JPEG, PNG or WebP with 422 image_unreadable', async () => {
    for (const [what, file] of Object.entries(await unreadableFiles())) {
      const response = await verify({ image: base64(file) })
      expect([response.status, response.body.code], what).toEqual([422, 'image_unreadable'])
    }
  })
})

describe('a reference', () => {
  it('answers 404 for a user without a reference', async () => {
    await expectRefusal(verify({ user_id: 'nobody' }), 404, 'reference_not_found', { error: 'not_found' })
  })

  it('answers 409 for a reference of another model pack until the user is enrolled again', async () => {
    await production.enroll({ user_id: 'foreign', image: ada })
    withDatabase(running, (database) =>
      database.exec(
        "UPDATE reference SET model = 'other@7' WHERE id = (SELECT id FROM reference ORDER BY created_at DESC, rowid DESC LIMIT 1)",
      ),
    )
    const response = verify({ user_id: 'foreign' })
    await expectRefusal(response, 409, 'reference_model_mismatch', { error: 'conflict' })
    expect((await production.enroll({ user_id: 'foreign', image: ada, replace: true })).status).toBe(201)
    expect((await verify({ user_id: 'foreign' })).body.verdict).toBe('approved')
  })

  it('refuses a reference that was tampered with, without a verdict', async () => {
    await production.enroll({ user_id: 'tampered', image: ada })
    withDatabase(running, (database) =>
      database.exec(
        'UPDATE reference SET sealed = (SELECT sealed FROM reference ORDER BY rowid LIMIT 1) WHERE rowid = (SELECT max(rowid) FROM reference)',
      ),
    )
    await expectRefusal(verify({ user_id: 'tampered' }), 500, 'internal_error', { error: 'internal' })
    await production.erase('tampered')
  })
})

describe('the audit log', () => {
  it('audits verdict and action hash of a verify, never the action or the user', async () => {
    const response = await verify({ user_id: 'ada', action: 'a very secret action' })
    const entry = (await tenant.audit()).at(-1)
    expect(entry).toMatchObject({
      event: 'verify',
      verdict: 'approved',
      verification_id: response.body.verification_id,
      action_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      request_id: response.headers.get('x-request-id'),
    })
    expect(JSON.stringify(entry)).not.toContain('a very secret action')
    expect(JSON.stringify(entry)).not.toContain('"ada"')
  })

  it('audits one action by the same digest each time, which nobody can use to check a guess', async () => {
    const hashOf = async (user_id: string, guess: string) => {
      expect((await verify({ user_id, action: guess })).status).toBe(200)
      return (await tenant.audit()).at(-1).action_hash as string
    }
    await production.enroll({ user_id: 'second', image: ada })
    const entered = await hashOf('ada', 'pay 10 to Grace')
    expect(entered).not.toBe(sha256('"pay 10 to Grace"'))
    expect(await hashOf('ada', 'pay 10 to Grace')).toBe(entered)
    expect(await hashOf('ada', 'pay 11 to Grace')).not.toBe(entered)
    expect(await hashOf('second', 'pay 10 to Grace')).not.toBe(entered)
    // After an erasure and a new enrollment the user has another data key, so that nobody can link the earlier entries.
    await production.erase('second')
    await production.enroll({ user_id: 'second', image: ada })
    expect(await hashOf('second', 'pay 10 to Grace')).not.toBe(entered)
  })

  it('audits refusals of executed requests', async () => {
    await verify({ user_id: 'nobody' })
    const refused = { event: 'verify', status: 404, code: 'reference_not_found' }
    expect((await tenant.audit()).at(-1)).toMatchObject(refused)
  })

  it('keeps the audit log a chain without a break', async () => {
    const { audit, store } = running.service.core
    const { entries, brokenAt } = await audit.verify(store.read, tenant.id)
    expect(brokenAt).toBeNull()
    expect(entries).toBeGreaterThan(20)
  })
})

it('logs no image, token, secret or user', async () => {
  const response = await verify({ user_id: 'ada', nonce: 'a-nonce-for-the-log' })
  // The log line is written after the answer.
  await expect.poll(() => running.logText()).toContain(response.headers.get('x-request-id'))
  const log = running.logText()
  for (const secret of [
    response.body.jwt,
    tenant.secret.secret,
    tenant.sandboxKey,
    'a-nonce-for-the-log',
    adaToday.slice(0, 60),
    '"ada"',
  ])
    expect(log).not.toContain(secret)
})
