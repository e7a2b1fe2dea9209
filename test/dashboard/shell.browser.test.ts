/** All pages of the dashboard, in a real browser: titles, times, focus, and the words where there is nothing to show. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { CHROMIUM, launchBrowser, loaded, openPage, violations } from '../support/browser.js'
import { OPERATOR_PASSWORD } from '../support/operator.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'

/** A folder for pictures of the pages, for eyes. */
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

  async function signIn(page: Page, password = OPERATOR_PASSWORD, name = '') {
    await page.goto(url)
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Tenants' }).waitFor()
  }
  const heading = (page: Page) => page.getByRole('heading', { level: 1 }).textContent()

  it('names the tenant in its heading and its title', async () => {
    const { page } = await openPage(browser, running, { colorScheme: 'light', width: 1280 })
    await signIn(page)
    await page.goto(`${url}/#/tenants/${tenant.id}/keys`)
    await page.getByRole('heading', { level: 1, name: tenant.name }).waitFor()
    expect(await heading(page)).toBe(`Keys and secrets · ${tenant.name}`)
    await expect.poll(() => page.title()).toBe(`Keys and secrets · ${tenant.name} · Countersign`)
    await page.context().close()
  }, 60_000)

  it('begins without an error in the console, and shows a password that is to be seen', async () => {
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

  it('has times of 24 hours, of the computer or in UTC as the reader says', async () => {
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

  it('gives the focus back to the button that worked', async () => {
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
    'offers to try again on the page %s where only its list cannot be fetched',
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

  it('offers to try again where the service cannot be reached, at the first page and at any other', async () => {
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

  it('says that a tenant is unknown, and that a role may not open a page', async () => {
    const { password } = await running.service.core.operations.operators.add('vera', 'viewer', COMMAND_LINE)
    const { page } = await openPage(browser, running, { colorScheme: 'light', width: 1280 })
    await signIn(page, password, 'vera')
    for (const id of ['ten_nobody', `ten_${'0'.repeat(32)}`]) {
      await page.goto(`${url}/#/tenants/${id}/overview`)
      await page.getByRole('heading', { name: 'There is no such tenant' }).waitFor()
      expect(await page.getByText('Loading…').count()).toBe(0)
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
    it(`of the system tells of disk, backup, certificates and the calibration in use, ${scheme}, ${width} px`, async () => {
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
