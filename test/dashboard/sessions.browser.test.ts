/** The pages of sessions, and the prompt for a fresh sign-in, in a real browser. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MINUTE_MS } from '../../src/lib/clock.js'
import { CHROMIUM, launchBrowser, loaded, openPage, violations } from '../support/browser.js'
import { loginToken, signIn } from '../support/dashboard.js'
import { OPERATOR_PASSWORD } from '../support/operator.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'

/** Folder for screenshots of the pages, for people to look at. */
const PICTURES = process.env.COUNTERSIGN_TEST_PICTURES

describe.skipIf(!CHROMIUM)('sessions in Chromium', () => {
  let running: TestService
  let tenant: TestTenant
  let browser: Browser

  beforeAll(async () => {
    running = await startService()
    tenant = await running.tenant()
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await running?.stop()
  })

  const picture = async (page: Page, name: string) => {
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}.png` })
  }
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
  const answer = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name })
  async function signInOperator(page: Page): Promise<void> {
    await page.goto(running.service.adminUrl)
    await page.getByLabel('Password', { exact: true }).fill(OPERATOR_PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Tenants' }).waitFor()
    await loaded(page)
  }

  for (const [scheme, width] of [
    ['light', 1280],
    ['dark', 360],
  ] as const)
    it(`are listed, and any of them can be ended (${scheme}, ${width} px)`, async () => {
      const { page, errors } = await openPage(browser, running, { colorScheme: scheme, width })
      const theirs = await signIn(running, { login_token: await loginToken(running, tenant.id) })
      await signInOperator(page)
      await page.goto(`${running.service.adminUrl}/#/sessions`)
      await page.getByText('this one').waitFor()
      await page.getByText('Chrome on Linux').first().waitFor()
      expect(await violations(page)).toEqual([])
      await picture(page, `sessions-${scheme}`)
      await button(page, `End… the session of tenant ${tenant.name}`).click()
      expect(await violations(page, 'dialog')).toEqual([])
      await answer(page, 'End').click()
      await expect.poll(async () => (await theirs.call('GET', '/session')).status).toBe(401)
      await page.goto(`${running.service.adminUrl}/#/tenants/${tenant.id}/sessions`)
      await page.getByText('Nobody is signed in').waitFor()
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
      expect(errors).toEqual([])
      await page.context().close()
    }, 60_000)

  for (const [scheme, width] of [
    ['light', 1280],
    ['dark', 360],
  ] as const)
    it(`ask an operator for the password again before a key is made (${scheme}, ${width} px)`, async () => {
      const { page, errors } = await openPage(browser, running, { colorScheme: scheme, width })
      await signInOperator(page)
      await page.goto(`${running.service.adminUrl}/#/tenants/${tenant.id}/keys`)
      await loaded(page)
      running.clock.advance(20 * MINUTE_MS)
      const reissue = async () => {
        await button(page, 'Reissue sandbox key').click()
        await answer(page, 'Reissue').click()
        await page.getByRole('heading', { name: 'Is it still you?' }).waitFor()
      }
      await reissue()
      expect(await violations(page, 'dialog')).toEqual([])
      await picture(page, `fresh-${scheme}`)
      await answer(page, 'Cancel').click()
      await page.getByRole('alert').getByText('fresh sign-in').waitFor()
      expect(await page.locator('.reveal').count()).toBe(0)
      await reissue()
      await page.getByLabel('Your password').fill('wrong')
      await page.keyboard.press('Enter')
      await page.getByText('The password is wrong').waitFor()
      await page.getByLabel('Your password').fill(OPERATOR_PASSWORD)
      await page.keyboard.press('Enter')
      await page.locator('.reveal strong').getByText('New sandbox key').waitFor()
      // The browser logs the two refusals (403) as errors; no other error is expected.
      expect(errors.filter((text) => !text.includes('403'))).toEqual([])
      await page.context().close()
    }, 60_000)

  it('ask a tenant for a new login link when a fresh sign-in is required', async () => {
    const { page } = await openPage(browser, running, { colorScheme: 'light', width: 1280 })
    await page.goto(`${running.service.adminUrl}/#/login/${await loginToken(running, tenant.id)}`)
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.goto(`${running.service.adminUrl}/#/keys`)
    await loaded(page)
    running.clock.advance(20 * MINUTE_MS)
    await button(page, 'Rotate').first().click()
    await page.getByRole('dialog').getByText('countersign tenant login-link').waitFor()
    expect(await violations(page, 'dialog')).toEqual([])
    await picture(page, 'fresh-tenant')
    await answer(page, 'Close').click()
    await page.getByRole('alert').getByText('open a new link').waitFor()
    await page.context().close()
  }, 60_000)
})
