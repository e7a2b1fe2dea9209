/** The parts that all pages of the dashboard share, in a real browser: titles, times, focus, and the texts of empty lists. */

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { FEATURES } from '../../src/features/index.js'
import { CHROMIUM, launchBrowser, loaded, openPage, violations } from '../support/browser.js'
import { operationsOf } from '../support/operations.js'
import { OPERATOR_PASSWORD } from '../support/operator.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'

/** Folder for screenshots of the pages, for people to look at. */
const PICTURES = process.env.COUNTERSIGN_TEST_PICTURES

describe.skipIf(!CHROMIUM)('every page in Chromium', () => {
  let running: TestService
  let tenant: TestTenant
  let browser: Browser
  let url: string

  beforeAll(async () => {
    running = await startService()
    tenant = await running.tenant()
    url = running.service.adminUrl
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await running?.stop()
  })

  async function signIn(page: Page, password = OPERATOR_PASSWORD, name = '', at = url) {
    await page.goto(at)
    await page.getByLabel('User name', { exact: true }).fill(name)
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Tenants' }).waitFor()
  }
  const heading = (page: Page) => page.getByRole('heading', { level: 1 }).textContent()

  it('shows the tenant in its heading and its title', async () => {
    const { page } = await openPage(browser, running, { colorScheme: 'light', width: 1280 })
    await signIn(page)
    await page.goto(`${url}/#/tenants/${tenant.id}/keys`)
    await page.getByRole('heading', { level: 1, name: tenant.name }).waitFor()
    expect(await heading(page)).toBe(`Keys and secrets · ${tenant.name}`)
    await expect.poll(() => page.title()).toBe(`Keys and secrets · ${tenant.name} · Countersign`)
    await page.context().close()
  }, 60_000)

  it('offers no page of a feature that the service lacks, and shows the tenant without its traffic', async () => {
    const features = FEATURES.filter(({ name }) => !['insight', 'policies', 'webhooks'].includes(name))
    const less = await startService({}, { features })
    try {
      const { id, name } = await less.tenant()
      const { page, errors } = await openPage(browser, less, { colorScheme: 'light', width: 1280 })
      await signIn(page, OPERATOR_PASSWORD, '', less.service.adminUrl)
      await page.goto(`${less.service.adminUrl}/#/tenants/${id}/overview`)
      await page.getByRole('heading', { level: 2, name: 'Tenant' }).waitFor()
      const offered = await page.getByRole('list', { name }).getByRole('link').allTextContents()
      expect(offered).toEqual([
        ...['Overview', 'Keys and secrets', 'Users', 'Capture page', 'Passkeys', 'Applications'],
        ...['Audit log', 'People', 'Sessions', 'Try it'],
      ])
      const asked: string[] = []
      page.on('request', (request) => asked.push(new URL(request.url()).pathname))
      await page.goto(`${less.service.adminUrl}/#/tenants/${id}/keys`)
      await page.getByRole('heading', { level: 2, name: 'Signing secret' }).waitFor()
      expect(asked).toContain(`/api/tenants/${id}`)
      expect(asked.filter((path) => path.endsWith('/traffic'))).toEqual([])
      await page.goto(`${less.service.adminUrl}/#/tenants/${id}/policy`)
      await page.getByRole('heading', { name: 'There is nothing at this address' }).waitFor()
      expect(errors).toEqual([])
    } finally {
      await less.stop()
    }
  }, 60_000)

  it('starts without an error in the console, and reveals a typed password on request', async () => {
    const { page, errors } = await openPage(browser, running, { colorScheme: 'light', width: 1280 })
    await page.goto(url)
    const password = page.getByLabel('Password', { exact: true })
    await password.fill('what I typed')
    expect(await password.getAttribute('type')).toBe('password')
    await page.getByRole('button', { name: 'Show password' }).click()
    expect(await password.getAttribute('type')).toBe('text')
    expect(await violations(page)).toEqual([])
    expect(errors).toEqual([])
    await page.context().close()
  }, 60_000)

  it('shows times in the 24-hour format, in the computer’s zone or in UTC as the reader chooses', async () => {
    const context = await browser.newContext({ timezoneId: 'Asia/Tokyo', locale: 'en-US' })
    const page = await context.newPage()
    await signIn(page)
    await page.goto(`${url}/#/system`)
    const since = page.locator('time').first()
    await since.waitFor()
    const iso = (await since.getAttribute('datetime'))!
    const [day, rest] = [iso.slice(0, 10), iso.slice(11, 19)]
    expect(await since.textContent()).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d GMT\+9$/)
    await page.getByRole('button', { name: 'Times in UTC' }).click()
    await expect.poll(() => since.textContent()).toBe(`${day} ${rest} UTC`)
    await page.reload()
    await expect.poll(() => since.textContent()).toBe(`${day} ${rest} UTC`)
    await context.close()
  }, 60_000)

  it('returns the focus to the button that was pressed', async () => {
    const { page } = await openPage(browser, running, { colorScheme: 'light', width: 1280 })
    await signIn(page)
    await page.goto(`${url}/#/tenants/${tenant.id}/users`)
    await page.getByLabel('User id').fill('nobody')
    const lookUp = page.getByRole('button', { name: 'Look up' })
    await lookUp.focus()
    await page.keyboard.press('Enter')
    await page.getByText('Not enrolled in production').waitFor()
    await expect.poll(() => page.locator(':focus').textContent()).toBe('Look up')
    await page.context().close()
  }, 60_000)

  it.each([
    ['requests', 'requests?*'],
    ['audit', 'audit?*'],
    ['webhooks', 'webhooks/deliveries?*'],
  ])(
    'offers a retry on the page %s when only its list cannot be loaded',
    async (name, path) => {
      const { page } = await openPage(browser, running, { colorScheme: 'light', width: 1280 })
      await signIn(page)
      const address = `**/api/tenants/*/${path}`
      await page.route(address, (route) => route.abort())
      await page.goto(`${url}/#/tenants/${tenant.id}/${name}`)
      const retry = page.getByRole('button', { name: 'Retry' })
      await retry.waitFor()
      await page.unroute(address)
      await retry.click()
      await retry.waitFor({ state: 'detached' })
      await page.context().close()
    },
    60_000,
  )

  it('offers a retry when the service cannot be reached, on the first page and on any other', async () => {
    const { page } = await openPage(browser, running, { colorScheme: 'light', width: 1280 })
    await signIn(page)
    const retry = page.getByRole('button', { name: 'Retry' })
    await page.route('**/api/**', (route) => route.abort())
    await page.goto(`${url}/#/operators`)
    await page.getByText('The service cannot be reached.').waitFor()
    await retry.waitFor()
    expect(await page.getByText('Loading…').count()).toBe(0)
    await page.unroute('**/api/**')
    await retry.click()
    await page.getByText('No operators with a name yet').waitFor()
    await page.route('**/api/**', (route) => route.abort())
    await page.reload()
    await retry.waitFor()
    await page.unroute('**/api/**')
    await retry.click()
    await page.getByText('No operators with a name yet').waitFor()
    await page.context().close()
  }, 60_000)

  it('reports an unknown tenant, and a page that the role may not open', async () => {
    const { password } = await operationsOf(running.service).operators.add('vera', 'viewer', COMMAND_LINE)
    const { page } = await openPage(browser, running, { colorScheme: 'light', width: 1280 })
    await signIn(page, password, 'vera')
    for (const id of ['ten_nobody', `ten_${'0'.repeat(32)}`]) {
      await page.goto(`${url}/#/tenants/${id}/overview`)
      await page.getByRole('heading', { name: 'There is no such tenant' }).waitFor()
      await loaded(page)
    }
    await page.goto(`${url}/#/tenants/${tenant.id}/try`)
    await page.getByRole('heading', { name: 'Your role may not open this page' }).waitFor()
    expect(await violations(page)).toEqual([])
    await page.context().close()
  }, 60_000)

  for (const [scheme, width] of [
    ['light', 1280],
    ['dark', 390],
  ] as const)
    it(`shows disk, backup, certificates and the calibration in use on the page System (${scheme}, ${width} px)`, async () => {
      const { page, errors } = await openPage(browser, running, { colorScheme: scheme, width })
      await signIn(page)
      await page.goto(`${url}/#/system`)
      await page.getByText('Free on the disk').waitFor()
      await page.getByText('Last backup').waitFor()
      await page.getByText('Certificate, admin').waitFor()
      expect(await page.getByRole('region', { name: 'Calibration' }).getByText('in use').count()).toBe(1)
      await loaded(page)
      expect(await violations(page)).toEqual([])
      if (PICTURES) await page.screenshot({ path: `${PICTURES}/system-${scheme}.png`, fullPage: true })
      if (width === 390) {
        const heights = await page
          .locator('nav a:visible, nav button:visible')
          .evaluateAll((all) =>
            all.map((one) => one.getBoundingClientRect().height).filter((height) => height > 1),
          )
        expect(Math.min(...heights)).toBeGreaterThanOrEqual(44)
      }
      expect(errors).toEqual([])
      await page.context().close()
    }, 60_000)
})
