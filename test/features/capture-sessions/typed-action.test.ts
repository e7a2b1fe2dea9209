/** A typed action on the hosted page: the page has exactly its text, and the verdict names that text. */
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { paymentBatch } from '../../../clients/node/make-action.js'
import { canonicalDisplay, displayAction } from '../../../src/contract/actions/display-action.js'
import { DISPLAY_LOCALES } from '../../../src/contract/locales.js'
import { actionHtml } from '../../../src/features/capture-sessions/page/shown-action.js'
import { expectRefusal } from '../../support/answers.js'
import { allowReturn, lookAt, newSession } from '../../support/capture-page.js'
import { takes } from '../../support/challenges.js'
import type { ApiClient } from '../../support/client.js'
import { base64, face } from '../../support/faces.js'
import { blank } from '../../support/images.js'
import { check } from '../../support/properties.js'
import { serviceOfFile, WITH_PATIENT_PAGE } from '../../support/service.js'
import { decodeJwt } from '../../support/trust.js'
import { payments } from '../../support/typed-actions.js'

const running = await serviceOfFile(WITH_PATIENT_PAGE)
const tenant = await running.tenant()
await allowReturn(running, tenant, { company: 'Bank of Ada' })
const production: ApiClient = await running.production(tenant)

const payee = { name: 'دار الكتب', account: 'DE89370400440532013000' }
const payment = { type: 'payment', amount: '1250.00', currency: 'EUR', payee }
const hashOf = (action: unknown, locale: (typeof DISPLAY_LOCALES)[number], payees?: string) =>
  createHash('sha256')
    .update(canonicalDisplay(displayAction(action, locale, payees)!))
    .digest('hex')

/** The texts of the elements of a page that hold text, in their order. */
function textsOf(html: string): string[] {
  const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
  return html
    .split(/<[^>]*>/)
    .map((text) => text.replace(/&(amp|lt|gt|quot|#39);/g, (_match, name: string) => entities[name]!))
    .filter((text) => text !== '' && text !== '\n')
}

/** The part of a page that shows the typed action. */
const actionIn = (html: string) => /<section class="action"[\s\S]*?<\/section>/.exec(html)?.[0]

describe('the HTML of a typed action', () => {
  it('has exactly the lines of the text, in their order, in each language', () => {
    check(
      fc.property(payments, fc.constantFrom(...DISPLAY_LOCALES), (action, locale) => {
        const display = displayAction(action, locale)!
        const lines = display.lines.flatMap(({ label, value, note }) => [
          label,
          value,
          ...(note ? [note] : []),
        ])
        expect(textsOf(actionHtml(display))).toEqual([display.heading, ...lines])
      }),
    )
  })

  it('isolates every text that the action brings, so that its direction moves nothing', () => {
    const html = actionHtml(
      displayAction({ type: 'generic', title: 'א', fields: [{ label: 'ב', value: '<i>ג' }] }, 'en')!,
    )
    expect(html).toContain('<dt><bdi>ב</bdi></dt><dd><bdi>&lt;i&gt;ג</bdi></dd>')
    expect(html.replace(/<bdi>[^<]*<\/bdi>/g, '')).not.toMatch(/[א-ת]/)
  })
})

describe('a session for a typed action', () => {
  const session = (fields: Record<string, unknown>, client = tenant.sandbox) => newSession(client, fields)
  const resultOf = async (id: string, client = tenant.sandbox) => (await lookAt(client, id)).result.body

  /** Looks a verification up, and returns the facts about the text that the person was shown. */
  async function lookUp(
    { verification_id, user_id }: { verification_id: string; user_id: string },
    display_hash: string,
    client = tenant.sandbox,
  ) {
    const query = new URLSearchParams({ user_id, display_hash })
    const { body } = await client.call('GET', `/v1/verifications/${verification_id}?${query}`)
    return [body.display_locale, body.display_version, body.display_matches]
  }

  it.each(DISPLAY_LOCALES)('shows it in the language %s, and the verdict names that text', async (locale) => {
    const { id, visitor } = await session({ action: payment, locale })
    const { text } = await visitor.open()
    const { heading, lines } = displayAction(payment, locale)!
    expect(textsOf(actionIn(text)!)).toEqual([
      heading,
      ...lines.flatMap(({ label, value }) => [label, value]),
    ])
    await visitor.agree()
    expect((await visitor.capture(blank)).body).toMatchObject({ state: 'over' })
    const shown = { hash: hashOf(payment, locale), locale, version: 'countersign-display-2' }
    const body = await resultOf(id)
    expect([body.verdict, body.display]).toEqual(['approved', { ...shown, source: null }])
    expect(await lookUp(body, shown.hash)).toEqual([locale, shown.version, true])
    expect(await lookUp(body, hashOf({ ...payment, amount: '1250.01' }, locale))).toContain(false)
    expect(decodeJwt(body.jwt, tenant.secret.secret).claims).toMatchObject({
      action: payment,
      display_hash: shown.hash,
      display_locale: locale,
      display_version: shown.version,
    })
  })

  it('is shown in the language of the browser where the session names none', async () => {
    const { visitor } = await session({ action: payment })
    const { text } = await visitor.open({ 'Accept-Language': 'fr-CH, en' })
    expect(textsOf(actionIn(text)!)[0]).toBe('Paiement')
  })

  it('stands above the description, which the page calls a note of the company', async () => {
    const description = 'Amount 1.00 EUR'
    const { visitor } = await session({ action: payment, description })
    const { text } = await visitor.open()
    const note =
      '<p class="company-note"><span class="asks">Note from <bdi>Bank of Ada</bdi>:</span> <bdi>Amount 1.00 EUR</bdi></p>'
    expect(text).toContain(note)
    expect(text.indexOf(note)).toBeGreaterThan(text.indexOf(actionIn(text)!))
    expect(text.indexOf(description)).toBeGreaterThan(text.indexOf(actionIn(text)!))
  })

  it('lists every payee of a batch', async () => {
    const list = Array.from({ length: 1000 }, (_, index) => ({
      ...payee,
      name: `Payee no. ${index}`,
      amount: `${index}.01`,
    }))
    const { action, payees } = await paymentBatch({ currency: 'EUR', payees: list })
    const { id, visitor } = await session({ action, payees })
    const { text } = await visitor.open()
    const { lines } = displayAction(action, 'en', payees)!
    expect(textsOf(actionIn(text)!).slice(1)).toEqual(lines.flatMap(({ label, value }) => [label, value]))
    expect(lines).toHaveLength(2 + 3 * 1000)
    await visitor.agree()
    await visitor.capture(blank)
    const { jwt } = await resultOf(id)
    expect(decodeJwt(jwt, tenant.secret.secret).claims).toMatchObject({
      action,
      display_hash: hashOf(action, 'en', payees),
    })
    expect(jwt.length).toBeLessThan(2500)
  })

  it('begins no capture on a page that shows another text or none', async () => {
    const { visitor } = await session({ action: payment })
    await visitor.enter()
    for (const shown of [{}, { display: '0'.repeat(64) }, { display: hashOf(payment, 'de') }]) {
      await expectRefusal(visitor.post('challenge', shown), 409, 'display_changed')
    }
    expect((await visitor.challenge()).body.state).toBe('challenge')
  })

  it('says nothing of it before the code of the link is typed, not even its hash', async () => {
    const { visitor, asked } = await session({ action: payment, confirmation: 'code' })
    const before = (await visitor.open()).text
    expect(before).not.toContain(payee.account)
    expect(before).not.toContain('data-display')
    await visitor.type(asked.confirmation_code)
    expect((await visitor.open()).text).toContain(payee.account)
  })

  it('has no such claims for an untyped action, and none for a verify of photos', async () => {
    const { id, visitor } = await session({ action: { type: 'wire_transfer' }, description: 'A transfer' })
    expect(actionIn((await visitor.open()).text)).toBeUndefined()
    await visitor.agree()
    await visitor.capture(blank)
    const onPage = await resultOf(id)
    const { body: withPhoto } = await tenant.sandbox.verify({
      user_id: 'photo+match',
      image: blank,
      action: payment,
    })
    for (const { display, jwt } of [onPage, withPhoto]) {
      expect(display).toBeNull()
      expect(
        Object.keys(decodeJwt(jwt, tenant.secret.secret).claims).filter((claim) =>
          claim.startsWith('display'),
        ),
      ).toEqual([])
    }
  })

  it('leaves language and version in the audit log of production, and a digest that says nothing of the text', async () => {
    const user_id = 'typed-production'
    const ada = await face('ada')
    await production.enroll({ user_id, image: base64(ada) })
    const { id, visitor } = await session({ user_id, action: payment, modes: [], locale: 'ja' }, production)
    await visitor.enter()
    await visitor.capture(await takes(ada))
    const { verification_id } = await resultOf(id, production)
    const looked = await lookUp({ verification_id, user_id }, hashOf(payment, 'ja'), production)
    expect(looked).toEqual(['ja', 'countersign-display-2', true])
    const entries = await tenant.audit()
    const entry = entries.find((one) => one.verification_id === verification_id)
    expect(entry).toMatchObject({
      capture_session: id,
      display_locale: 'ja',
      display_version: 'countersign-display-2',
    })
    expect(entry.display_hash).toMatch(/^[0-9a-f]{64}$/)
    expect([entry.action_hash, hashOf(payment, 'ja')]).not.toContain(entry.display_hash)
  })
})
