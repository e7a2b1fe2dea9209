/** The hosted capture page in a real browser, where one is installed (`apt install chromium`), with a camera that shows a film. */

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { freePorts } from '../../../src/http/free-port.js'
import { begun, CHROMIUM, violations } from '../../support/browser.js'
import { captureUntil, launchBeforeFilm, PATIENT, REACHABLE_HOST } from '../../support/camera-page.js'
import { allowReturn, askForSession, lookAt } from '../../support/capture-page.js'
import {
  serviceOfTest,
  startService,
  type TestService,
  type TestTenant,
  WITH_PAGE,
} from '../../support/service.js'

const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true }
/** A busy machine needs a long time. */
const POLL = { timeout: 60_000 }

describe.skipIf(!CHROMIUM)('the hosted capture page in Chromium', { timeout: 180_000 }, () => {
  let running: TestService
  let tenant: TestTenant
  let browser: Browser
  /** The customer's server, to which the page leads back. */
  let customer: Server
  let back: string
  let page: Page
  let complaints: string[]
  let users = 0

  let origin: string

  beforeAll(async () => {
    const [port] = await freePorts([{ host: '127.0.0.1', port: 0 }])
    origin = `http://${REACHABLE_HOST}:${port}`
    running = await startService({
      COUNTERSIGN_CAPTURE_LISTEN: `127.0.0.1:${port}`,
      COUNTERSIGN_CAPTURE_URL: origin,
      COUNTERSIGN_CHALLENGE_TTL_SECONDS: '300',
      COUNTERSIGN_SANDBOX_RATE_LIMIT: '1000/s',
    })
    // The limit of guidance uses the service's clock, and the component uses the browser's.
    running.clock.now = Date.now
    customer = createServer((_request, response) =>
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<title>Bank</title><h1>Transfer</h1>'),
    )
    customer.listen(0, '127.0.0.1')
    await new Promise((resolve) => customer.once('listening', resolve))
    back = `http://127.0.0.1:${(customer.address() as AddressInfo).port}`
    tenant = await running.tenant()
    await allowReturn(running, tenant, { company: 'Bank of Ada', returnOrigins: [back] })
    browser = await launchBeforeFilm(undefined, origin)
  })
  afterAll(async () => {
    await browser?.close()
    customer?.closeAllConnections()
    customer?.close()
    await running?.stop()
  })
  afterEach(async () => {
    for (const context of browser.contexts()) {
      // A test may end while a challenge is in flight.
      for (const open of context.pages()) await open.unrouteAll({ behavior: 'ignoreErrors' })
      await context.close()
    }
  })

  async function session(fields: Record<string, unknown> = {}) {
    const { body } = await askForSession(tenant.sandbox, {
      user_id: `person-${++users}+match`,
      return_url: `${back}/transfers/7`,
      description: 'Transfer of 1250.00 EUR to Grace Hopper',
      ...fields,
    })
    const { session_id: id, url, confirmation_code: code } = body
    return { id: id as string, url: url as string, code: code as string | null }
  }

  async function visit(url: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({
      permissions: ['camera', 'clipboard-read', 'clipboard-write'],
      ...options,
    })
    // Only the time limit of the test applies.
    context.setDefaultTimeout(0)
    page = await context.newPage()
    complaints = []
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type()) && !message.text().includes('favicon'))
        complaints.push(message.text())
    })
    // A busy machine is slow to encode, and the sandbox judges no frames.
    await page.addInitScript(PATIENT)
    await page.goto(url)
    await begun(page)
    return page
  }

  const click = (name: string, on = page) => on.getByRole('button', { name, exact: true }).click()
  /** The order that is shown over the picture. */
  const order = () => page.locator('countersign-capture [part=hint]')
  const look = (id: string) => lookAt(tenant.sandbox, id)

  const capture = (until: (page: Page) => Promise<boolean>, on = page) => captureUntil(on, () => until(on))

  it('asks for the code of the link before it says what is confirmed', async () => {
    const { url, code } = await session({ confirmation: 'code' })
    await visit(url)
    expect(await page.getByText('Transfer of 1250.00 EUR').count()).toBe(0)
    const typed = page.getByLabel('Please enter the code')
    await typed.fill(code === '000000' ? '111111' : '000000')
    await click('Continue')
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('That is not the right code.')
    await typed.fill(code!)
    await click('Continue')
    await page.getByText('Transfer of 1250.00 EUR').waitFor()
    expect(await page.getByRole('button', { name: 'Agree and continue' }).isVisible()).toBe(true)
  })

  it('leads from consent over the camera back to where the person came from', async () => {
    const { id, url } = await session()
    await visit(url)
    expect(await page.getByRole('heading').textContent()).toBe('Confirm that it is you')
    expect(await page.locator('countersign-capture').isVisible()).toBe(false)
    await click('Agree and continue')
    await capture(async (on) => on.url().startsWith(back))
    expect(page.url()).toBe(`${back}/transfers/7?capture_session=${id}`)
    const { status, result } = await look(id)
    expect([status, result.body.verdict]).toEqual(['completed', 'approved'])
    // The camera is a film, and has the name of its file. The film is short, so that a frame may be there twice.
    const { signals } = result.body.capture_integrity
    expect(signals.filter(({ source }: { source: string }) => source === 'client')).toEqual([
      { code: 'virtual_camera', source: 'client' },
    ])
    expect(complaints).toEqual([])
  })

  it('leads back also where a service of an earlier version takes the frames, which refuses signals', async () => {
    const { id, url } = await session()
    await visit(url)
    let refusals = 0
    await page.route('**/frames', async (route) => {
      if (!route.request().postDataJSON().signals) return route.continue()
      refusals++
      await route.fulfill({ status: 400, json: { code: 'invalid_request' } })
    })
    await click('Agree and continue')
    await capture(async (on) => on.url().startsWith(back))
    expect(refusals).toBe(1)
    const { attempts, result } = await look(id)
    expect([attempts, result.body.verdict]).toEqual([1, 'approved'])
    expect(result.body.capture_integrity).toBeNull()
  })

  it('shows a typed action above everything and while the camera is on, each text in its own direction', async () => {
    const payee = { name: 'شركة الكتب 100.00', account: 'DE89370400440532013000' }
    const action = { type: 'payment', amount: '1250.00', currency: 'EUR', payee, reference: 'Grаce' }
    const { id, url } = await session({ action, locale: 'de', description: 'Betrag 1,00 EUR' })
    await visit(url, { viewport: { width: 360, height: 740 } })
    const box = page.locator('#action')
    const lines = () => box.locator('dt, dd').allInnerTexts()
    const shown = [
      ...['Betrag', '1.250,00\u00a0EUR', 'Empfänger', payee.name, 'Konto', payee.account],
      ...['Verwendungszweck', expect.stringMatching(/^Grаce\n+Vorsicht: .* а \(U\+0430\)$/)],
    ]
    expect(await lines()).toEqual(shown)
    // The words of the company come after the action, and are gone while the camera is on.
    const note = page.getByText('Betrag 1,00 EUR')
    const [noteBox, actionBox] = [await note.boundingBox(), await box.boundingBox()]
    expect(noteBox!.y).toBeGreaterThan(actionBox!.y + actionBox!.height - 1)
    // The Arabic name begins at the right of its own line, and the label before it stays at the left of it.
    const label = await box.getByText('Empfänger').boundingBox()
    expect(label!.x).toBeLessThan((await box.getByText(payee.name).boundingBox())!.x + 1)
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await click('Zustimmen und weiter')
    await page.locator('countersign-capture').waitFor({ state: 'visible' })
    expect(await lines()).toEqual(shown)
    expect(await box.isVisible()).toBe(true)
    expect(await note.isVisible()).toBe(false)
    const begin = page.getByRole('button', { name: 'Beginnen', exact: true })
    await expect.poll(async () => (await begin.isVisible()) || page.url().startsWith(back), POLL).toBe(true)
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
    expect((await box.boundingBox())!.y).toBeGreaterThanOrEqual(0)
    expect(await violations(page)).toEqual([])
    expect((await look(id)).status).toBe('in_progress')
  })

  it('shows advice and the camera again after a failure', async () => {
    const { id, url } = await session({ user_id: 'dim+too_dark' })
    await visit(url)
    await click('Agree and continue')
    const advice = (left: string) =>
      page
        .getByRole('alert')
        .filter({ hasText: `That did not work. It is too dark. Turn to the light. ${left}` })
    await capture(() => advice('You have two more tries.').isVisible())
    expect(await look(id)).toMatchObject({ status: 'in_progress', attempts: 1 })
    await click('Try again')
    await page.getByRole('button', { name: 'Begin', exact: true }).waitFor()
    await capture(() => advice('You have one more try.').isVisible())
    await click('Try again')
    // After the last try the page shows the reason before it leads back.
    const last = page.getByRole('status').filter({ hasText: 'you have no more tries' })
    await capture(() => last.isVisible())
    expect(await violations(page)).toEqual([])
    expect(complaints).toEqual([])
    await page.getByRole('link', { name: 'Back to Bank of Ada' }).click()
    await page.waitForURL(`${back}/transfers/7?capture_session=${id}`)
  })

  it('guides the person in front of the camera, visibly and for a screen reader', async () => {
    const { url } = await session({ user_id: 'dim+too_dark' })
    await visit(url)
    await click('Agree and continue')
    await expect.poll(() => order().textContent(), POLL).toBe('It is too dark. Turn to the light.')
    const heard = page.locator('countersign-capture .heard')
    expect(await heard.getAttribute('aria-live')).toBe('polite')
    await expect.poll(() => heard.textContent(), POLL).toBe('It is too dark. Turn to the light.')
    // The component asks too rarely to reach the limit of the session.
    const statuses: number[] = []
    page.on('response', (response) => {
      if (response.url().endsWith('/guidance')) statuses.push(response.status())
    })
    await expect.poll(() => statuses.length, POLL).toBeGreaterThan(4)
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(complaints).toEqual([])
  })

  it('says that the capture is being checked while it waits for the answer, and shows no ending', async () => {
    const { url } = await session()
    await visit(url)
    let answer = () => {}
    const asked = new Promise<void>((resolve) =>
      page.route('**/frames', (route) => {
        answer = () => void route.continue()
        resolve()
      }),
    )
    await click('Agree and continue')
    const checking = page.getByRole('status').filter({ hasText: 'Checking. Please wait.' })
    await capture(() => checking.isVisible())
    await asked
    expect(
      await page
        .getByText(/^Done|^Finished|Captured/)
        .filter({ visible: true })
        .count(),
    ).toBe(0)
    answer()
    await page.waitForURL(`${back}/**`)
  })

  it('continues after a reload without asking for consent twice', async () => {
    const { url } = await session()
    await visit(url)
    await click('Agree and continue')
    await page.getByRole('button', { name: 'Begin', exact: true }).waitFor()
    await page.reload()
    await click('Turn on camera')
    await page.getByRole('button', { name: 'Begin', exact: true }).waitFor()
    expect(await page.getByRole('button', { name: 'Agree and continue' }).isVisible()).toBe(false)
  })

  it('waits for the phone that it was handed to', async () => {
    const { id, url } = await session()
    await visit(url)
    const desk = page
    await click('Continue on your phone')
    const code = desk.locator('#code')
    await code.waitFor()
    expect(await page.evaluate("document.getElementById('code').naturalWidth")).toBeGreaterThan(0)
    expect(await code.getAttribute('alt')).toBe('QR code that opens this page on your phone')
    expect(await desk.getByText('Transfer of 1250.00 EUR').isVisible()).toBe(true)
    expect(await violations(desk)).toEqual([])
    const link = await desk.locator('#link').getAttribute('href')
    await click('Copy link')
    await desk.getByText('The link was copied.').waitFor()
    expect(await desk.evaluate('navigator.clipboard.readText()')).toBe(link)
    await visit(link!, PHONE)
    // The code is used up: it is not shown any more.
    await desk.getByText('Your phone has taken over. Please continue there.').waitFor()
    expect([await code.isVisible(), await desk.locator('#link').isVisible()]).toEqual([false, false])
    expect(await page.getByRole('button', { name: 'Continue on your phone' }).count()).toBe(0)
    await click('Agree and continue')
    await capture((on) =>
      on.getByText('Finished. Please continue on the device where you started').isVisible(),
    )
    await desk.waitForURL(`${back}/transfers/7?capture_session=${id}`)
    expect((await look(id)).status).toBe('completed')
  })

  it('goes on at the first device with the number that the phone shows', async () => {
    const { url } = await session({ browser: 'same' })
    const desk = await visit(url)
    await click('Continue on your phone')
    // The link is shown when its code can be.
    await desk.locator('#code').waitFor()
    const link = await desk.locator('#link').getAttribute('href')
    const phone = await visit(link!, PHONE)
    await click('Agree and continue')
    await capture((on) => on.locator('.number').isVisible())
    const number = await phone.locator('.number').textContent()
    await desk.getByLabel('Please type the number').fill('000000')
    await click('Continue', desk)
    await desk.getByText('That is not the number').waitFor()
    await desk.getByLabel('Please type the number').fill(number!)
    await click('Continue', desk)
    await desk.waitForURL(/capture_proof=/)
  })

  it('shows no QR code for an address that a phone cannot reach, and says why', async () => {
    const alone = await serviceOfTest(WITH_PAGE)
    const other = await alone.tenant()
    await allowReturn(alone, other)
    const { body } = await askForSession(other.sandbox, { user_id: 'alone+match' })
    await visit(body.url)
    await click('Continue on your phone')
    const { host } = new URL(body.url)
    await page.getByText(`its address, ${host}, works only on this computer`).waitFor()
    expect(await page.locator('#code').count()).toBe(0)
    await click('Use this device instead')
    expect(await page.getByRole('button', { name: 'Agree and continue' }).isVisible()).toBe(true)
  })

  it('leads back when the person declines', async () => {
    const { id, url } = await session()
    await visit(url)
    await click('Back to Bank of Ada')
    await page.waitForURL(`${back}/transfers/7?capture_session=${id}`)
    expect((await look(id)).status).toBe('cancelled')
  })

  it('says in another browser that the link is used', async () => {
    const { url } = await session()
    await visit(url)
    await visit(url)
    expect(await page.getByRole('heading').textContent()).toBe('Already open in another browser')
    expect(await page.getByRole('link', { name: 'Back to Bank of Ada' }).getAttribute('href')).toBe(
      `${back}/`,
    )
    expect(await violations(page)).toEqual([])
  })

  it.each(['light', 'dark'] as const)(
    'is complete and accessible on a small screen (%s)',
    async (colorScheme) => {
      const { url } = await session()
      await visit(url, { colorScheme, viewport: { width: 320, height: 640 } })
      const width = () => page.evaluate('document.documentElement.scrollWidth')
      expect([await violations(page), await width()]).toEqual([[], 320])
      await click('Agree and continue')
      await page.getByRole('button', { name: 'Begin', exact: true }).waitFor()
      expect([await violations(page), await width()]).toEqual([[], 320])
      // The description stays in sight while the person looks at the picture, wherever the page was scrolled to.
      for (const end of ['0', 'document.body.scrollHeight']) {
        await page.evaluate(`scrollTo(0, ${end})`)
        const confirmed = page.getByText('Transfer of 1250.00 EUR to Grace Hopper')
        const { y, height } = (await confirmed.boundingBox())!
        expect(y).toBeGreaterThanOrEqual(0)
        expect(y + height).toBeLessThanOrEqual(640)
        expect(await page.locator('countersign-capture [part=hint]').isVisible()).toBe(true)
      }
    },
  )
})
