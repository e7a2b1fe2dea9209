/** The service in memory against the real one: the same answers, field by field, for every outcome of the sandbox. */
import { describe, expect, it } from 'vitest'
import type { Countersign, CountersignOptions, VerificationRequest } from '../../clients/node/index.js'
import { FAKE_OUTCOMES, FakeCountersign } from '../../clients/node/testing.js'
import { SANDBOX_EFFECTS } from '../../src/verification/sandbox/sandbox-outcomes.js'
import { expectCode } from '../support/answers.js'
import { both, STEADY, shape, told } from '../support/fake-comparison.js'
import { plain } from '../support/images.js'
import { sandboxSdk } from '../support/sdk.js'
import { serviceOfFile } from '../support/service.js'

const running = await serviceOfFile(STEADY)
const image = await plain()

const action = { type: 'transfer' }

it('has the outcomes of the sandbox', () => {
  expect([...FAKE_OUTCOMES].sort()).toEqual(Object.keys(SANDBOX_EFFECTS).sort())
})

it('answers with scores of at most two digits', async () => {
  const client = new FakeCountersign().client()
  const score = async (user_id: string) => (await client.verify({ user_id, image, action })).score
  expect([await score('ada+match'), await score('eve+no_match')]).toEqual([0.8, 0.6])
})

it.each([
  [['turn', 'nod'] as const, 'face-active'],
  [['turn'] as const, 'face-active-turn'],
  [['nod'] as const, 'face-active-nod'],
  [[] as const, 'face-no-motion'],
])('calls an approval by a challenge with %j as the service does', async (modes, name) => {
  const frames = Array.from({ length: 16 }, (_, index) => ({ step: 0, t_ms: index * 200, image }))
  for (const checksLiveness of [false, true]) {
    const client = new FakeCountersign({ checksLiveness }).client()
    const asked = await client.createChallenge({ user_id: 'ada+match', action, modes: [...modes] })
    const challenge = { challenge_id: asked.challenge_id, nonce: asked.nonce, frames }
    const { jwt } = await client.verify({ user_id: 'ada+match', action, challenge })
    const { acr } = await client.verifyVerdict(jwt, { userId: 'ada+match', action })
    expect(acr).toBe(`urn:countersign:acr:${name}${checksLiveness ? '-pad' : ''}`)
  }
})

describe('the service in memory', () => {
  it.each([...Object.keys(SANDBOX_EFFECTS), ' without an outcome'])(
    'answers a user %s as the sandbox does',
    async (suffix) => {
      const tenant = await running.tenant()
      const fake = new FakeCountersign()
      const real = sandboxSdk(running, tenant, { maxRetries: 0 })
      const user_id = `user${suffix}`
      const verifiedAndFound = async (client: Countersign, known: VerificationRequest) => {
        const { verification_id } = await client.verify({ user_id, image, action, nonce: 'n' })
        return client.getVerification(verification_id, known)
      }
      const calls: Array<(client: Countersign) => Promise<object>> = [
        (client) => client.verify({ user_id, image, action, nonce: 'n' }),
        (client) => client.enroll({ user_id, image }),
        (client) => client.enroll({ user_id, images: [image, image] }),
        (client) => client.enroll({ user_id, images: [image, image, image], dry_run: true }),
        (client) => client.enroll({ user_id, images: [image, image, image], replace: true }),
        (client) => client.verify({ user_id, images: [image], action, include: ['quality'] }),
        (client) => client.guide({ image, user_id }),
        (client) => client.guide({ image, user_id, step: 'turn_left' }),
        (client) => client.guide({ image, user_id, step: 'nod_down', frontal: image }),
        (client) => client.getUser(user_id),
        (client) => verifiedAndFound(client, { user_id }),
        (client) => verifiedAndFound(client, { user_id, action }),
        (client) => verifiedAndFound(client, { user_id, action: { ...action, amount: '1' } }),
        (client) => verifiedAndFound(client, { user_id: 'another' }),
        (client) => verifiedAndFound(client, {}),
        (client) => client.getVerification('ver_0', { user_id }),
        (client) => client.delete(user_id),
        (client) => client.getUser(user_id),
        (client) => client.delete(user_id),
      ]
      for (const call of calls) {
        const expected = await told(call(real), tenant.secret.secret)
        const answered = told(call(fake.client()), fake.signingSecret.secret)
        // The answers wait only for the clock, so it moves until they come.
        const moving = setInterval(() => fake.clock.advance(5_000), 20)
        expect(await answered.finally(() => clearInterval(moving)), String(call)).toEqual(expected)
      }
    },
  )

  it('adds and replaces photos, and refuses what cannot be read, as the sandbox does', () =>
    both(running, {}, async ({ client, note }) => {
      await note(client.enroll({ user_id: 'invisible\u200b', image }))
      await note(client.enroll({ user_id: 'ada', image, add: true }))
      await note(client.enroll({ user_id: 'ada', image, capture_integrity: { signals: ['frame_timing'] } }))
      await note(client.enroll({ user_id: 'ada', image, add: true, replace: true }))
      await note(client.enroll({ user_id: 'ada', images: [image, image], add: true, include: ['quality'] }))
      await note(client.verify({ user_id: 'ada', image, action: { type: 'payment', amount: '1' } }))
      await note(client.verify({ user_id: undefined as never, image, action }))
      await note(client.createChallenge({ user_id: 'ada', action, payees: '[]' }))
      await note(client.verify({ user_id: 'ada', image: '', action }))
    }))

  it('repeats the receipt of an erasure for a day, and refuses a path that is not UTF-8', async () => {
    const fake = new FakeCountersign()
    const client = fake.client()
    await client.enroll({ user_id: 'ada', image })
    const receipt = await client.delete('ada')
    fake.clock.advance(86_400_000 - 1)
    expect(await client.delete('ada')).toEqual(receipt)
    fake.clock.advance(1)
    await expect(client.delete('ada')).rejects.toMatchObject({ code: 'reference_not_found' })
    const headers = { Authorization: `Bearer ${fake.apiKey}` }
    expect((await fake.fetch(`${fake.baseUrl}/users/%FF`, { headers })).status).toBe(400)
  })

  it('answers a query of the audit log, which the sandbox does not write, as the sandbox does', async () => {
    const real = sandboxSdk(running, await running.tenant())
    const page = { after: '7', limit: 3, event: 'verify' }
    for (const request of [{}, page, { order: 'desc', after: '7' }] as const)
      expect(await new FakeCountersign().client().auditPage(request)).toEqual(await real.auditPage(request))
  })

  it('answers health and rotation as the sandbox does', async () => {
    const real = sandboxSdk(running, await running.tenant())
    const fake = new FakeCountersign().client()
    const [faked, { checks, ...health }] = [await fake.health(), await real.health()]
    // Which model and which server it has, and whether that server is the first choice, is the installation's own.
    const { model: _, ...engine } = checks.engine
    const http = { ...checks.http, reason: 'preferred' }
    expect(shape(faked)).toMatchObject(
      shape({ ...health, version: 'fake', checks: { ...checks, engine, http } }) as object,
    )
    expect(Object.keys(faked.checks)).toEqual(Object.keys(checks))
    expect(shape(await fake.rotateSigning())).toEqual(shape(await real.rotateSigning()))
    for (const client of [fake, real])
      await expect(client.rotateSigning()).rejects.toMatchObject({
        code: 'rotation_in_progress',
        httpStatus: 409,
      })
  })
})

describe('the service in memory by itself', () => {
  it('signs with both secrets after a rotation, and only with the newer one after 30 minutes', async () => {
    const fake = new FakeCountersign()
    const older = fake.signingSecret
    const before = fake.client({ signingSecret: older })
    await fake.client().rotateSigning()
    const after = fake.client({ signingSecret: fake.signingSecret })
    for (const backend of [before, after]) {
      const { jwt } = await backend.verify({ user_id: 'u+match', image, action })
      await expect(backend.verifyVerdict(jwt, { userId: 'u+match', action })).resolves.toBeDefined()
    }
    fake.clock.advance(30 * 60_000)
    await expect(before.health()).rejects.toMatchObject({ code: 'signature_invalid' })
    await expect(after.health()).resolves.toMatchObject({ status: 'ok' })
  })

  it('gives a repeat with the same key the first answer, and refuses another payload', async () => {
    const client = new FakeCountersign().client()
    const call = (user_id: string) => client.enroll({ user_id, image }, { idempotencyKey: 'k' })
    const [first, second] = [await call('u'), await call('u')]
    expect([second, second.response.replayed]).toEqual([first, true])
    await expect(call('v')).rejects.toMatchObject({ code: 'idempotency_key_reused' })
  })

  it('shows no secret to a repeat of a rotation, and makes verdicts of evaluation grade that production refuses', async () => {
    const fake = new FakeCountersign({ environment: 'production' })
    const client = fake.client()
    await client.rotateSigning({}, { idempotencyKey: 'r' })
    await expectCode(client.rotateSigning({}, { idempotencyKey: 'r' }), 'secret_already_told')
    const jwt = await fake.signVerdict({ userId: 'u', action })
    await expectCode(client.verifyVerdict(jwt, { userId: 'u', action }), 'evaluation_grade')
    const lenient = fake.client({ acceptEvaluationGrade: true })
    await expect(lenient.verifyVerdict(jwt, { userId: 'u', action })).resolves.toBeDefined()
  })

  it('signs a verdict without a request, and distinguishes a wrong key from a wrong secret', async () => {
    const fake = new FakeCountersign({ environment: 'production', modelGrade: 'production' })
    const jwt = await fake.signVerdict({ userId: 'u', action })
    await expect(fake.client().verifyVerdict(jwt, { userId: 'u', action })).resolves.toMatchObject({
      env: 'production',
    })
    const wrong: Array<[Partial<CountersignOptions>, string]> = [
      [{ apiKey: 'svc-prod-Other' }, 'invalid_api_key'],
      [{ signingSecret: 'svc-sec-other' }, 'signature_invalid'],
    ]
    for (const [change, code] of wrong)
      await expect(fake.client(change).health()).rejects.toMatchObject({ code })
    expect(fake.requests.map(({ path }) => path)).toEqual(['/health', '/health'])
  })

  it('waits by its clock for a slow answer, which the caller can abort', async () => {
    const fake = new FakeCountersign()
    const abort = new AbortController()
    const call = (signal?: AbortSignal) =>
      fake.client().verify({ user_id: 'u+slow', image, action }, signal ? { signal } : {})
    const given = call(abort.signal)
    setTimeout(() => abort.abort(new Error('gone')), 50)
    await expect(given).rejects.toThrow('gone')
    const answered = call()
    setTimeout(() => fake.clock.advance(5_000), 50)
    await expect(answered).resolves.toMatchObject({ verdict: 'approved' })
  })
})
