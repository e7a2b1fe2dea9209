import { beforeEach, describe, expect, it } from 'vitest'
import { evaluationDataMissing, writeEvaluationPack } from '../biometrics/fixtures.js'
import { expectRefusal, expectSigned } from '../support/answers.js'
import { type ApiClient, type ApiResponse, apiClient } from '../support/client.js'
import { withDatabase } from '../support/database.js'
import { base64, photoOf } from '../support/faces.js'
import { blank as image } from '../support/images.js'
import { serviceOfFile, serviceOfTest, startService, type TestTenant } from '../support/service.js'
import { decodeJwt } from '../support/trust.js'

let tenant: TestTenant
let sandbox: ApiClient
const action = { type: 'transfer' }

const running = await serviceOfFile({ COUNTERSIGN_SANDBOX_RATE_LIMIT: '1000/s' })
beforeEach(async () => {
  tenant = await running.tenant()
  sandbox = tenant.sandbox
})

type Expected = [status: number, facts: Record<string, unknown>]
const approved: Expected = [200, { verdict: 'approved', reason: null }]
const limited: Expected = [429, { error: 'rate_limited', code: 'rate_limited' }]
const unavailable: Expected = [503, { error: 'unavailable', code: 'overloaded' }]
const rejected = (reason: string): Expected => [200, { verdict: 'rejected', reason }]
const refused = (code: string): Expected => [422, { error: 'biometric_rejected', code }]
const enrolled: Expected = [201, { status: 'enrolled' }]
const erased: Expected = [200, { status: 'erased' }]
const unknown: Expected = [404, { code: 'reference_not_found' }]

/** Expected answers of enroll, verify and delete, in this order. */
const OUTCOMES: Record<string, [enroll: Expected, verify: Expected, erase: Expected]> = {
  '+match': [enrolled, approved, erased],
  '+no_match': [enrolled, rejected('no_match'), erased],
  '+spoof': [refused('liveness_failed'), rejected('liveness_failed'), unknown],
  '+low_quality': [refused('low_quality'), refused('low_quality'), unknown],
  '+no_face': [refused('face_not_found'), refused('face_not_found'), unknown],
  '+multiple_faces': [refused('multiple_faces'), refused('multiple_faces'), unknown],
  '+rate_limited': [limited, limited, limited],
  '+unavailable': [unavailable, unavailable, unavailable],
  '+locked_out': [enrolled, [200, { verdict: 'rejected', reason: 'locked_out', score: null }], erased],
  '+replayed': [enrolled, [200, { verdict: 'approved', replay: { suspected: true } }], erased],
  '+slow': [enrolled, approved, erased],
  '+expired': [enrolled, approved, erased],
  ' without a suffix': [enrolled, approved, erased],
  '+match in the middle': [enrolled, approved, erased],
}

describe('the outcome that a user id ends in', () => {
  for (const [suffix, expectations] of Object.entries(OUTCOMES))
    it(`gives the outcome of the user id at enroll, verify and delete every time: ${suffix.trim()}`, async () => {
      const user_id = `user${suffix}`
      const calls = [
        () => sandbox.enroll({ user_id, image, replace: true }),
        () => sandbox.verify({ user_id, image, action }),
        () => sandbox.erase(user_id),
      ]
      for (const [index, call] of calls.entries()) {
        const [status, facts] = expectations[index]!
        for (const attempt of [await call(), await call()]) {
          expect(attempt.status).toBe(status)
          expect(attempt.body).toMatchObject(facts)
          if (status === 429 || status === 503)
            expect(Number(attempt.headers.get('retry-after'))).toBeGreaterThan(0)
        }
      }
    })

  it('verifies scripted users of the sandbox without an enrollment', async () => {
    for (const [suffix, [, [status, facts]]] of Object.entries(OUTCOMES).filter(([name]) =>
      /^\+\S+$/.test(name),
    )) {
      const response = await sandbox.verify({ user_id: `never-enrolled${suffix}`, image, action })
      expect(response.status, suffix).toBe(status)
      expect(response.body, suffix).toMatchObject(facts)
    }
  })

  it('answers 404 for any other sandbox user who is not enrolled', async () => {
    const verified = sandbox.verify({ user_id: 'never-enrolled', image, action })
    await expectRefusal(verified, 404, 'reference_not_found')
  })

  it('answers +locked_out with a lockout and the time to wait', async () => {
    const { headers } = await sandbox.verify({ user_id: 'a+locked_out', image, action })
    expect(headers.get('retry-after')).toBe('60')
  })

  it('answers +replayed with a replay, refused unless the installation only reports replays', async () => {
    const strict = await serviceOfTest({ COUNTERSIGN_REPLAY_POLICY: '' })
    const { body } = await (await strict.tenant()).sandbox.verify({ user_id: 'a+replayed', image, action })
    expect(body).toMatchObject({
      verdict: 'rejected',
      reason: 'replayed_capture',
      replay: { suspected: true },
    })
  })

  it('answers +slow after its delay', async () => {
    const before = running.clock.now()
    await sandbox.verify({ user_id: 'a+slow', image, action })
    expect(running.clock.now() - before).toBe(5_000)
  })

  it('answers +expired with a JWT that has expired and differs in no other claim', async () => {
    const claimsOf = async (user_id: string) =>
      decodeJwt((await sandbox.verify({ user_id, image, action })).body.jwt, tenant.secret.secret).claims
    const [expired, fresh] = [await claimsOf('a+expired'), await claimsOf('a+match')]
    expect(expired.exp * 1000).toBeLessThan(running.clock.now())
    expect(expired).toEqual({
      ...fresh,
      ...Object.fromEntries(
        ['sub', 'jti', 'txn', 'score', 'iat', 'nbf', 'exp', 'auth_time'].map((name) => [name, expired[name]]),
      ),
    })
  })

  it('gives the same score and quality in the sandbox every time', async () => {
    await sandbox.enroll({ user_id: 'steady', image })
    const [one, two] = [
      await sandbox.verify({ user_id: 'steady', image, action }),
      await sandbox.verify({ user_id: 'steady', image, action }),
    ]
    expect([one.body.score, one.body.quality]).toEqual([two.body.score, two.body.quality])
    await sandbox.enroll({ user_id: 'other', image })
    const other = await sandbox.verify({ user_id: 'other', image, action })
    expect(other.body.score).not.toBe(one.body.score)
  })

  it('gives a sandbox score on the side of the threshold that the verdict says', async () => {
    const yes = await sandbox.verify({ user_id: 'a+match', image, action })
    const no = await sandbox.verify({ user_id: 'a+no_match', image, action })
    expect(yes.body.score).toBeGreaterThanOrEqual(yes.body.threshold)
    expect(no.body.score).toBeLessThan(no.body.threshold)
  })
})

describe('the shape of a sandbox answer', () => {
  it('answers in the sandbox with the fields of production', async () => {
    const production = await running.production(tenant)
    const photo = await photoOf('ada')
    const today = await photoOf('adaToday')
    const names = (value: unknown) =>
      JSON.stringify(value, (_, inner) => (typeof inner === 'object' ? (inner ?? '') : ''))
    const verify = { user_id: 'u', image: today, action }
    const calls: Array<(client: ApiClient, isReal: boolean) => Promise<ApiResponse>> = [
      (client) => client.enroll({ user_id: 'u', image: photo }),
      (client) => client.verify({ ...verify, nonce: 'n' }),
      (client) => client.verify({ ...verify, user_id: 'nobody' }),
      (client, isReal) => client.enroll({ user_id: isReal ? 'v' : 'v+no_face', image }),
      (client) => client.erase('u'),
    ]
    for (const call of calls) {
      const [real, synthetic] = [await call(production, true), await call(sandbox, false)]
      expect(synthetic.status).toBe(real.status)
      expect(names(synthetic.body)).toBe(names(real.body))
      expect([...synthetic.headers.keys()]).toEqual([...real.headers.keys()])
      if (!real.body.jwt) continue
      const claims = [real, synthetic].map(({ body }) => decodeJwt(body.jwt, tenant.secret.secret))
      expect(claims.map(({ valid }) => valid)).toEqual([true, true])
      expect(Object.keys(claims[1]!.claims)).toEqual(Object.keys(claims[0]!.claims))
    }
  })

  it('claims no liveness in the sandbox where the production pack has no network for it', async () => {
    const photo = await photoOf('ada')
    const said = async (client: ApiClient, user_id: string) => {
      const enrolled = await client.enroll({ user_id, image: photo })
      const { body } = await client.verify({ user_id, image: photo, action })
      const { acr, amr } = decodeJwt(body.jwt, tenant.secret.secret).claims
      return { enrolled: enrolled.body.liveness, verified: body.liveness, acr, amr }
    }
    const real = await said(await running.production(tenant), 'live')
    expect(real.verified).toMatchObject({ checked: false, score: null, passed: null, methods: [] })
    expect(await said(sandbox, 'live')).toEqual(real)
  })

  it.skipIf(evaluationDataMissing())(
    'claims liveness in the sandbox where the production pack checks it',
    async () => {
      const checking = await startService({
        COUNTERSIGN_MODEL_PACK: writeEvaluationPack(),
        COUNTERSIGN_ACCEPT_PACK: 'evaluation',
        // The calibration of this pack has only this rate.
        COUNTERSIGN_FMR: '0.001',
      })
      try {
        const { sandbox, secret } = await checking.tenant()
        const { body } = await sandbox.verify({ user_id: 'a+match', image, action })
        expect(body.liveness).toEqual({
          checked: true,
          score: expect.any(Number),
          passed: true,
          methods: [expect.stringMatching(/^passive:/)],
          guidance: [],
          findings: [],
        })
        expect(decodeJwt(body.jwt, secret.secret).claims.acr).toBe('urn:countersign:acr:face-pad')
      } finally {
        await checking.stop()
      }
    },
  )

  it('signs sandbox answers with the tenant’s secret, and their JWTs name the sandbox as issuer', async () => {
    const response = await sandbox.verify({ user_id: 'a+match', image, action })
    expectSigned(response, tenant)
    const { valid, claims } = decodeJwt(response.body.jwt, tenant.secret.secret)
    expect(valid).toBe(true)
    expect(claims).toMatchObject({ iss: running.service.url('sandbox'), env: 'sandbox', aud: tenant.id })
    expect(claims.iss).not.toBe(running.service.url('production'))
  })

  it('refuses broken images in the sandbox as production does', async () => {
    const broken = base64(Buffer.from('not an image'))
    for (const user_id of ['anyone', 'a+match', 'a+no_face']) {
      const details = [{ path: 'image' }]
      await expectRefusal(sandbox.enroll({ user_id, image: broken }), 422, 'image_unreadable', { details })
    }
  })

  it('begins no lockout and detects no replay in the sandbox', async () => {
    for (let i = 0; i < 12; i++) {
      const { body } = await sandbox.verify({ user_id: 'a+no_match', image, action })
      expect(body).toMatchObject({ reason: 'no_match', replay: { suspected: false } })
    }
  })
})

describe('what the sandbox leaves behind', () => {
  it('keeps users of sandbox and production apart, both ways', async () => {
    const production = await running.production(tenant)
    const photo = await photoOf('ada')
    await sandbox.enroll({ user_id: 'two-worlds', image: photo })
    const verify = { user_id: 'two-worlds', image: photo, action }
    expect((await production.verify(verify)).status).toBe(404)
    expect((await production.erase('two-worlds')).status).toBe(404)
    expect((await production.enroll({ user_id: 'two-worlds', image: photo })).status).toBe(201)
    expect((await sandbox.erase('two-worlds')).status).toBe(200)
    expect((await sandbox.verify(verify)).status).toBe(404)
    expect((await production.verify(verify)).status).toBe(200)
  })

  it('stores no embedding in the sandbox, where no model runs', async () => {
    await sandbox.enroll({ user_id: 'no-embedding', image: await photoOf('ada') })
    const response = await sandbox.verify({ user_id: 'no-embedding', image, action })
    expect(response.headers.get('server-timing')).not.toMatch(/detect|embed|align/)
    expect(response.headers.get('server-timing')).toMatch(/decode/)
    expect(countRowsOf('sandbox')).toBe(0)
  })

  const countRowsOf = (environment: string) =>
    withDatabase(running, (database) =>
      database
        .prepare('SELECT count(*) FROM capture JOIN subject ON subject.id = subject_id WHERE environment = ?')
        .pluck()
        .get(environment),
    )
})

describe('the production key', () => {
  const revealed = async () => {
    const { store, tenancy } = running.service.core
    const record = await tenancy.find(tenant.id)
    return store.transaction('installation', (tx) => tenancy.revealProductionKey(tx, record))
  }

  it('issues no production key before a sandbox verify is approved', async () => {
    await sandbox.enroll({ user_id: 'waiting', image })
    for (const suffix of ['no_match', 'spoof', 'no_face'])
      await sandbox.verify({ user_id: `a+${suffix}`, image, action })
    await expect(revealed()).rejects.toMatchObject({ code: 'production_key_not_issued' })
  })

  it('issues the production key by the first approved verify, and only that verify says so', async () => {
    expect((await sandbox.verify({ user_id: 'a+match', image, action })).body.production_key).toBe('issued')
    const second = await sandbox.verify({ user_id: 'a+match', image, action })
    expect(second.body.production_key).toBeNull()
  })

  it('issues the production key exactly once among parallel approvals', async () => {
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, i) => sandbox.verify({ user_id: `p${i}+match`, image, action })),
    )
    expect(responses.filter(({ body }) => body.production_key === 'issued')).toHaveLength(1)
    expect(responses.every(({ status }) => status === 200)).toBe(true)
  })

  it('never sends the production key over the API, reveals it once, and then takes it', async () => {
    const first = await sandbox.verify({ user_id: 'a+match', image, action })
    expect(first.text).not.toContain('svc-prod-')
    const key = await revealed()
    expect(key).toMatch(/^svc-prod-[0-9A-Za-z]{49}$/)
    await expect(revealed()).rejects.toMatchObject({ code: 'production_key_already_revealed' })
    expect((await apiClient(running.service.url('production'), key).health()).status).toBe(200)
  })
})
