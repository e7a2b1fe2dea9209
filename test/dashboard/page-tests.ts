/** The service and the browser for a file of page tests, and the checks that every page must pass. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect } from 'vitest'
import { launchBrowser, loaded, openPage, violations } from '../support/browser.js'
import { loginToken } from '../support/dashboard.js'
import { OPERATOR_PASSWORD } from '../support/operator.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'

/** Folder for screenshots of the pages, for people to look at. */
const PICTURES = process.env.COUNTERSIGN_TEST_PICTURES

/** The color schemes and widths in pixels in which pages are looked at. */
export const VIEWPORTS = [
  ['light', 1280],
  ['dark', 390],
] as const

export class PageTests {
  running!: TestService
  private browser!: Browser

  /** Starts the service and the browser before all tests of the surrounding `describe`, and stops both after them. */
  constructor(env: Record<string, string> = {}) {
    beforeAll(async () => {
      this.running = await startService(env)
      this.browser = await launchBrowser()
    })
    afterAll(async () => {
      await this.browser?.close()
      await this.running?.stop()
    })
  }

  /** Opens an empty page. Tests check at their end that `errors` holds none. */
  open(colorScheme: 'light' | 'dark', width: number): Promise<{ page: Page; errors: string[] }> {
    return openPage(this.browser, this.running, { colorScheme, width })
  }

  /** Signs in by a login link of the tenant, and goes to one of its pages. */
  async signInByLink(page: Page, tenant: TestTenant, path: string): Promise<void> {
    const url = this.running.service.adminUrl
    await page.goto(`${url}/#/login/${await loginToken(this.running, tenant.id)}`)
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.goto(`${url}/#/${path}`)
  }

  /** Signs in by the operator's password. */
  async signInOperator(page: Page): Promise<void> {
    await page.goto(this.running.service.adminUrl)
    await page.getByLabel('Password', { exact: true }).fill(OPERATOR_PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Tenants' }).waitFor()
    await loaded(page)
  }
}

/** Checks that a page is accessible and no wider than the screen, and takes a screenshot under the name. */
export async function checkPage(page: Page, name: string): Promise<void> {
  await loaded(page)
  expect(await violations(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  await screenshot(page, name)
}

export async function screenshot(page: Page, name: string): Promise<void> {
  if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true })
}
