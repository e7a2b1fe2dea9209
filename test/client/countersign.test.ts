/** The SDK for TypeScript: the scenarios of every SDK, and what only this one has. */
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { inspect } from 'node:util'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { GUIDANCE_TEXTS } from '../../clients/capture/guidance-texts.js'
import {
  ApiError,
  type ConnectionError,
  Countersign,
  type CountersignOptions,
  type TimeoutError,
  type VerifyRequest,
  verifyVerdict,
} from '../../clients/node/index.js'
import { sandboxSdk } from '../support/sdk.js'
import { keepsToTheSuite, openStand } from './behaviour/suite.js'
import { typescriptDriver } from './behaviour/typescript.js'
import { startProxy } from './proxy.js'

const stand = await openStand()
const { running } = stand
const tenant = await running.tenant()
const proxy = await startProxy(running.service.url('sandbox'))
const ada = Buffer.from(stand.photos.ada, 'base64')
afterAll(async () => {
  await proxy.stop()
  await running.stop()
})
afterEach(() => {
  proxy.mischief = (_request, forward) => forward()
  proxy.requests = []
})

describe('the SDK for TypeScript', () => {
  keepsToTheSuite(() => stand, typescriptDriver())
})

function sandbox(options: Partial<CountersignOptions> = {}): Countersign {
  return sandboxSdk(running, tenant, { baseUrl: proxy.url, ...options })
}

const caught = (promise: Promise<unknown>) =>
  promise.then(
    () => 'resolved',
    (error: unknown) => error,
  )

describe('the calls', () => {
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
    const answer = { status: 404, body: JSON.stringify(old) }
    const { id, secret } = tenant.secret
    const timestamp = Math.floor(running.clock.now() / 1000)
    const input = `v2:sandbox:${timestamp}:req_1:404:POST:/v1/verify:${answer.body}`
    const mac = createHmac('sha256', secret).update(input).digest('hex')
    const signed = { 'x-request-id': 'req_1', 'x-svc-signature': `t=${timestamp},kid=${id},v2=${mac}` }
    proxy.mischief = async () => ({ ...answer, headers: signed })
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
        expect(error).toMatchObject({
          ...{ code: 'image_unreadable', category: 'biometric_rejected' },
          message: expect.stringContaining(message),
          details: [{ guidance: 'file_unreadable', hint: GUIDANCE_TEXTS.file_unreadable }],
        })
      }
    }
    // Only the call's own shape is the programmer's fault.
    const both = { user_id: 'u+match', action: 'x', image: ada, images: [ada] } as unknown as VerifyRequest
    await expect(sandbox().verify(both)).rejects.toThrow(new TypeError('image or images: give one of them'))
    expect(proxy.requests).toEqual([])
  })

  it('states the size in MiB and names the largest photo where photos are too large, before anything is sent', async () => {
    const large = new Uint8Array(3 * 2 ** 20)
    const small = new Uint8Array(1000)
    const client = sandbox({ maxBodyBytes: 2 ** 21 })
    const refused = await caught(client.verify({ user_id: 'u+match', image: large, action: 'x' }))
    expect(refused).toBeInstanceOf(ApiError)
    expect(refused).toMatchObject({
      code: 'body_too_large',
      httpStatus: 413,
      message:
        'The body has 4.1 MiB, and the service takes 2 MiB. [image: has 3 MiB, and base64 adds a third] Send a smaller photo: 1280 pixels on the longer side are plenty. Where the service takes more, set maxBodyBytes. (body_too_large, not sent)',
      details: [{ path: 'image', guidance: 'image_too_large', hint: GUIDANCE_TEXTS.image_too_large }],
    })
    const frames = [small, large].map((image, index) => ({ step: 0, t_ms: index * 200, image }))
    const challenge = { challenge_id: 'c', nonce: 'n', frames }
    const others: Array<[() => Promise<unknown>, string]> = [
      [() => client.enroll({ user_id: 'u', images: [small, large, small] }), 'images.1'],
      [() => client.verify({ user_id: 'u', action: 'x', challenge }), 'challenge.frames.1.image'],
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
    const call = sandbox().verify({ user_id: 'ada+no_face', image: ada, action: 'x' })
    const refused = (await caught(call)) as ApiError
    expect(refused.guidance).toEqual(['no_face'])
    expect(refused.message).toContain('No face was found in the image. Ask for a new photo')
    const tiny = sandbox({ maxBodyBytes: 1000 })
    const unsent = (await caught(tiny.verify({ user_id: 'u', image: ada, action: 'x' }))) as ApiError
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

  it('is reported and logged with the difference beyond what the options allow', async () => {
    const warnings: object[] = []
    const logger = { debug: () => {}, warn: (facts: object) => void warnings.push(facts) }
    const message = expect.stringMatching(
      /^The verdict is valid from .*Z, which is 6[4-6] s ahead of this machine's clock; 60 s of difference are allowed\. Is this machine's clock right\?$/,
    )
    expect(await caught(stepUp(by(-65, { logger })))).toMatchObject({ code: 'not_yet_valid', message })
    expect(warnings).toEqual([{ code: 'not_yet_valid', reason: undefined, error: message }])
    await expect(stepUp(by(-65, { clockToleranceSeconds: 120 }))).resolves.toMatchObject({ sub: 'u+match' })
    const late = by(400, { signatureToleranceSeconds: 500 })
    await expect(late.health()).resolves.toMatchObject({ status: 'ok' })
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

it('an answer is accepted without a signature where verifyResponses is false', async () => {
  proxy.mischief = async (_request, forward) => {
    const { headers, ...answer } = await forward()
    return { ...answer, headers: { 'content-type': headers['content-type']! } }
  }
  const client = sandbox({ verifyResponses: false })
  const answer = await client.verify({ user_id: 'u+match', image: ada, action: { amount: 1 } })
  expect(answer.verdict).toBe('approved')
})

it('retries end at once with the caller’s own reason when the caller aborts', async () => {
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

  it('have the environment of the key', () => {
    const url = 'https://verify.example/v1'
    expect(sandbox({ apiKey: 'svc-prod-1', baseUrl: url }).environment).toBe('production')
    expect(sandbox({ apiKey: 'svc-sbx-1', baseUrl: url }).environment).toBe('sandbox')
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
