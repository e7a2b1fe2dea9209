/** Runs the same capture session against the real service and the in-memory one, and compares the results. */
import { afterAll, describe, expect, it } from 'vitest'
import {
  ApiError,
  type Countersign,
  type CountersignOptions,
  MemoryReplayStore,
} from '../../clients/node/index.js'
import { FakeCountersign } from '../../clients/node/testing.js'
import { SANDBOX_EFFECTS } from '../../src/verification/sandbox/sandbox-outcomes.js'
import { expectCode } from '../support/answers.js'
import { allowReturn, proofIn, RETURN_ORIGIN, Visitor } from '../support/capture-page.js'
import { base64 } from '../support/faces.js'
import { shape } from '../support/fake-comparison.js'
import { plain } from '../support/images.js'
import { sandboxSdk } from '../support/sdk.js'
import { serviceOfFile, WITH_PATIENT_PAGE } from '../support/service.js'
import { startProxy } from './proxy.js'

const running = await serviceOfFile(WITH_PATIENT_PAGE)
const tenant = await running.tenant()
await allowReturn(running, tenant)
const blank = base64(await plain())
const proxy = await startProxy(running.service.url('sandbox'))
afterAll(() => proxy.stop())

const payee = { name: 'Grace', account: 'DE89370400440532013000' }
const action = { type: 'payment', amount: '1250.00', currency: 'EUR', payee }
const return_url = `${RETURN_ORIGIN}/transfers/7`

function sandbox(options: Partial<CountersignOptions> = {}): Countersign {
  return sandboxSdk(running, tenant, { maxRetries: 0, replayStore: new MemoryReplayStore(), ...options })
}

/** A person's steps on the page. */
interface Person {
  open(): Promise<unknown>
  code(text: string): Promise<string>
  capture(): Promise<string>
  cancel(): Promise<string>
  /** The proof that the browser brings back, once the page is over. */
  proof(): string | null
}

function realPerson(url: string): Person {
  const visitor = new Visitor(url)
  let address = return_url
  return {
    open: () => visitor.open(),
    code: async (text) => {
      await visitor.open()
      return (await visitor.type(text)).body.state
    },
    async capture() {
      await visitor.enter()
      const { body } = await visitor.capture(blank)
      address = body.return_url ?? address
      return body.state
    },
    async cancel() {
      await visitor.open()
      return (await visitor.post('cancel')).body.state
    },
    proof: () => proofIn(address),
  }
}

function fakePerson({ capturePage }: FakeCountersign, sessionId: string): Person {
  return {
    open: async () => capturePage.open(sessionId),
    code: async (text) => capturePage.typeCode(sessionId, text),
    capture: async () => capturePage.capture(sessionId),
    cancel: async () => capturePage.cancel(sessionId),
    proof: () => proofIn(capturePage.returnUrl(sessionId)),
  }
}

type Story = (
  client: Countersign,
  personAt: (link: { session_id: string; url: string }) => Person,
) => Promise<unknown[]>

/** The same story with the real service and with the one in memory. */
async function both(story: Story): Promise<[real: unknown, fake: unknown]> {
  const fake = new FakeCountersign()
  const moving = setInterval(() => fake.clock.advance(5_000), 20)
  try {
    return [
      await story(sandbox(), ({ url }) => realPerson(url)),
      await story(fake.client(), ({ session_id }) => fakePerson(fake, session_id)),
    ]
  } finally {
    clearInterval(moving)
  }
}

/** A link for a person whom the sandbox approves. */
const linkOf = (client: Countersign) =>
  client.createCaptureSession({ user_id: 'ada+match', action, return_url })

const refusal = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    (error: unknown) => {
      if (!(error instanceof ApiError)) throw error
      const { code, category, httpStatus: status, details } = error
      return { code, category, status, details }
    },
  )

describe('the service in memory', () => {
  it.each([...Object.keys(SANDBOX_EFFECTS), ' without an outcome'])(
    'answers sessions of a user %s as the sandbox does',
    async (suffix) => {
      const [real, fake] = await both(async (client, personAt) => {
        const user_id = `visitor${suffix}`
        const told: unknown[] = []
        for (const purpose of ['verify', 'enroll'] as const) {
          const fields = { user_id, purpose, return_url, ...(purpose === 'verify' ? { action } : {}) }
          const asked = client.createCaptureSession({ ...fields, confirmation: 'none' })
          told.push(await refusal(asked))
          const link = await asked.catch(() => null)
          if (!link) continue
          const person = personAt(link)
          const look = async () => told.push(shape(await client.getCaptureSession(link.session_id)))
          told.push(shape(link))
          await look()
          await person.open()
          await look()
          let state = 'again'
          for (let each = 0; each < 3 && state === 'again'; each++) {
            state = await person.capture()
            told.push(state)
            await look()
          }
          if (state !== 'over') continue
          const proof = person.proof()
          told.push(proof === null, shape(await client.getCaptureSession(link.session_id, { proof })))
          told.push(await refusal(client.getCaptureSession(link.session_id, { proof: 'another' })))
        }
        return told
      })
      expect(fake).toEqual(real)
    },
  )

  it('asks for the code of an enrolment, and ends with the fifth wrong one', async () => {
    const [real, fake] = await both(async (client, personAt) => {
      const told: unknown[] = []
      const link = await client.createCaptureSession({ user_id: 'coded', purpose: 'enroll', return_url })
      const right = link.confirmation_code!
      const wrong = right === '000000' ? '111111' : '000000'
      const person = personAt(link)
      told.push(
        shape(link),
        await person.code(wrong),
        await person.code(`${right.slice(0, 3)} ${right.slice(3)}`),
      )
      told.push(await person.capture())
      told.push(shape(await client.getCaptureSession(link.session_id)))
      const other = await client.createCaptureSession({ user_id: 'coded-2', purpose: 'enroll', return_url })
      const guess = other.confirmation_code === '000000' ? '111111' : '000000'
      const guesser = personAt(other)
      for (let each = 0; each < 5; each++) told.push(await guesser.code(guess))
      told.push(shape(await client.getCaptureSession(other.session_id)))
      return told
    })
    expect(fake).toEqual(real)
    expect(real).toContain('over')
  })

  it('refuses the same sessions, and knows the same cancelled and forgotten ones', async () => {
    const [real, fake] = await both(async (client, personAt) => {
      const told: unknown[] = []
      const user_id = 'someone+match'
      const base = { user_id, action, return_url }
      for (const fields of [
        { return_url: 'http://bank.example/' },
        { return_url: 'https://ada@bank.example/' },
        { description: 'Pay \u202eYCARG' },
        { consent: { id: '1\u200b', text: 'I agree' } },
        { require_liveness: 'passive' as const },
        { require_liveness: 'active' as const, modes: [] },
        { purpose: 'enroll' as const },
        { locale: 'it' as 'en' },
        { returnUrl: return_url },
      ])
        told.push(await refusal(client.createCaptureSession({ ...base, ...fields })))
      told.push(await refusal(client.createCaptureSession({ ...base, user_id: 'nobody' })))
      told.push(await refusal(client.getCaptureSession('cap_0')))
      const verify = { user_id, action, image: blank, nonce: `cap_${'0'.repeat(32)}` }
      told.push(await refusal(client.verify(verify)))
      const cancelled = await client.createCaptureSession(base)
      told.push(
        await personAt(cancelled).cancel(),
        shape(await client.getCaptureSession(cancelled.session_id)),
      )
      await client.enroll({ user_id: 'erased', image: blank })
      const forgotten = await client.createCaptureSession({ ...base, user_id: 'erased' })
      told.push(
        await refusal(client.createCaptureSession({ user_id: 'erased', purpose: 'enroll', return_url })),
      )
      await client.delete('erased')
      told.push(await refusal(client.getCaptureSession(forgotten.session_id)))
      return told
    })
    expect(fake).toEqual(real)
  })

  it('lets a session expire by the clock, and then forgets it', async () => {
    const fake = new FakeCountersign()
    const client = fake.client()
    const { session_id } = await client.createCaptureSession({ user_id: 'u+match', action, return_url })
    fake.clock.advance(900_000)
    expect((await client.getCaptureSession(session_id)).status).toBe('expired')
    expect(() => fake.capturePage.open(session_id)).toThrow('is expired')
    fake.clock.advance(3_600_000)
    await expectCode(client.getCaptureSession(session_id), 'capture_session_not_found')
  })

  it('refuses a return_url of another origin, and a key without the scope', async () => {
    const fake = new FakeCountersign({ returnOrigins: ['https://app.example'], scopes: ['verify'] })
    const client = fake.client()
    const base = { user_id: 'u+match', action }
    await expectCode(client.createCaptureSession({ ...base, return_url }), 'return_url_not_allowed')
    await client.createCaptureSession({ ...base, return_url: 'https://app.example/x' })
    await expect(
      client.createCaptureSession({ user_id: 'u', purpose: 'enroll', return_url: 'https://app.example/x' }),
    ).rejects.toMatchObject({ code: 'insufficient_scope' })
  })
})

describe('a capture session', () => {
  it('does not stand for another session of the same user and action that this person was sent to', async () => {
    const client = sandbox()
    const approved = async () => {
      const { session_id, url } = await linkOf(client)
      const person = realPerson(url)
      expect(await person.capture()).toBe('over')
      return client.getCaptureSession(session_id, { proof: person.proof() })
    }
    const [kept, other] = [await approved(), await approved()]
    const expected = { userId: 'ada+match', action, captureSessionId: kept.session_id }
    for (const given of [other, { ...other, session_id: kept.session_id }])
      await expectCode(client.verifyVerdict(given, expected), 'wrong_capture_session')
    await client.verifyVerdict(kept, expected)
  })

  it('is refused as a verdict without the id that was kept, and with both the id and a nonce', async () => {
    const client = sandbox()
    const { session_id } = await linkOf(client)
    const session = await client.getCaptureSession(session_id)
    const expected = { userId: 'ada+match', action }
    await expect(client.verifyVerdict(session, expected)).rejects.toThrow('captureSessionId is required')
    await expect(
      client.verifyVerdict(session, { ...expected, captureSessionId: session_id, nonce: 'n' }),
    ).rejects.toThrow('give one of them')
  })

  it('has an error that names its state where it has no verdict', async () => {
    const client = sandbox()
    const verdictOf = async (user_id: string, play: (person: Person) => Promise<unknown>, fields = {}) => {
      // The result of a try is seen only without a proof.
      const asked = { user_id, action, return_url, browser: 'any' as const, ...fields }
      const { session_id, url } = await client.createCaptureSession(asked)
      const person = realPerson(url)
      await play(person)
      const session = await client.getCaptureSession(session_id, { proof: person.proof() })
      return client
        .verifyVerdict(session, { userId: user_id, action, captureSessionId: session_id })
        .catch(({ code, message, reason }) => `${code} ${reason ?? ''}: ${message}`)
    }
    expect(await verdictOf('a+match', async () => {})).toBe(
      'no_verdict : The capture session has no verdict: it is open, and no capture was judged. Let the person begin again.',
    )
    expect(await verdictOf('a+match', (person) => person.cancel())).toContain('it is cancelled')
    expect(await verdictOf('a+no_match', (person) => person.capture())).toContain('not_approved no_match')
    const enrolment = { purpose: 'enroll', action: undefined, confirmation: 'none' }
    expect(await verdictOf('newcomer', (person) => person.capture(), enrolment)).toContain('and it enrolled')
    expect(await verdictOf('newcomer+flat', (person) => person.capture(), enrolment)).toContain(
      'liveness_failed',
    )
  })

  it('is created once, even where the answer is lost on the way', async () => {
    const client = sandbox({ baseUrl: proxy.url, maxRetries: 2 })
    let lost = 1
    proxy.mischief = async (_request, forward) => {
      const answer = await forward()
      return lost-- > 0 ? { status: 502, headers: {}, body: 'bad gateway' } : answer
    }
    const link = await linkOf(client)
    proxy.mischief = (_request, forward) => forward()
    expect([link.response.attempts, link.response.replayed]).toEqual([2, true])
    const [first, second] = proxy.requests.map(({ headers }) => headers['x-svc-idempotency-key'])
    expect(first).toBe(second)
  })

  it('is not accepted as an answer under another id than the one asked for, nor under an invalid id', async () => {
    const client = sandbox()
    const [one, other] = [await linkOf(client), await linkOf(client)]
    const swapped = sandbox({
      verifyResponses: false,
      fetch: (input, init) => fetch(String(input).replace(one.session_id, other.session_id), init),
    })
    await expectCode(swapped.getCaptureSession(one.session_id), 'response_mismatch')
    for (const id of ['', '..', 'a/b', 'cap_1?x', 'foo', 'ver_1'])
      await expect(client.getCaptureSession(id)).rejects.toThrow(TypeError)
  })
})
