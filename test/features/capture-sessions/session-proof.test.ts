/** Tests of the rules of a capture session: which link and browser it belongs to, when it gets a proof, and who gets its result. */
import { beforeEach, describe, expect, it } from 'vitest'
import {
  CaptureSessionBook,
  endingOf,
  hasAgreed,
  isProvenBy,
} from '../../../src/features/capture-sessions/capture-session-book.js'
import type { CaptureSessionRecord } from '../../../src/features/capture-sessions/capture-tables.js'
import { getCaptureSession } from '../../../src/features/capture-sessions/get-capture-session.js'
import {
  returnUrlOf,
  SessionChanges,
  stateOf,
} from '../../../src/features/capture-sessions/page/session-changes.js'
import { ManualClock } from '../../../src/lib/clock.js'
import { expectCode } from '../../support/answers.js'

const AT = Date.UTC(2026, 5, 1)
const TTL_MS = 900_000
const RETURN_URL = 'https://bank.example/back?order=1'

let clock: ManualClock
let book: CaptureSessionBook
let rows: Map<string, CaptureSessionRecord>
let reported: unknown[]
let audited: unknown[]
const statements = {
  one: async (id: string) => rows.get(id) && { ...rows.get(id)! },
  put: async (record: CaptureSessionRecord) => void rows.set(record.id, { ...record }),
}
const tx = { statements: () => statements } as never

beforeEach(() => {
  clock = new ManualClock(AT)
  book = new CaptureSessionBook(clock, TTL_MS)
  rows = new Map()
  reported = []
  audited = []
})

const changes = () =>
  new SessionChanges({
    store: { read: tx, transaction: (_scope: unknown, work: (tx: never) => unknown) => work(tx) },
    ...{ clock, captureSessions: book },
    audit: { append: async (_tx: unknown, _tenant: string, entry: unknown) => void audited.push(entry) },
    captureEvents: { reportEnd: async (...event: unknown[]) => void reported.push(event.slice(1)) },
  } as never)

async function issued(binding: 'same' | 'any' = 'same', asksForCode = false) {
  const caller = {
    ...{ tenantId: 'ten_a', environment: 'production' as const, keyId: 'key_a' },
    ...{ blindIndex: Buffer.alloc(32), purpose: 'verify' as const, binding },
  }
  const request = { userId: 'ada', returnUrl: RETURN_URL }
  return book.issue(tx, caller, request, { asksForCode })
}
const found = async (token: string) => (await book.find(tx, token))!
const complete = (token: string, fields: Partial<CaptureSessionRecord> = {}) =>
  changes().change(token, async ({ record }) => {
    Object.assign(record, { status: 'completed', answered: 'chl_1', ...fields })
    return { result: { status: 200 } as never, facts: { event: 'capture_consented' } }
  })
const returned = (state: object) =>
  new URL((state as { return_url: string }).return_url).searchParams.get('capture_proof')

describe('the link of a session', () => {
  it('opens its session, and no other text does', async () => {
    const [one, other] = [await issued(), await issued()]
    const session = await found(one.token)
    expect(session).toMatchObject({ side: 'page', record: { id: one.id }, content: { challenges: 0 } })
    expect(session.content.captureRequest).toEqual({ userId: 'ada', returnUrl: RETURN_URL })
    const secret = other.token.split('.')[1]
    for (const token of [
      ...['', one.id, `${one.id}.${secret}`, `${one.token}A`, `A${one.token}`],
      `cap_${'0'.repeat(32)}.${secret}`,
    ])
      expect(await book.find(tx, token)).toBeNull()
    // A link that was moved to another session opens nothing.
    const moved = { ...rows.get(one.id)!, link: rows.get(other.id)!.link }
    const store = { statements: () => ({ one: async () => moved }) } as never
    expect(await book.find(store, `${one.id}.${secret}`)).toBeNull()
    expect(JSON.stringify(rows.get(one.id))).not.toContain(one.token.split('.')[1])
  })

  it('has a code only where one is asked for, and lasts for its time', async () => {
    const [plain, coded] = [await issued(), await issued('same', true)]
    expect([plain.code, coded.code]).toEqual([null, expect.stringMatching(/^\d{6}$/)])
    expect((await found(coded.token)).content.code).toMatchObject({ tries: 0, isConfirmed: false })
    expect((await found(plain.token)).content.code).toBeNull()
    expect(plain.expiresAt).toBe(AT + TTL_MS)
    const { record } = await found(plain.token)
    clock.advance(TTL_MS - 1)
    expect(book.hasExpired(record)).toBe(false)
    clock.advance(1)
    expect(book.hasExpired(record)).toBe(true)
  })

  it('belongs to the browser that opened it', async () => {
    const session = await found((await issued()).token)
    expect(book.isBoundTo(session, undefined)).toBeNull()
    const secret = book.bind(session)
    expect([book.isBoundTo(session, secret), book.isBoundTo(session, undefined)]).toEqual([true, false])
    expect(book.isBoundTo(session, book.bind(await found((await issued()).token)))).toBe(false)
  })

  it('can be handed over to a phone, whose link replaces an earlier one and has a browser of its own', async () => {
    const { token } = await issued()
    const session = await found(token)
    book.bind(session)
    const early = book.handOver(session)
    await book.put(tx, session)
    const phone = await found(early)
    expect(phone).toMatchObject({ side: 'phone', record: { id: session.record.id } })
    expect(book.isBoundTo(phone, undefined)).toBeNull()
    book.bind(phone)
    phone.record.consentedAt = AT
    phone.record.consentVersion = '1'
    phone.content.agreedAt = 'phone'
    const later = book.handOver(phone)
    expect(phone.record).toMatchObject({ phoneBrowser: null, consentedAt: null, consentVersion: null })
    await book.put(tx, phone)
    expect([await book.find(tx, early), (await found(later)).side]).toEqual([null, 'phone'])
    // An agreement at the first device stays.
    Object.assign(session.record, { consentedAt: AT, consentVersion: '1' })
    session.content.agreedAt = 'page'
    book.handOver(session)
    expect(session.record).toMatchObject({ consentedAt: AT, consentVersion: '1' })
  })

  it('has the agreement of the device at which it was given', async () => {
    const session = await found((await issued()).token)
    expect(hasAgreed(session)).toBe(false)
    session.record.consentedAt = AT
    expect([hasAgreed(session), hasAgreed({ ...session, side: 'phone' })]).toEqual([true, false])
    session.content.agreedAt = 'phone'
    expect([hasAgreed(session), hasAgreed({ ...session, side: 'phone' })]).toEqual([false, true])
  })
})

describe('the end of a session', () => {
  it('has a reason', async () => {
    const session = await found((await issued()).token)
    expect(endingOf(session)).toBeUndefined()
    session.content.ending = 'refused'
    expect(endingOf(session)).toBe('refused')
    book.drawNumber(session, null)
    const number = session.content.number!
    expect(number).toMatchObject({ value: expect.stringMatching(/^\d{6}$/), tries: 0, result: null })
    for (const [tries, isConfirmed, ending] of [
      [2, false, 'refused'],
      [3, false, 'number'],
      [3, true, 'refused'],
    ] as const) {
      Object.assign(number, { tries, isConfirmed })
      expect(endingOf(session)).toBe(ending)
    }
    session.record.disownedAt = AT
    expect(endingOf(session)).toBe('disowned')
  })

  it('gives the first device a proof where the session is for the same browser and a capture was answered', async () => {
    const { id, token } = await issued()
    const state = await complete(token)
    const proof = returned(state)!
    expect(state).toMatchObject({
      ...{ state: 'over' },
      return_url: `${RETURN_URL}&capture_session=${id}&capture_proof=${proof}`,
    })
    expect(isProvenBy(rows.get(id)!, proof)).toBe(true)
    expect(isProvenBy(rows.get(id)!, proof.toUpperCase())).toBe(false)
    expect([reported.length, audited.length]).toEqual([1, 1])
    // Nothing changes any more, and the same address is shown again.
    expect(await complete(token, { status: 'cancelled' })).toEqual(state)
    expect([reported.length, audited.length]).toEqual([1, 1])
  })

  it.each<[string, 'same' | 'any', Partial<CaptureSessionRecord>]>([
    ['is for any browser', 'any', {}],
    ['ended without an answer', 'same', { answered: null }],
    ['was given up', 'same', { status: 'cancelled' }],
    ['goes on', 'same', { status: 'open' }],
  ])('has no proof where the session %s', async (_, binding, fields) => {
    const { id, token } = await issued(binding)
    await complete(token, fields)
    const session = await found(token)
    expect([rows.get(id)!.proof, session.content.proof]).toEqual([null, undefined])
    expect(new URL(returnUrlOf(session)).searchParams.has('capture_proof')).toBe(false)
    expect(isProvenBy(session.record, '')).toBe(false)
  })

  it('gives the phone no address', async () => {
    const { token } = await issued()
    const session = await found(token)
    const phone = book.handOver(session)
    await book.put(tx, session)
    expect(await complete(phone)).toEqual({ state: 'over', return_url: null })
    expect(returned(stateOf(await found(token)))).toMatch(/^[\w-]{43}$/)
  })
})

describe('a change of a session', () => {
  const idle = async () => {}
  it('is refused where the session is gone or was reported as expired', async () => {
    const { id, token } = await issued()
    rows.get(id)!.expiryReportedAt = AT
    await expect(changes().change(token, idle)).rejects.toMatchObject({
      ...{ name: 'CaptureFlowError', code: 'conflict', message: 'the session has expired' },
    })
    rows.clear()
    await expect(changes().change(token, idle)).rejects.toThrow('the session is gone')
  })

  it('is refused where the session goes between the look and the transaction', async () => {
    const { token } = await issued()
    const gone = { statements: () => ({ one: async () => undefined }) }
    const store = { read: tx, transaction: (_: unknown, work: (tx: never) => unknown) => work(gone as never) }
    const late = new SessionChanges({ store, clock, captureSessions: book } as never)
    await expect(late.change(token, idle)).rejects.toThrow('the session is gone')
  })

  it('waits for the number where a phone has captured, except for the step that types it', async () => {
    const { token } = await issued()
    const session = await found(token)
    const phone = book.handOver(session)
    book.drawNumber(session, null)
    await book.put(tx, session)
    const work = async ({ record }: { record: CaptureSessionRecord }) => {
      record.attempts = 9
    }
    expect(await changes().change(token, work)).toEqual({ state: 'number' })
    expect(await changes().change(phone, work)).toEqual({ state: 'over', return_url: null, number: true })
    expect((await found(token)).record.attempts).toBe(0)
    await changes().change(token, work, true)
    expect((await found(token)).record.attempts).toBe(9)
  })

  it('leaves the session open, without an entry or an event, where it does not end it', async () => {
    const { token } = await issued()
    expect(await changes().change(token, idle)).toEqual({ state: 'open' })
    expect([reported, audited]).toEqual([[], []])
    const session = await found(token)
    const phone = book.handOver(session)
    book.bind(await found(token))
    await book.put(tx, session)
    const opened = await found(phone)
    book.bind(opened)
    await book.put(tx, opened)
    expect([stateOf(await found(token)), stateOf(await found(phone))]).toEqual([
      { state: 'open', phone: true },
      { state: 'open' },
    ])
  })

  it('names the ending and who has to act next', async () => {
    const { token } = await issued()
    const session = await found(token)
    session.record.status = 'completed'
    Object.assign(session.content, { ending: 'refused', waitsFor: 'second_person' })
    expect(stateOf(session)).toMatchObject({ ending: 'refused', waits_for: 'second_person' })
  })
})

describe('the result of a session', () => {
  const answer = { verdict: 'approved' }
  const asked: unknown[] = []
  const endpoint = () =>
    getCaptureSession({
      store: { read: tx },
      clock,
      idempotency: {
        kept: async (key: unknown) => {
          asked.push(key)
          return { status: 200, body: JSON.stringify(answer) }
        },
      },
    } as never)
  const look = (session_id: string, proof?: string, changes: object = {}) =>
    endpoint().handle({
      ...{ tenant: { id: 'ten_a' }, environment: 'production', scopes: null },
      input: { session_id, ...(proof === undefined ? {} : { proof }) },
      ...changes,
    } as never) as Promise<{ status: number; body: Record<string, unknown> }>
  const code = (code: string) => expect.objectContaining({ code })

  it('needs the proof of this session where it is for the same browser', async () => {
    const { id, token } = await issued()
    const open = { status: 'open', result: null, result_withheld: null, browser: 'same', disowned: false }
    expect((await look(id)).body).toMatchObject({ ...open, session_id: id, attempts: 0, consent: null })
    await expectCode(look(id, 'A'.repeat(43)), 'capture_proof_invalid')
    const proof = returned(await complete(token))!
    const withheld = { status: 'completed', result: null, result_withheld: 'proof_required' }
    expect((await look(id)).body).toMatchObject(withheld)
    const other = returned(await complete((await issued()).token))!
    await expectCode(look(id, other), 'capture_proof_invalid')
    expect((await look(id, proof)).body).toMatchObject({
      ...{ result: { status: 200, body: answer }, result_withheld: null },
    })
    expect(asked.at(-1)).toEqual({
      ...{ tenantId: 'ten_a', environment: 'production', method: 'POST', path: '/v1/verify' },
      key: `capture-session/${id}/chl_1`,
    })
  })

  it('needs no proof where the session is for any browser, and is absent before the end', async () => {
    const { id, token } = await issued('any')
    expect((await look(id, 'A'.repeat(43))).body).toMatchObject({ result: null, result_withheld: null })
    await complete(token)
    expect((await look(id)).body).toMatchObject({ result: { body: answer }, result_withheld: null })
  })

  it('is not withheld where there is none', async () => {
    const { id, token } = await issued()
    await complete(token, { answered: null })
    expect((await look(id)).body).toMatchObject({ status: 'completed', result_withheld: null })
    rows.get(id)!.status = 'cancelled'
    rows.get(id)!.answered = 'chl_1'
    expect((await look(id)).body).toMatchObject({ status: 'cancelled', result_withheld: null })
  })

  it('goes to the tenant and the environment of the session, and to keys for its purpose', async () => {
    const { id } = await issued('any')
    const missing = code('capture_session_not_found')
    await expect(look('cap_none')).rejects.toEqual(missing)
    await expect(look(id, undefined, { tenant: { id: 'ten_b' } })).rejects.toEqual(missing)
    await expect(look(id, undefined, { environment: 'sandbox' })).rejects.toEqual(missing)
    await expectCode(look(id, undefined, { scopes: ['enroll'] }), 'insufficient_scope')
    await expect(look(id, undefined, { scopes: ['verify'] })).resolves.toBeDefined()
  })

  it('names how far the session is', async () => {
    const { id } = await issued('any')
    const record = rows.get(id)!
    record.browser = Buffer.alloc(32)
    expect((await look(id)).body.status).toBe('in_progress')
    Object.assign(record, { consentedAt: AT, consentVersion: '1', disownedAt: AT })
    expect((await look(id)).body).toMatchObject({ consent: { id: '1' }, disowned: true })
    clock.advance(TTL_MS - 1)
    expect((await look(id)).body.status).toBe('in_progress')
    clock.advance(1)
    expect((await look(id)).body.status).toBe('expired')
  })
})
