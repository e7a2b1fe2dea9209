import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { inspect } from 'node:util'
import { decodeProtectedHeader } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { GUIDANCE_TEXTS } from '../../clients/capture/guidance-texts.js'
import {
  ApiError,
  ConnectionError,
  Countersign,
  type CountersignOptions,
  SignatureError,
  TimeoutError,
  UnexpectedResponseError,
  type VerifyRequest,
  verifyVerdict,
} from '../../clients/node/index.js'
import { face } from '../support/faces.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'
import { decodeJwt } from '../support/trust.js'
import { type FaultyProxy, type Returning, startProxy } from './proxy.js'

let running: TestService
let proxy: FaultyProxy
let tenant: TestTenant
let ada: Buffer
let adaToday: Buffer

beforeAll(async () => {
  running = await startService()
  tenant = await running.tenant()
  proxy = await startProxy(running.service.url('sandbox'))
  ada = await face('ada')
  adaToday = await face('adaToday')
})
afterAll(async () => {
  await proxy?.stop()
  await running?.stop()
})
afterEach(() => {
  proxy.mischief = (_request, forward) => forward()
  proxy.requests = []
})

function sandbox(options: Partial<CountersignOptions> = {}): Countersign {
  return new Countersign({
    apiKey: tenant.sandboxKey,
    baseUrl: proxy.url,
    signingSecret: tenant.secret.secret,
    tenantId: tenant.id,
    now: () => running.clock.now(),
    ...options,
  })
}

const kidOf = (jwt: string) => decodeProtectedHeader(jwt).kid
const key = (index: number) => proxy.requests[index]!.headers['x-svc-idempotency-key']
const caught = (promise: Promise<unknown>) =>
  promise.then(
    () => 'resolved',
    (error: unknown) => error,
  )

/** Signs an answer with a secret of the tester's choice, as somebody in the middle who knows the format would. */
function signed(answer: Returning, target: string, method: string, secret: string, kid = 'sec_x'): Returning {
  const timestamp = Math.floor(running.clock.now() / 1000)
  const input = `v2:sandbox:${timestamp}:${answer.headers['x-request-id']}:${answer.status}:${method}:${target}:${answer.body}`
  const mac = createHmac('sha256', secret).update(input).digest('hex')
  return {
    ...answer,
    headers: { ...answer.headers, 'x-svc-signature': `t=${timestamp},kid=${kid},v2=${mac}` },
  }
}

describe('the five calls', () => {
  it('enrol, verify, reject and erase a face in production', async () => {
    const own = await running.tenant()
    const { key: apiKey } = await running.production(own)
    const countersign = new Countersign({
      apiKey,
      baseUrl: running.service.url('production'),
      signingSecret: own.secret.secret,
      tenantId: own.id,
      acceptEvaluationGrade: true,
      now: () => running.clock.now(),
    })
    expect(countersign.environment).toBe('production')
    const enrolled = await countersign.enroll({ user_id: 'ada', image: ada })
    expect(enrolled).toMatchObject({ user_id: 'ada', status: 'enrolled' })
    const action = { type: 'wire_transfer', amount: '1250.00' }
    const approved = await countersign.verify({ user_id: 'ada', image: adaToday, action })
    expect(approved).toMatchObject({ verdict: 'approved', reason: null })
    const claims = await countersign.verifyVerdict(approved.jwt, { userId: 'ada', action })
    expect(claims).toMatchObject({ sub: 'ada', env: 'production', action, jti: approved.verification_id })
    const grace = await face('grace')
    const rejected = await countersign.verify({ user_id: 'ada', image: grace, action })
    expect(rejected).toMatchObject({ verdict: 'rejected', reason: 'no_match' })
    const erased = await countersign.delete('ada')
    expect(erased).toMatchObject({ status: 'erased', erased: { references: 1 } })
    expect(await countersign.delete({ user_id: 'ada' })).toEqual(erased)
    const { response } = await countersign.health()
    expect(response).toMatchObject({ status: 200, replayed: false })
  })

  it('refuse the enrolment photo itself at verifyVerdict, and a pack of evaluation grade, unless asked to accept them', async () => {
    const own = await running.tenant()
    const { key: apiKey } = await running.production(own)
    const client = (options: Partial<CountersignOptions>) =>
      new Countersign({
        apiKey,
        baseUrl: running.service.url('production'),
        signingSecret: own.secret.secret,
        tenantId: own.id,
        now: () => running.clock.now(),
        ...options,
      })
    const strict = client({})
    const demo = client({ acceptEvaluationGrade: true })
    const action = 'pay'
    const expected = { userId: 'ada', action }
    await strict.enroll({ user_id: 'ada', image: ada })
    const genuine = await strict.verify({ user_id: 'ada', image: adaToday, action })
    expect(genuine.verdict).toBe('approved')
    const refused = await caught(strict.verifyVerdict(genuine, expected))
    expect(refused).toMatchObject({ name: 'VerdictError', code: 'evaluation_grade' })
    expect((refused as Error).message).toContain('acceptEvaluationGrade: true')
    await expect(demo.verifyVerdict(genuine, expected)).resolves.toMatchObject({ model_grade: 'evaluation' })

    const replayed = await strict.verify({ user_id: 'ada', image: ada, action })
    expect(replayed).toMatchObject({ verdict: 'approved', replay: { suspected: true } })
    const again = await caught(demo.verifyVerdict(replayed, expected))
    expect(again).toMatchObject({ name: 'VerdictError', code: 'replay_suspected' })
    expect((again as Error).message).toMatch(/within 24 hours\. Have a new photo taken, or accept replays/)
    await expect(demo.verifyVerdict(replayed, { ...expected, acceptReplays: true })).resolves.toBeDefined()
  })

  it('take photos as bytes, buffers, blobs, base64 and data URLs alike', async () => {
    const bytes = new Uint8Array(ada)
    const base64 = ada.toString('base64')
    const forms = {
      bytes,
      part: new Uint8Array([0, ...bytes, 0]).subarray(1, bytes.length + 1),
      buffer: bytes.buffer,
      blob: new Blob([bytes], { type: 'image/jpeg' }),
      base64,
      url: `data:image/jpeg;base64,${base64}`,
    }
    for (const [form, image] of Object.entries(forms)) {
      await sandbox().enroll({ user_id: `photo-${form}`, image })
      expect(JSON.parse(proxy.requests.at(-1)!.body.toString()).image, form).toBe(base64)
    }
    await sandbox().enroll({ user_id: 'photos', images: Object.values(forms).slice(0, 5) })
    expect(JSON.parse(proxy.requests.at(-1)!.body.toString()).images).toEqual(Array(5).fill(base64))
  })

  it('pass on idempotency key, request id and nonce', async () => {
    await sandbox().verify(
      { user_id: 'u+match', image: ada, action: 'x', nonce: 'mine' },
      { idempotencyKey: 'key-1', requestId: 'request-1' },
    )
    expect(proxy.requests[0]!.headers).toMatchObject({
      'x-svc-idempotency-key': 'key-1',
      'x-request-id': 'request-1',
    })
    const again = await sandbox().verify(
      { user_id: 'u+match', image: ada, action: 'x', nonce: 'mine' },
      { idempotencyKey: 'key-1' },
    )
    expect(again.response.replayed).toBe(true)
    expect(decodeJwt(again.jwt, tenant.secret.secret).claims.nonce).toBe('mine')
  })

  it('send the same request when they are repeated with the caller’s key and no nonce', async () => {
    const call = () =>
      sandbox().verify({ user_id: 'u+match', image: ada, action: 'x' }, { idempotencyKey: 'key-2' })
    const [first, second] = [await call(), await call()]
    expect(second).toEqual(first)
    expect(second.response.replayed).toBe(true)
  })

  it('throw the service’s errors with their code', async () => {
    const error = await caught(sandbox().verify({ user_id: 'stranger', image: ada, action: 'x' }))
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({
      code: 'reference_not_found',
      category: 'not_found',
      httpStatus: 404,
      verified: true,
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    const invalid = await caught(sandbox().enroll({ user_id: '', image: ada }))
    expect(invalid).toMatchObject({ code: 'invalid_request', details: [{ path: 'user_id' }] })
  })

  it('refuse an action without canonical form before anything is sent', async () => {
    for (const action of [{ amount: Number.NaN }, { note: '\ud800' }])
      await expect(sandbox().verify({ user_id: 'u+match', image: ada, action })).rejects.toThrow(TypeError)
    expect(proxy.requests).toEqual([])
  })

  it('report a missing action before anything is sent', async () => {
    const request = { user_id: 'u+match', image: ada } as unknown as VerifyRequest
    await expect(sandbox().verify(request)).rejects.toThrow('action is required')
    expect(proxy.requests).toEqual([])
  })
})

describe('an error of the SDK', () => {
  it('names the field and the issue of the first details', async () => {
    const invalid = await caught(sandbox().enroll({ user_id: '', image: ada }))
    const [{ path, issue }] = (invalid as ApiError).details as [{ path: string; issue: string }]
    expect((invalid as ApiError).message).toContain(
      `[${path}: ${issue}] Read \`details\`: each entry names a field and what is wrong with it. (invalid_request, request `,
    )
    const faceless = sandbox().verify({ user_id: 'u+no_face', images: [ada, ada], action: 'x' })
    expect((await caught(faceless)) as ApiError).toMatchObject({
      message: expect.stringContaining(
        ' [images.0] Ask for a new photo in which the person faces the camera',
      ),
      remedy: expect.stringMatching(/^Ask for a new photo .*\.$/),
      docUrl: expect.stringMatching(/^http.*#face_not_found$/),
      details: [{ guidance: 'no_face', hint: expect.stringMatching(/^[A-Z].*\.$/) }],
    })
  })

  it('has no remedy from an older version of the service', async () => {
    const old = { error: 'not_found', code: 'reference_not_found', message: 'Nobody.', request_id: 'req_1' }
    const answer = { status: 404, headers: { 'x-request-id': 'req_1' }, body: JSON.stringify(old) }
    proxy.mischief = async () => signed(answer, '/v1/verify', 'POST', tenant.secret.secret, tenant.secret.id)
    const call = sandbox().verify({ user_id: 'u', image: ada, action: 'x' })
    expect(await caught(call)).toMatchObject({
      message: 'Nobody. (reference_not_found, request req_1)',
      remedy: undefined,
      docUrl: undefined,
    })
  })

  it('names a photo that is missing, empty or no photo, before anything is sent', async () => {
    const photos: Array<[object, string]> = [
      [{}, 'image: is required'],
      [{ image: null }, 'image: is required'],
      [{ image: new Uint8Array() }, 'image: is empty'],
      [{ image: 7 }, 'image: must be a Blob'],
      [{ image: 'not base64!' }, 'image: is text that is not base64'],
      [{ image: 'data:text/html,<p>' }, 'image: is text that is not base64'],
      [{ image: './photos/ada-today.PNG' }, "image: looks like a file's name"],
      [{ images: [ada, undefined] }, 'images.1: is required'],
      [{ images: [] }, 'images: must be an array of photos'],
      [{ images: 'x' }, 'images: must be an array of photos'],
      [{ challenge: { frames: 'x' } }, 'challenge.frames: must be an array of frames'],
      [{ challenge: { frames: [null] } }, 'challenge.frames.0.image: is required'],
    ]
    for (const [photo, message] of photos) {
      const fields = { user_id: 'u+match', action: 'x', ...photo } as unknown as VerifyRequest
      for (const call of ['verify', 'enroll'] as const) {
        const error = await caught(sandbox()[call](fields))
        expect(error).toBeInstanceOf(ApiError)
        expect(error).toMatchObject({ code: 'image_unreadable', category: 'biometric_rejected' })
        expect((error as ApiError).message).toContain(message)
        expect((error as ApiError).details).toMatchObject([
          { guidance: 'file_unreadable', hint: GUIDANCE_TEXTS.file_unreadable },
        ])
      }
    }
    // Only the call's own shape is the programmer's fault.
    const both = { user_id: 'u+match', action: 'x', image: ada, images: [ada] } as unknown as VerifyRequest
    await expect(sandbox().verify(both)).rejects.toThrow(new TypeError('image or images: give one of them'))
    expect(proxy.requests).toEqual([])
  })

  it('states the size in MiB and names the largest photo where photos are too large, before anything is sent', async () => {
    const large = new Uint8Array(15 * 2 ** 20)
    const small = new Uint8Array(1000)
    const client = sandbox()
    const refused = await caught(client.verify({ user_id: 'u+match', image: large, action: 'x' }))
    expect(refused).toBeInstanceOf(ApiError)
    expect(refused).toMatchObject({
      code: 'body_too_large',
      httpStatus: 413,
      message:
        'The body has 20.1 MiB, and the service takes 8 MiB. [image: has 15 MiB, and base64 adds a third] Send a smaller photo: 1280 pixels on the longer side are plenty. Where the service takes more, set maxBodyBytes. (body_too_large, not sent)',
      details: [{ path: 'image', guidance: 'image_too_large', hint: GUIDANCE_TEXTS.image_too_large }],
    })
    const frames = [small, large].map((image, index) => ({ step: 0, t_ms: index * 200, image }))
    const others: Array<[() => Promise<unknown>, string]> = [
      [() => client.enroll({ user_id: 'u', images: [small, large, small] }), 'images.1'],
      [
        () =>
          client.verify({ user_id: 'u', action: 'x', challenge: { challenge_id: 'c', nonce: 'n', frames } }),
        'challenge.frames.1.image',
      ],
      [() => client.guide({ image: new Uint8Array(600_000) }), 'image'],
    ]
    for (const [call, path] of others)
      expect(await caught(call())).toMatchObject({ code: 'body_too_large', details: [{ path }] })
    expect(proxy.requests).toEqual([])
  })

  it('is not thrown for a body of as many bytes as the installation takes', async () => {
    const image = Buffer.concat([ada, Buffer.alloc(5 * 2 ** 20)])
    const call = (options: Partial<CountersignOptions>) =>
      sandbox(options).verify({ user_id: 'u+match', image, action: 'x' })
    await expect(call({})).resolves.toMatchObject({ verdict: 'approved' })
    expect(await caught(call({ maxBodyBytes: 2 ** 20 }))).toMatchObject({ code: 'body_too_large' })
  })

  it('names the code of the cause where the connection failed', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    const error = await caught(sandbox({ baseUrl: `http://127.0.0.1:${port}/v1`, maxRetries: 0 }).health())
    expect((error as ConnectionError).message).toMatch(
      /^GET http:\/\/127\.0\.0\.1:\d+\/v1\/health failed: ECONNREFUSED\. \(1 attempt, \d+ ms in all\)$/,
    )
  })

  it('names no address where the connection failed without a code, because the address may name a user', async () => {
    const refused = async () => {
      throw new TypeError('fetch failed for ada@example.com')
    }
    const error = await caught(sandbox({ fetch: refused, maxRetries: 0 }).health())
    expect((error as ConnectionError).message).toMatch(/\/health failed\. \(1 attempt/)
  })

  it('has the guidance as codes for a photo, and the page of the code for a body that is not sent', async () => {
    const refused = (await caught(
      sandbox().verify({ user_id: 'ada+no_face', image: ada, action: 'x' }),
    )) as ApiError
    expect(refused.guidance).toEqual(['no_face'])
    expect(refused.message).toContain('No face was found in the image. Ask for a new photo')
    const image = new Uint8Array(15 * 2 ** 20)
    const unsent = (await caught(sandbox().verify({ user_id: 'u', image, action: 'x' }))) as ApiError
    expect(unsent.guidance).toEqual(['image_too_large'])
    expect(unsent.docUrl).toBe(`${proxy.url.replace(/v1$/, 'errors')}#body_too_large`)
    const unknown = (await caught(sandbox().getUser('stranger'))) as ApiError
    expect(unknown.guidance).toEqual([])
  })

  it('states the number of attempts and the total time after a time-out', async () => {
    proxy.mischief = () => new Promise(() => {})
    const error = await caught(sandbox({ timeoutMs: 40, maxRetries: 1 }).health())
    expect(error).toMatchObject({ code: 'timeout', attempts: 2 })
    expect((error as TimeoutError).message).toMatch(/within 40 ms\. \(2 attempts, \d+ ms in all\)/)
    expect((error as TimeoutError).elapsedMs).toBeGreaterThanOrEqual(79)
  })

  it('states both values for a verdict of another tenant or environment', async () => {
    const { jwt } = await sandbox().verify({ user_id: 'u+match', image: ada, action: 'x' })
    const expected = { userId: 'u+match', action: 'x' }
    const other = await caught(sandbox({ tenantId: 'ten_other' }).verifyVerdict(jwt, expected))
    expect(other).toMatchObject({
      code: 'wrong_audience',
      message: `The verdict's aud is "${tenant.id}"; ten_other is expected. Compare the tenant's id.`,
      remedy: "Compare the tenant's id.",
    })
    const trust = { signingSecret: tenant.secret, audience: tenant.id, now: () => running.clock.now() / 1000 }
    expect(await caught(verifyVerdict(jwt, { ...expected, ...trust }))).toMatchObject({
      code: 'wrong_environment',
      message: "The verdict's env is sandbox; production is expected. Compare the API key and the base URL.",
    })
  })
})

describe('a wrong clock of this machine', () => {
  const stepUp = async (client: Countersign) => {
    const { jwt } = await client.verify({ user_id: 'u+match', image: ada, action: 'x' })
    return client.verifyVerdict(jwt, { userId: 'u+match', action: 'x' })
  }
  const by = (seconds: number, options: Partial<CountersignOptions> = {}) =>
    sandbox({ now: () => running.clock.now() + 1000 * seconds, ...options })

  it.each([-58, -6, 58])('lets verdicts pass where it differs by %i s', async (seconds) => {
    await expect(stepUp(by(seconds))).resolves.toMatchObject({ verdict: 'approved' })
  })

  it('is reported and logged with the difference beyond clockToleranceSeconds', async () => {
    const warnings: object[] = []
    const logger = { debug: () => {}, warn: (facts: object) => void warnings.push(facts) }
    const message = expect.stringMatching(
      /^The verdict is valid from .*Z, which is 6[4-6] s ahead of this machine's clock; 60 s of difference are allowed\. Is this machine's clock right\?$/,
    )
    expect(await caught(stepUp(by(-65, { logger })))).toMatchObject({ code: 'not_yet_valid', message })
    expect(warnings).toEqual([{ code: 'not_yet_valid', reason: undefined, error: message }])
    expect(await caught(stepUp(by(-6, { clockToleranceSeconds: 4 })))).toMatchObject({
      code: 'not_yet_valid',
    })
    await expect(stepUp(by(-65, { clockToleranceSeconds: 120 }))).resolves.toMatchObject({ sub: 'u+match' })
  })

  it('is reported with the difference beyond signatureToleranceSeconds, in either direction', async () => {
    await expect(by(-400).health()).rejects.toThrow(
      /It was signed (399|400) s ahead of this machine's clock; 300 s/,
    )
    await expect(by(400).health()).rejects.toThrow(/It was signed (399|400|401) s ago; 300 s/)
    await expect(by(400, { signatureToleranceSeconds: 500 }).health()).resolves.toMatchObject({
      status: 'ok',
    })
  })
})

describe('an application', () => {
  it('watches its calls by hooks and a logger, which get the number of attempts but no key, photo or verdict', async () => {
    const seen: Array<{ event: string; facts: object }> = []
    const note = (event: string) => (facts: object) => void seen.push({ event, facts })
    let failures = 1
    proxy.mischief = async (_request, forward) =>
      failures-- > 0 ? { status: 502, headers: {}, body: 'bad gateway' } : forward()
    const client = sandbox({
      onRetry: note('onRetry'),
      onResponse: note('onResponse'),
      logger: { debug: note('debug'), warn: note('warn') },
    })
    const answer = await client.verify({ user_id: 'u+match', image: ada, action: 'x' })
    expect(answer.response).toMatchObject({ attempts: 2, elapsedMs: expect.any(Number) })
    expect(seen.map(({ event }) => event)).toEqual(['warn', 'onRetry', 'debug', 'onResponse'])
    expect(seen[1]!.facts).toMatchObject({ path: '/verify', attempts: 1, delayMs: expect.any(Number) })
    expect(seen[3]!.facts).toMatchObject({ path: '/verify', status: 200, attempts: 2 })
    await caught(client.enroll({ user_id: '', image: ada }))
    expect(seen.at(-1)).toMatchObject({ event: 'warn', facts: { code: 'invalid_request', attempts: 1 } })
    const told = JSON.stringify(seen)
    for (const secret of [tenant.sandboxKey, tenant.secret.secret, answer.jwt, ada.toString('base64')])
      expect(told).not.toContain(secret)
  })

  it('can abort its calls: nothing is sent, and no verdict is used', async () => {
    const signal = AbortSignal.abort(new Error('the client went away'))
    const calls = (client: Countersign) => [
      client.enroll({ user_id: 'u+match', image: ada }, { signal }),
      client.verify({ user_id: 'u+match', image: ada, action: 'x' }, { signal }),
      client.delete('u', { signal }),
      client.health({ signal }),
      client.rotateSigning({}, { signal }),
    ]
    const given = await Promise.all(calls(sandbox()).map(caught))
    expect(given.map((error) => (error as Error).message)).toEqual(Array(5).fill('the client went away'))
    expect(proxy.requests).toEqual([])
    const client = sandbox()
    const { jwt } = await client.verify({ user_id: 'u+match', image: ada, action: 'x' })
    const expected = { userId: 'u+match', action: 'x' }
    await expect(client.verifyVerdict(jwt, { ...expected, signal })).rejects.toThrow('went away')
    await expect(client.verifyVerdict(jwt, expected)).resolves.toMatchObject({ verdict: 'approved' })
  })
})

describe('a rotation', () => {
  it('leaves answers valid under the old secret, the new one, and both', async () => {
    const own = await running.tenant()
    const client = (signingSecret: CountersignOptions['signingSecret']) =>
      sandbox({ apiKey: own.sandboxKey, signingSecret, tenantId: own.id })
    const before = client(own.secret.secret)
    const { signing_secret: next, overlap_seconds } = await before.rotateSigning()
    expect(overlap_seconds).toBe(1800)
    expect(await caught(before.rotateSigning())).toMatchObject({ code: 'rotation_in_progress' })
    const action = 'x'
    const expected = { userId: 'u+match', action }
    const after = client(next)
    const both = client([next, own.secret.secret])
    for (const backend of [before, after, both]) {
      const { jwt } = await backend.verify({ user_id: 'u+match', image: ada, action })
      await expect(backend.verifyVerdict(jwt, expected)).resolves.toMatchObject({ aud: own.id })
    }

    running.clock.advance(31 * 60_000)
    expect(await caught(before.health())).toMatchObject({ code: 'signature_invalid' })
    for (const backend of [after, both]) await expect(backend.health()).resolves.toBeDefined()
  })

  it('can be repeated with force after its new secret was lost, whether secrets have ids or not', async () => {
    for (const form of ['with ids', 'plain'] as const) {
      const own = await running.tenant()
      const client = (signingSecret: CountersignOptions['signingSecret']) =>
        sandbox({ apiKey: own.sandboxKey, signingSecret, tenantId: own.id })
      const given = ({ id, secret }: { id: string; secret: string }) =>
        form === 'plain' ? secret : `${id}:${secret}`
      const lost = (await client(given(own.secret)).rotateSigning()).signing_secret
      const { signing_secret: kept } = await client(given(own.secret)).rotateSigning({ force: true })
      // `jwt` is now signed with the lost secret, `jwt_next` with the one that is kept.
      const plain = await own.sandbox.verify({
        user_id: 'u+match',
        image: ada.toString('base64'),
        action: 'x',
      })
      expect([plain.body.jwt, plain.body.jwt_next].map(kidOf), form).toEqual([lost.id, kept.id])
      for (const secrets of [
        given(kept),
        [given(kept), given(own.secret)],
        [given(own.secret), given(kept)],
      ]) {
        const backend = client(secrets)
        const verified = await backend.verify({ user_id: 'u+match', image: ada, action: 'x' })
        const claims = await backend.verifyVerdict(verified.jwt, { userId: 'u+match', action: 'x' })
        expect(claims.aud).toBe(own.id)
      }
      // An answer that another program got, with both tokens.
      const fromElsewhere = client(given(kept)).verifyVerdict(plain.body, { userId: 'u+match', action: 'x' })
      await expect(fromElsewhere).resolves.toMatchObject({ verdict: 'approved' })
    }
  })

  it('answers the retry of a lost answer with secret_already_told, and another one with force succeeds', async () => {
    const own = await running.tenant()
    const client = (signingSecret: CountersignOptions['signingSecret']) =>
      sandbox({ apiKey: own.sandboxKey, signingSecret, tenantId: own.id })
    const before = client(own.secret.secret)
    proxy.mischief = (_request, forward) => {
      proxy.mischief = (_again, next) => next()
      return forward().then(() => null)
    }
    expect(await caught(before.rotateSigning())).toMatchObject({
      name: 'ApiError',
      code: 'secret_already_told',
      verified: true,
      details: [
        { path: 'signing_secret.id', issue: expect.stringMatching(/^sec_/) },
        { path: 'previous.id', issue: expect.stringContaining(own.secret.id) },
      ],
    })
    expect(proxy.requests).toHaveLength(2)
    const { signing_secret } = await before.rotateSigning({ force: true })
    await expect(client(signing_secret).health()).resolves.toMatchObject({ environment: 'sandbox' })
  })

  it('needs no restart where the secrets are read before each use', async () => {
    const own = await running.tenant()
    let stored: CountersignOptions['signingSecret'] = own.secret.secret
    const backend = sandbox({
      apiKey: own.sandboxKey,
      tenantId: own.id,
      signingSecret: async () => stored as string,
    })
    const { signing_secret } = await backend.rotateSigning()
    running.clock.advance(31 * 60_000)
    expect(await caught(backend.health())).toBeInstanceOf(SignatureError)
    stored = signing_secret
    await expect(backend.health()).resolves.toMatchObject({ environment: 'sandbox' })
  })
})

describe('an answer', () => {
  const verifyOnce = (client = sandbox()) =>
    caught(client.verify({ user_id: 'u+match', image: ada, action: { amount: 1 } }))

  for (const [title, change, code] of [
    [
      'is refused with a changed body',
      (answer: Returning) => ({ ...answer, body: `${answer.body}`.replace('approved', 'rejected') }),
      'signature_invalid',
    ],
    ['with another status', (answer: Returning) => ({ ...answer, status: 201 }), 'signature_invalid'],
    [
      'is refused with another request id',
      (answer: Returning) => ({ ...answer, headers: { ...answer.headers, 'x-request-id': 'r' } }),
      'signature_invalid',
    ],
    [
      'is refused without a signature',
      ({ headers: { 'x-svc-signature': _, ...headers }, ...answer }: Returning) => ({ ...answer, headers }),
      'signature_missing',
    ],
    [
      'is refused with a signature of another form',
      (answer: Returning) => ({ ...answer, headers: { ...answer.headers, 'x-svc-signature': 't=1,v2=00' } }),
      'signature_malformed',
    ],
    [
      'is refused when somebody else signed it',
      (answer: Returning) => signed(answer, '/v1/verify', 'POST', 'svc-sec-other', tenant.secret.id),
      'signature_invalid',
    ],
    [
      'is refused when it was signed for another path',
      (answer: Returning) => signed(answer, '/v1/enroll', 'POST', tenant.secret.secret),
      'signature_invalid',
    ],
  ] as const)
    it(title, async () => {
      proxy.mischief = async (_request, forward) => change(await forward())
      const error = await verifyOnce()
      expect(error).toBeInstanceOf(SignatureError)
      expect(error).toMatchObject({ code })
      expect(proxy.requests).toHaveLength(1)
    })

  it('is refused when it was signed more than 300 s ago or ahead, and accepted at 299 s', async () => {
    const at = (shiftSeconds: number) => sandbox({ now: () => running.clock.now() + shiftSeconds * 1000 })
    for (const shift of [-302, 302])
      expect(await caught(at(shift).health())).toMatchObject({ code: 'signature_expired' })
    for (const shift of [-299, 299]) await expect(at(shift).health()).resolves.toBeDefined()
  })

  it('is refused when it is well signed and answers another verify', async () => {
    let kept: Returning | undefined
    proxy.mischief = async (_request, forward) => {
      kept ??= await forward()
      return kept
    }
    expect(await verifyOnce()).toBe('resolved')
    // Within these seconds the same request again has the same answer.
    running.clock.advance(30_000)
    expect(await verifyOnce()).toMatchObject({ code: 'response_mismatch' })
    const other = sandbox().verify({ user_id: 'v+match', image: ada, action: { amount: 1 } })
    expect(await caught(other)).toMatchObject({ code: 'response_mismatch' })
  })

  it('is refused when it is well signed and is about another user', async () => {
    let kept: Returning | undefined
    proxy.mischief = async (_request, forward) => {
      kept ??= await forward()
      return kept
    }
    await sandbox().enroll({ user_id: 'first', image: ada })
    expect(await caught(sandbox().enroll({ user_id: 'second', image: ada }))).toMatchObject({
      code: 'response_mismatch',
    })
  })

  it('is refused when it is an error about a user that the tenant’s secret did not sign', async () => {
    proxy.mischief = () => ({
      status: 404,
      headers: { 'content-type': 'application/json', 'x-request-id': 'r' },
      body: JSON.stringify({
        error: 'not_found',
        code: 'reference_not_found',
        message: 'm',
        request_id: 'r',
      }),
    })
    expect(await verifyOnce()).toMatchObject({ code: 'signature_missing' })
  })

  it('is refused when somebody in the middle has the sandbox answer a call of production', async () => {
    const own = await running.tenant()
    const { key: apiKey } = await running.production(own)
    const client = (options: Partial<CountersignOptions>) =>
      new Countersign({
        apiKey,
        baseUrl: running.service.url('production'),
        signingSecret: own.secret.secret,
        tenantId: own.id,
        maxRetries: 0,
        now: () => running.clock.now(),
        ...options,
      })
    const honest = client({})
    await honest.enroll({ user_id: 'gdpr-user', image: ada })
    const inSandbox = client({ apiKey: own.sandboxKey, baseUrl: running.service.url('sandbox') })
    await inSandbox.enroll({ user_id: 'gdpr-user', image: ada })
    const swapped = client({
      fetch: (input, init) =>
        fetch(String(input).replace(running.service.url('production'), running.service.url('sandbox')), {
          ...init,
          headers: { ...(init!.headers as object), Authorization: `Bearer ${own.sandboxKey}` },
        }),
    })
    const calls: Array<() => Promise<unknown>> = [
      () => swapped.delete('gdpr-user'),
      () => swapped.auditPage(),
      () => swapped.enroll({ user_id: 'newcomer', image: ada }),
      () => swapped.getUser('nobody-in-the-sandbox'),
      () => swapped.health(),
    ]
    for (const call of calls)
      expect(await caught(call()), call.toString()).toMatchObject({
        name: 'SignatureError',
        code: 'wrong_environment',
      })
    expect(await honest.getUser('gdpr-user')).toMatchObject({ user_id: 'gdpr-user' })
  })

  it('is accepted without a signature where verifyResponses is false', async () => {
    proxy.mischief = async (_request, forward) => {
      const { headers, ...answer } = await forward()
      return { ...answer, headers: { 'content-type': headers['content-type']! } }
    }
    expect(await verifyOnce(sandbox({ verifyResponses: false }))).toBe('resolved')
  })
})

describe('a refusal of the API key', () => {
  it('is thrown although no tenant could sign it, and is marked as not verified', async () => {
    const unknown = `svc-sbx-${'0'.repeat(49)}`
    expect(await caught(sandbox({ apiKey: unknown }).health())).toMatchObject({
      code: 'malformed_api_key',
      verified: false,
    })
    const atProduction = sandbox({ baseUrl: running.service.url('production') })
    expect(await caught(atProduction.health())).toMatchObject({ code: 'wrong_environment', httpStatus: 403 })
  })
})

describe('retries', () => {
  it('use one idempotency key, so that they get an answer that was lost on the way', async () => {
    let lost: Returning | undefined
    proxy.mischief = async (_request, forward) => {
      const answer = await forward()
      if (lost) return answer
      lost = answer
      return null
    }
    const enrolled = await sandbox().enroll({ user_id: 'retried', image: ada })
    expect(enrolled.response.replayed).toBe(true)
    expect(enrolled).toEqual(JSON.parse(lost!.body.toString()))
    expect(key(0)).toMatch(/^[0-9a-f-]{36}$/)
    expect(key(1)).toBe(key(0))
    await sandbox().verify({ user_id: 'retried', image: ada, action: 'x' })
    expect(key(2)).not.toBe(key(0))
  })

  it('leave out guidance, which the next frame asks for anyway', async () => {
    const { guidance } = await sandbox().guide({ image: ada, step: 'turn_left', user_id: 'u+turn_more' })
    expect(guidance).toEqual(['turn_more'])
    proxy.requests = []
    const error = await caught(sandbox().guide({ image: ada, user_id: 'u+unavailable' }))
    expect(error).toMatchObject({ code: 'overloaded', httpStatus: 503 })
    expect(proxy.requests).toHaveLength(1)
  })

  it('wait as long as Retry-After says, and give up after maxRetries', async () => {
    const started = performance.now()
    const error = await caught(
      sandbox({ maxRetries: 1 }).verify({ user_id: 'u+unavailable', image: ada, action: 'x' }),
    )
    expect(error).toMatchObject({ code: 'overloaded', httpStatus: 503, retryAfterSeconds: 1 })
    expect(proxy.requests).toHaveLength(2)
    // A lower bound only: the service asked for a second.
    expect(performance.now() - started).toBeGreaterThanOrEqual(999)
  })

  it('leave a Retry-After beyond the limit to the caller', async () => {
    const error = await caught(
      sandbox({ maxRetryAfterSeconds: 0.5 }).enroll({ user_id: 'u+rate_limited', image: ada }),
    )
    expect(error).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 1 })
    expect(proxy.requests).toHaveLength(1)
  })

  it('do not happen after too many wrong keys: a wrong key stays wrong', async () => {
    const refused = {
      ...{ error: 'rate_limited', code: 'too_many_wrong_keys', message: 'Too many.', request_id: 'req_1' },
      ...{ remedy: 'Correct the key.', doc_url: 'https://verify.example/errors#too_many_wrong_keys' },
    }
    proxy.mischief = () => ({
      status: 429,
      // The secret of the instance, which no tenant holds, signs this answer.
      headers: { 'content-type': 'application/json', 'x-request-id': 'req_1', 'retry-after': '1' },
      body: JSON.stringify(refused),
    })
    const error = await caught(sandbox().health())
    expect(error).toMatchObject({ code: 'too_many_wrong_keys', httpStatus: 429, verified: false })
    expect(error).toMatchObject({ remedy: refused.remedy, docUrl: refused.doc_url, retryAfterSeconds: 1 })
    expect(proxy.requests).toHaveLength(1)
  })

  it('happen after a proxy’s 502 and not after its 404', async () => {
    const page = (status: number) => ({
      status,
      headers: { 'content-type': 'text/html' },
      body: '<h1>Sorry</h1>',
    })
    proxy.mischief = (_request, forward) => (proxy.requests.length === 1 ? page(502) : forward())
    await expect(sandbox().health()).resolves.toMatchObject({ status: 'ok' })
    proxy.requests = []
    proxy.mischief = () => page(404)
    expect(await caught(sandbox().health())).toBeInstanceOf(UnexpectedResponseError)
    expect(proxy.requests).toHaveLength(1)
  })

  it('do not happen after a refusal, a forged answer or a redirect', async () => {
    await caught(sandbox().verify({ user_id: 'stranger', image: ada, action: 'x' }))
    expect(proxy.requests).toHaveLength(1)
    proxy.mischief = () => ({ status: 307, headers: { location: running.service.url('sandbox') }, body: '' })
    expect(await caught(sandbox().health())).toMatchObject({ code: 'unexpected_response', httpStatus: 307 })
    expect(proxy.requests).toHaveLength(2)
  })

  it('end with the error of the last attempt: no connection, or no answer in time', async () => {
    proxy.mischief = () => null
    expect(await caught(sandbox({ maxRetries: 1 }).health())).toBeInstanceOf(ConnectionError)
    proxy.mischief = () => new Promise(() => {})
    expect(await caught(sandbox({ maxRetries: 0, timeoutMs: 50 }).health())).toBeInstanceOf(TimeoutError)
  })

  it('end at once with the caller’s own reason when the caller aborts', async () => {
    const hangUp = new AbortController()
    const reason = new Error('enough')
    proxy.mischief = () => {
      hangUp.abort(reason)
      return new Promise(() => {})
    }
    expect(await caught(sandbox().health({ signal: hangUp.signal }))).toBe(reason)
    expect(proxy.requests).toHaveLength(1)

    const whileWaiting = new AbortController()
    proxy.mischief = () => {
      setTimeout(() => whileWaiting.abort(reason), 20)
      return { status: 503, headers: { 'retry-after': '20' }, body: '' }
    }
    expect(await caught(sandbox().health({ signal: whileWaiting.signal }))).toBe(reason)
    expect(proxy.requests).toHaveLength(2)
  })
})

describe('options that cannot work', () => {
  for (const [title, options] of Object.entries<Partial<CountersignOptions>>({
    'a key of another kind': { apiKey: 'sk_live_1' },
    'a key with a line feed': { apiKey: 'svc-sbx-1\n' },
    'a base URL without version': { baseUrl: 'https://example.test' },
    'clear text to another host': { baseUrl: 'http://example.test/v1' },
    'no secret': { signingSecret: '' },
    'a secret before its id': { signingSecret: 'svc-sec-abc:sec_1' },
    'a list with a secret before its id': { signingSecret: ['sec_2:svc-sec-x', 'svc-sec-abc:sec_1\n'] },
    'an object with id and secret swapped': { signingSecret: { id: 'svc-sec-abc', secret: 'sec_1' } },
    'the name of a tenant instead of its id': { tenantId: 'acme' },
    'a tenant id with a line feed': { tenantId: 'ten_1\n' },
  }))
    it(`are refused: ${title}`, () => {
      expect(() => sandbox(options)).toThrow(TypeError)
    })

  it('are named in the error when they are missing', () => {
    for (const name of ['apiKey', 'baseUrl', 'signingSecret'])
      expect(() => sandbox({ [name]: undefined })).toThrow(`${name} is required`)
  })

  it('are refused when used: an empty list of secrets', async () => {
    await expect(sandbox({ signingSecret: [] }).health()).rejects.toThrow(TypeError)
  })

  it('may lack the tenant, which is that of the signing secret', async () => {
    const options = { apiKey: tenant.sandboxKey, baseUrl: proxy.url, now: () => running.clock.now() }
    const client = new Countersign({ ...options, signingSecret: tenant.secret })
    const answer = await client.verify({ user_id: 'u+match', image: ada, action: 'x' })
    const expected = { userId: 'u+match', action: 'x' }
    expect(await client.verifyVerdict(answer, expected)).toMatchObject({ aud: tenant.id })
    const other = new Countersign({ ...options, signingSecret: (await running.tenant()).secret })
    expect(await caught(other.verifyVerdict(answer, expected))).toMatchObject({ code: 'signature_invalid' })
    const keyless = { issuer: running.service.url('sandbox'), environment: 'sandbox' } as const
    await expect(verifyVerdict(answer, { ...keyless, ...expected })).rejects.toThrow(TypeError)
  })

  it('do not include http to this host, and to others with allowInsecureHttp', () => {
    expect(() => sandbox({ baseUrl: 'http://example.test/v1', allowInsecureHttp: true })).not.toThrow()
    expect(() => sandbox({ baseUrl: 'http://[::1]:8081/v1/' })).not.toThrow()
  })
})

it('shows neither key nor secret when a client or its error is printed', async () => {
  const client = sandbox()
  const error = await caught(client.verify({ user_id: 'stranger', image: ada, action: 'x' }))
  const shown = inspect([client, error], { depth: 10, showHidden: true }) + JSON.stringify(client)
  expect(shown).not.toContain(tenant.sandboxKey)
  expect(shown).not.toContain(tenant.secret.secret)
})
