/** A capture that is handed over to a phone: the first device gets the result only with the number that the phone shows. */
import { beforeEach, describe, expect, it } from 'vitest'
import { CaptureSessionBook } from '../../../src/features/capture-sessions/capture-session-book.js'
import { allowReturn, lookAt, newPerson, newSession, proofIn, Visitor } from '../../support/capture-page.js'
import { photoOf } from '../../support/faces.js'
import { blank } from '../../support/images.js'
import { OpenIdApplication } from '../../support/openid-application.js'
import { OpenIdBrowser } from '../../support/openid-browser.js'
import { serviceOfFile, type TestTenant, WITH_OPENID } from '../../support/service.js'

let tenant: TestTenant

const running = await serviceOfFile(WITH_OPENID)
beforeEach(async () => {
  tenant = await running.tenant()
  await allowReturn(running, tenant)
})

/** A session whose first device has agreed and handed over to a phone. */
async function handedOver(fields: Record<string, unknown> = {}, client = tenant.sandbox) {
  const { id, visitor: desk } = await newSession(client, { browser: 'same', locale: 'en', ...fields })
  await desk.enter()
  const phone = await desk.handOver()
  return { id, desk, phone, look: (proof?: string) => lookAt(client, id, proof) }
}
/** The same, and the phone has captured. */
async function captured(fields: Record<string, unknown> = {}) {
  const session = await handedOver(fields)
  await session.phone.agree()
  const { body } = await session.phone.capture(blank)
  return { ...session, over: body, number: (await session.phone.number())! }
}
const wrong = (number: string) => String((Number(number) + 1) % 1_000_000).padStart(6, '0')

describe('a session for the same browser that a phone has captured', () => {
  it('goes on at the first device with the number that only the phone shows', async () => {
    const { desk, phone, look, over, number } = await captured()
    expect(over).toEqual({ state: 'over', return_url: null, number: true })
    expect(number).toMatch(/^\d{6}$/)
    // The first device learns that a number is awaited. It gets neither the number nor a proof.
    expect((await desk.status()).body).toEqual({ state: 'number' })
    const { text } = await desk.open()
    expect(text).toContain('data-needs-number')
    expect([text.includes(number), text.includes('capture_proof')]).toEqual([false, false])
    expect(await look()).toMatchObject({ status: 'in_progress', result: null, result_withheld: null })
    const { body } = await desk.post('number', { code: ` ${number.slice(0, 3)}-${number.slice(3)}` })
    expect(body.state).toBe('over')
    const proof = proofIn(body.return_url)!
    expect((await look()).result_withheld).toBe('proof_required')
    expect((await look(proof)).result.body.verdict).toBe('approved')
    // A page that is loaded again shows the same address, and the phone never one.
    expect((await desk.status()).body).toEqual(body)
    expect((await phone.status()).body).toEqual({ state: 'over', return_url: null })
    expect((await phone.open()).text).not.toContain('capture_proof')
  })

  it('takes the number at the first device only', async () => {
    const { phone, desk, number } = await captured()
    for (const visitor of [phone, new Visitor(phone.url), new Visitor(desk.url)])
      expect((await visitor.post('number', { code: number })).status).not.toBe(200)
    expect((await desk.status()).body).toEqual({ state: 'number' })
    expect((await desk.post('number', { code: number })).body.state).toBe('over')
  })

  it('is cancelled by the third wrong number, also when they arrive together, and then takes no right one', async () => {
    const { desk, phone, look, number } = await captured()
    const first = await desk.post('number', { code: wrong(number) })
    expect(first.body).toMatchObject({ state: 'number', message: expect.stringContaining('three wrong') })
    const rest = await Promise.all([1, 2, 3].map(() => desk.post('number', { code: wrong(number) })))
    expect(rest.filter(({ body }) => body.state === 'number')).toHaveLength(1)
    const { body } = await desk.post('number', { code: number })
    expect([body.state, body.ending, proofIn(body.return_url)]).toEqual(['over', 'number', null])
    expect(await look()).toMatchObject({ status: 'cancelled', result: null, result_withheld: null })
    for (const visitor of [desk, phone]) expect((await visitor.open()).text).toContain('wrong three times')
  })

  it('takes no further capture, agreement or hand-over, and can be given up', async () => {
    const { desk, phone, look, number } = await captured()
    for (const step of ['consent', 'challenge', 'frames', 'phone'])
      expect([(await desk.post(step)).body, (await phone.post(step)).body.number]).toEqual([
        { state: 'number' },
        true,
      ])
    expect(await phone.number()).toBe(number)
    expect((await desk.post('cancel')).body.state).toBe('over')
    expect(await look()).toMatchObject({ status: 'cancelled', result: null })
    expect((await desk.post('number', { code: number })).body.return_url).not.toContain('capture_proof')
  })

  it('is over at once after captures that failed, which bring the first device nothing', async () => {
    const { desk, phone, look } = await handedOver({ user_id: newPerson('+no_match') })
    await phone.agree()
    for (let each = 0; each < 2; each++) await phone.capture(blank)
    expect((await phone.capture(blank)).body).toMatchObject({ return_url: null, ending: 'refused' })
    const { body } = await desk.status()
    expect(body.ending).toBe('refused')
    expect((await look(proofIn(body.return_url)!)).result.body.verdict).toBe('rejected')
  })
})

it('a session for any browser is over without a number', async () => {
  const { desk, look, over, number } = await captured({ browser: 'any' })
  expect([over, number]).toEqual([{ state: 'over', return_url: null }, undefined])
  expect((await desk.status()).body.state).toBe('over')
  expect((await look()).result.body.verdict).toBe('approved')
})

describe('consent', () => {
  it('is asked for at each device that captures: the one of the first device is not that of the phone', async () => {
    const { desk, phone } = await handedOver()
    expect((await phone.open()).text).toContain('data-consented="false"')
    expect((await phone.challenge()).status).toBe(409)
    await phone.agree()
    expect((await phone.challenge()).body.state).toBe('challenge')
    expect((await desk.challenge()).status).toBe(409)
  })
})

it('the audit log of production names the device at which the person agreed, and has an entry for wrong numbers', async () => {
  const production = await running.production(tenant)
  const consent = { id: 'c', agreed_at: new Date(running.clock.now()).toISOString() }
  const image = await photoOf('ada')
  expect((await production.enroll({ user_id: 'ada', image, consent })).status).toBe(201)
  const { id, desk, phone } = await handedOver({ user_id: 'ada' }, production)
  await phone.agree()
  // No photo passes a challenge in production, so the number is drawn as after a capture.
  const { store } = running.service.core
  const captureSessions = new CaptureSessionBook(running.clock, 900_000)
  await store.transaction({ tenantId: tenant.id }, async (tx) => {
    const session = (await captureSessions.find(tx, phone.url.split('/').at(-1)!))!
    captureSessions.drawNumber(session, null)
    await captureSessions.put(tx, session)
  })
  const code = wrong((await phone.number())!)
  for (let each = 0; each < 3; each++) await desk.post('number', { code })
  expect(await tenant.audit('capture_consented')).toMatchObject([{ side: 'page' }, { side: 'phone' }])
  expect(await tenant.audit('capture_number_failed')).toMatchObject([
    { capture_session: id, purpose: 'verify' },
  ])
})

describe('an application of the OpenID provider', () => {
  it('keeps the capture on one device, unless it is registered with hand-over by number', async () => {
    const offered = async (settings: object) => {
      const application = await OpenIdApplication.register(running, tenant, settings)
      const browser = new OpenIdBrowser(running.service.origin('openid')!)
      const { left } = await browser.open(await application.ask('ada+match'))
      const desk = new Visitor(left!.href)
      const { text } = await desk.open()
      return { application, browser, desk, isOffered: text.includes('id="hand-over"') }
    }
    const off = await offered({})
    expect([off.isOffered, (await off.desk.post('phone')).status]).toEqual([false, 409])
    const { isOffered, desk, browser } = await offered({ handOver: 'number' })
    expect(isOffered).toBe(true)
    const phone = await desk.handOver()
    await phone.agree()
    await phone.capture(blank)
    // Until the number is typed, the sign-in waits at the capture page.
    expect((await browser.open(`${browser.interaction}/done`)).left?.href).toBe(desk.url)
    const { body } = await desk.post('number', { code: await phone.number() })
    expect((await browser.open(body.return_url)).left!.searchParams.get('code')).toBeTruthy()
  })

  it('cannot be one of Entra ID with hand-over', async () => {
    const entra = { tenantId: 'a', appId: 'b', cloud: 'global' } as never
    await expect(OpenIdApplication.register(running, tenant, { handOver: 'number', entra })).rejects.toThrow()
  })
})
