/** Tests of the SDK's check of public verdicts: with the address of the service and no secret, as a third party makes it. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { MemoryReplayStore, type VerdictTrust, verifyVerdict } from '../../clients/node/index.js'
import { FakeCountersign } from '../../clients/node/testing.js'
import { base64 } from '../support/faces.js'
import { plain } from '../support/images.js'
import { outcomeOf } from '../support/outcome.js'
import { serviceOfFile } from '../support/service.js'

const ACTION = { type: 'wire_transfer', amount: '1250.00' }
const EXPECTED = { userId: 'ada+match', action: ACTION, environment: 'sandbox' as const }

const codeOf = (judged: Promise<unknown>) => outcomeOf(judged, null)

const running = await serviceOfFile()
const tenant = await running.tenant()
const image = base64(await plain())

describe('a verdict of the service', () => {
  const verify = async () =>
    (await tenant.sandbox.verify({ user_id: 'ada+match', image, action: ACTION })).body
  const check = (source: Parameters<typeof verifyVerdict>[0], changes: Partial<VerdictTrust> = {}) =>
    verifyVerdict(source, {
      ...EXPECTED,
      audience: tenant.id,
      issuer: running.service.url('sandbox'),
      replayStore: new MemoryReplayStore(),
      now: () => running.clock.now() / 1000,
      ...changes,
    })

  it('holds with the issuer and nothing else, as a token and as an answer', async () => {
    const answer = await verify()
    expect((await check(answer.jwt_public)).jti).toBe(answer.verification_id)
    expect((await check(answer)).jti).toBe(answer.verification_id)
  })

  it('holds with the address of the keys and nothing else', async () => {
    const jwksUrl = `${running.service.url('sandbox')}/.well-known/jwks.json`
    const { jwt_public: token } = await verify()
    await expect(check(token, { issuer: undefined, jwksUrl })).resolves.toMatchObject({ sub: 'ada+match' })
  })

  it('is used up like one that was checked with the secret', async () => {
    const answer = await verify()
    const replayStore = new MemoryReplayStore()
    await check(answer, { replayStore })
    expect(await codeOf(check(answer, { replayStore, signingSecret: tenant.secret }))).toBe('already_used')
  })

  it('is refused in production', async () => {
    const { jwt_public: token } = await verify()
    const issuer = running.service.url('production')
    expect(await codeOf(check(token, { issuer }))).toBe('signature_invalid')
  })

  it('needs a secret, an issuer or an address of keys', async () => {
    const { jwt_public: token } = await verify()
    await expect(check(token, { issuer: undefined })).rejects.toThrow(TypeError)
  })

  it('takes no keys over an unencrypted connection', async () => {
    const { jwt_public: token } = await verify()
    await expect(check(token, { jwksUrl: 'http://countersign.example.com/jwks.json' })).rejects.toThrow(
      /must be https/,
    )
  })
})

describe('the keys of an issuer', () => {
  const fake = new FakeCountersign()
  let server: Server
  let jwksUrl: string
  let reads: number
  let status: number
  let held: Promise<void> | undefined
  /** Leaves every request without an answer until the returned function is called. */
  const hold = () => {
    let release = () => {}
    held = new Promise((resolve) => {
      release = resolve
    })
    return release
  }
  const signed = () => fake.signPublicVerdict({ userId: 'ada+match', action: ACTION })
  const judge = async (token: string) =>
    codeOf(
      verifyVerdict(token, {
        ...EXPECTED,
        audience: fake.tenantId,
        jwksUrl,
        replayStore: new MemoryReplayStore(),
        now: () => fake.clock.now() / 1000,
      }),
    )

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    reads = 0
    status = 200
    held = undefined
    server = createServer(async (_request, response) => {
      reads++
      await held
      const document = await fake.fetch(`${fake.baseUrl}/.well-known/jwks.json`)
      response.writeHead(status).end(await document.text())
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    jwksUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`
  })
  afterEach(() => {
    vi.useRealTimers()
    server.close()
  })

  it('are read once for many verdicts', async () => {
    for (let i = 0; i < 3; i++) expect(await judge(await signed())).toBeNull()
    expect(reads).toBe(1)
  })

  it('are read again for an unknown key, at most every 30 seconds', async () => {
    expect(await judge(await signed())).toBeNull()
    fake.replaceVerdictKey()
    expect(await judge(await signed())).toBe('signature_invalid')
    expect(reads).toBe(1)
    vi.setSystemTime(Date.now() + 30_000)
    expect(await judge(await signed())).toBeNull()
    expect(reads).toBe(2)
  })

  it('are refused ten minutes after they were removed, at the latest', async () => {
    const old = await signed()
    expect(await judge(old)).toBeNull()
    fake.replaceVerdictKey()
    expect(await judge(old)).toBeNull()
    vi.setSystemTime(Date.now() + 600_000)
    expect(await judge(old)).toBe('signature_invalid')
  })

  it('make no verdict malformed where they cannot be read', async () => {
    status = 503
    expect(await judge(await signed())).toBe('keys_unavailable')
    server.close()
    vi.setSystemTime(Date.now() + 5_000)
    expect(await judge(await signed())).toBe('keys_unavailable')
  })

  it('count through an outage of a day, in which the address is asked at most every 30 seconds', async () => {
    const known = await signed()
    expect(await judge(known)).toBeNull()
    status = 503
    vi.setSystemTime(Date.now() + 600_000)
    for (let i = 0; i < 3; i++) expect(await judge(known)).toBeNull()
    fake.replaceVerdictKey()
    expect(await judge(await signed())).toBe('keys_unavailable')
    expect(reads).toBe(2)
    vi.setSystemTime(Date.now() + 86_400_000)
    expect(await judge(known)).toBe('keys_unavailable')
  })

  it('are read by one caller, and who names a known key does not wait for it', async () => {
    const known = await signed()
    expect(await judge(known)).toBeNull()
    fake.replaceVerdictKey()
    vi.setSystemTime(Date.now() + 600_000)
    const asked = new Promise<void>((resolve) => server.prependOnceListener('request', () => resolve()))
    const release = hold()
    const unknown = [await signed(), await signed()].map(judge)
    await asked
    expect(await judge(known)).toBeNull()
    release()
    expect(await Promise.all(unknown)).toEqual([null, null])
    expect(reads).toBe(2)
  })
})
