/** Scenarios of a bank that has transfers confirmed on the hosted capture page, over the sandbox, in every language of the examples. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type CaptureExample, startCaptureExample } from '../support/capture-example.js'
import { allowReturn, Visitor } from '../support/capture-page.js'
import { base64 } from '../support/faces.js'
import { plain } from '../support/images.js'
import { watchAnswers } from '../support/sent-to-browsers.js'
import { startService, type TestService, WITH_PATIENT_PAGE } from '../support/service.js'

/** @param command program and arguments; default: docs/examples/hosted/server.mjs */
export function keepsToTheHostedPage(command?: () => Promise<string[]>): void {
  let running: TestService
  let bank: CaptureExample
  let blank: string

  beforeAll(async () => {
    running = await startService(WITH_PATIENT_PAGE)
    // The example looks at the system's clock.
    running.clock.now = Date.now
    const tenant = await running.tenant()
    const baseUrl = running.service.url('sandbox')
    const program = command ? { command: await command() } : {}
    const apiKey = tenant.sandboxKey
    bank = await startCaptureExample(tenant, { baseUrl, apiKey, example: 'hosted', ...program })
    await allowReturn(running, tenant, { returnOrigins: [bank.address] })
    blank = base64(await plain())
  })
  afterAll(async () => {
    await bank?.stop()
    await running?.stop()
  })

  watchAnswers(() => bank.address)

  /** @param began the cookie of the browser that asked for the transfer */
  const as = (user: string, began = '') => ({
    'Content-Type': 'application/json',
    Cookie: `user=${encodeURIComponent(user)}${began && `; ${began}`}`,
  })

  /** The cookie that the bank gave the browser which asked, by the person on the page. */
  const kept = new Map<Visitor, string>()

  /** Asks for a transfer as this user. @returns the person on the page */
  async function transfer(user: string): Promise<Visitor> {
    const body = JSON.stringify({ amount: '1250.00', to: 'Grace' })
    const response = await fetch(`${bank.address}/transfers`, { method: 'POST', headers: as(user), body })
    expect(response.status).toBe(201)
    const visitor = new Visitor(((await response.json()) as { url: string }).url)
    kept.set(visitor, response.headers.getSetCookie()[0]!.split(';')[0]!)
    await visitor.open()
    await visitor.agree()
    return visitor
  }

  async function back(user: string, address: string, visitor?: Visitor): Promise<[number, object]> {
    const response = await fetch(address, { headers: as(user, visitor && kept.get(visitor)) })
    return [response.status, (await response.json()) as object]
  }

  it('carries a transfer out once, for the person who was sent to the page', async () => {
    const visitor = await transfer('ada+match')
    const { body } = await visitor.capture(blank)
    const nothing = { message: 'Nothing waits to be confirmed.' }
    expect(await back('eve+match', body.return_url, visitor)).toEqual([404, nothing])
    const done = { type: 'transfer', amount: '1250.00', to: 'Grace' }
    expect(await back('ada+match', body.return_url, visitor)).toEqual([
      ...[200, { done, countersigned: expect.stringMatching(/^ver_/) }],
    ])
    expect(await back('ada+match', body.return_url, visitor)).toEqual([404, nothing])
  })

  it('carries nothing out for another sign-in of the same user, to which somebody sent the link', async () => {
    const visitor = await transfer('ada+match')
    const another = await transfer('ada+match')
    const { body } = await visitor.capture(blank)
    for (const elsewhere of [undefined, another])
      expect((await back('ada+match', body.return_url, elsewhere))[0]).toBe(404)
    expect((await back('ada+match', body.return_url, visitor))[0]).toBe(200)
  })

  it('carries nothing out for a browser that did not capture, and still does for the one that did', async () => {
    const visitor = await transfer('ada+match')
    const { body } = await visitor.capture(blank)
    const elsewhere = new URL(body.return_url)
    elsewhere.searchParams.delete('capture_proof')
    expect(await back('ada+match', elsewhere.href, visitor)).toEqual([
      403,
      { message: 'Please go back to the browser in which you confirmed.' },
    ])
    expect((await back('ada+match', body.return_url, visitor))[0]).toBe(200)
  })

  it('says that no more tries are left to a person who is locked out, and offers no other try', async () => {
    const body = JSON.stringify({ amount: '1250.00', to: 'Grace' })
    const asked = { method: 'POST', headers: as('ada+locked_out'), body }
    const response = await fetch(`${bank.address}/transfers`, asked)
    expect([response.status, await response.json()]).toEqual([
      403,
      { message: 'No more tries for now. Please ask for another way.' },
    ])
  })

  it('carries nothing out for a person who is refused, goes back, or has not finished', async () => {
    const refused = await transfer('ada+flat')
    let state = { state: 'again', return_url: '' }
    for (let each = 0; each < 3; each++) state = (await refused.capture(blank)).body
    expect(await back('ada+flat', state.return_url, refused)).toEqual([403, { message: 'Not confirmed.' }])

    const cancelled = await transfer('ada+match')
    const { body } = await cancelled.post('cancel')
    expect(await back('ada+match', body.return_url, cancelled)).toEqual([403, { message: 'Not confirmed.' }])

    const unfinished = await transfer('ada+match')
    const id = /cap_[0-9a-f]{32}/.exec(unfinished.url)![0]
    const early = await back('ada+match', `${bank.address}/confirmed?capture_session=${id}`, unfinished)
    expect(early).toEqual([409, { message: 'This is not confirmed yet.' }])
  })
}
