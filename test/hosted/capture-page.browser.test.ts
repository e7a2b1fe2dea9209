/** The hosted capture page in a real browser, where one is installed (`apt install chromium`), before a camera that shows a film. */
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../src/operations/operation.js'
import { CHROMIUM, violations } from '../support/browser.js'
import { launchWithCamera } from '../support/camera-page.js'
import { askForSession } from '../support/capture-page.js'
import { writeFaceFilm } from '../support/film.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'

describe.skipIf(!CHROMIUM)('the hosted capture page in Chromium', { timeout: 180_000 }, () => {
  let running: TestService
  let tenant: TestTenant
  let folder: string
  let browser: Browser
  /** Of the customer: where the page leads back to. */
  let customer: Server
  let back: string
  let page: Page
  let complaints: string[]
  let users = 0

  beforeAll(async () => {
    running = await startService({
      COUNTERSIGN_CAPTURE_LISTEN: '127.0.0.1:0',
      COUNTERSIGN_CHALLENGE_TTL_SECONDS: '300',
      COUNTERSIGN_SANDBOX_RATE_LIMIT: '1000/s',
    })
    customer = createServer((_request, response) =>
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<title>Bank</title><h1>Transfer</h1>'),
    )
    customer.listen(0, '127.0.0.1')
    await new Promise((resolve) => customer.once('listening', resolve))
    back = `http://127.0.0.1:${(customer.address() as AddressInfo).port}`
    tenant = await running.tenant()
    const { tenancy, operations } = running.service.ledger
    await operations.tenants.setCapturePage(await tenancy.find(tenant.id), COMMAND_LINE, {
      company: 'Bank of Ada',
      returnOrigins: [back],
      frameAncestors: [],
      consent: null,
    })
    folder = await mkdtemp(join(tmpdir(), 'countersign-hosted-'))
    const film = join(folder, 'film.y4m')
    await writeFaceFilm(film)
    browser = await launchWithCamera(film)
  })
  afterAll(async () => {
    await browser?.close()
    customer?.closeAllConnections()
    customer?.close()
    await running?.stop()
    if (folder) await rm(folder, { recursive: true, force: true })
  })
  afterEach(async () => {
    for (const context of browser.contexts()) {
      // A test may end while a challenge is on its way.
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
    const context = await browser.newContext({ permissions: ['camera'], ...options })
    // The test's own time limits it.
    context.setDefaultTimeout(0)
    page = await context.newPage()
    complaints = []
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type()) && !message.text().includes('favicon'))
        complaints.push(message.text())
    })
    // A busy machine is slow to encode, and the sandbox judges no frames.
    await page.route('**/challenge', async (route) => {
      const response = await route.fetch()
      const body = await response.json()
      if (body.challenge) body.challenge.capture.max_interval_ms = 5000
      await route.fulfill({ response, json: body })
    })
    await page.goto(url)
    return page
  }

  const click = (name: string, on = page) => on.getByRole('button', { name, exact: true }).click()
  const look = async (id: string) => (await tenant.sandbox.call('GET', `/v1/capture-sessions/${id}`)).body

  /** As often as a busy machine needs it: too few frames are no answer to a challenge. */
  async function capture(until: (page: Page) => Promise<boolean>, on = page): Promise<void> {
    for (;;) {
      if (await until(on)) return
      const begin = on.getByRole('button', { name: 'Begin', exact: true })
      const again = on.locator('countersign-capture').getByRole('button', { name: 'Try again', exact: true })
      if ((await begin.isVisible()) && (await begin.isEnabled()))
        await begin.click({ timeout: 5000 }).catch(() => {})
      else if (await again.isVisible()) await again.click()
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  it('asks for the code of the link before it says what is confirmed', async () => {
    const { url, code } = await session({ confirmation: 'code' })
    await visit(url)
    expect(await page.getByText('Transfer of 1250.00 EUR').count()).toBe(0)
    const typed = page.getByLabel('Please type the code')
    await typed.fill(code === '000000' ? '111111' : '000000')
    await click('Continue')
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('That is not the code.')
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
    expect(complaints).toEqual([])
  })

  it('gives advice after a failure, and the camera again', async () => {
    const { id, url } = await session({ user_id: 'dim+too_dark' })
    await visit(url)
    await click('Agree and continue')
    const advice = page.getByRole('alert').filter({ hasText: 'It is too dark. Please find more light.' })
    await capture(() => advice.isVisible())
    expect(await look(id)).toMatchObject({ status: 'in_progress', attempts: 1 })
    await click('Try again')
    await page.getByRole('button', { name: 'Begin', exact: true }).waitFor()
    expect(complaints).toEqual([])
  })

  it('goes on after it is loaded anew, without asking for consent twice', async () => {
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
    const link = await code.getAttribute('alt')
    await visit(link!, { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true })
    expect(await page.getByRole('button', { name: 'Continue on your phone' }).count()).toBe(0)
    await click('Agree and continue')
    await capture((on) => on.getByText('Done. Please go on where you began').isVisible())
    await desk.waitForURL(`${back}/transfers/7?capture_session=${id}`)
    expect((await look(id)).status).toBe('completed')
  })

  it('leads back when the person does not want to', async () => {
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
    expect(await page.getByRole('heading').textContent()).toContain('opened in another browser already')
  })

  it.each(['light', 'dark'] as const)(
    'is whole and without barriers on a small screen, %s',
    async (colorScheme) => {
      const { url } = await session()
      await visit(url, { colorScheme, viewport: { width: 320, height: 640 } })
      const width = () => page.evaluate('document.documentElement.scrollWidth')
      expect([await violations(page), await width()]).toEqual([[], 320])
      await click('Agree and continue')
      await page.getByRole('button', { name: 'Begin', exact: true }).waitFor()
      expect([await violations(page), await width()]).toEqual([[], 320])
    },
  )
})
