/** The page of a tenant's people, an invitation and the sign-in that follows, in a real browser. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHROMIUM, launchBrowser, loaded, openPage, violations } from '../support/browser.js'
import { loginToken } from '../support/dashboard.js'
import { startService, type TestService } from '../support/service.js'

/** Folder for screenshots of the pages, for people to look at. */
const PICTURES = process.env.COUNTERSIGN_TEST_PICTURES
const PASSWORD = 'seven long words of mine'

describe.skipIf(!CHROMIUM)('the people of a tenant in Chromium', () => {
  let running: TestService
  let browser: Browser

  beforeAll(async () => {
    running = await startService()
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await running?.stop()
  })

  for (const [scheme, width] of [
    ['light', 1280],
    ['dark', 390],
  ] as const)
    it(`are invited by a link, choose a password, and see only what their role allows (${scheme}, ${width} px)`, async () => {
      const tenant = await running.tenant()
      const url = running.service.adminUrl
      const name = `pia.${scheme}@example.com`
      const { page, errors } = await openPage(browser, running, { colorScheme: scheme, width })
      const button = (text: string) => page.getByRole('button', { name: text, exact: true })
      const looked = async (of: string) => {
        await loaded(page)
        expect(await violations(page)).toEqual([])
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
        if (PICTURES) await page.screenshot({ path: `${PICTURES}/${of}-${scheme}.png`, fullPage: true })
      }
      await page.goto(`${url}/#/login/${await loginToken(running, tenant.id)}`)
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
      await page.goto(`${url}/#/people`)
      await page.getByText('Nobody with a name yet').waitFor()
      await page.getByLabel('Name', { exact: true }).fill(name)
      await page.getByLabel('Role', { exact: true }).selectOption('viewer')
      await button('Add').click()
      await page.locator('.reveal strong').getByText(`Link for ${name}`).waitFor()
      await looked('people-invited')
      const link = await page.locator('.reveal code').first().textContent()
      await button('Sign out').click()
      await page.getByRole('heading', { level: 2, name: 'Sign in' }).waitFor()
      await looked('sign-in')

      await page.goto('about:blank')
      await page.goto(link!)
      await page.getByRole('heading', { level: 2, name: 'Choose a password' }).waitFor()
      await looked('choose-password')
      await page.getByLabel('New password', { exact: true }).fill(PASSWORD)
      await page.getByLabel('New password again').fill('another one of mine')
      await button('Choose').click()
      await page.getByRole('alert').getByText('not the same').waitFor()
      await page.getByLabel('New password again').fill(PASSWORD)
      await button('Choose').click()
      await page.getByRole('link', { name: 'Overview' }).waitFor()
      await button('Sign out').click()
      await page.getByLabel('Name', { exact: true }).fill(name)
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
      await page.keyboard.press('Enter')
      await page.getByRole('link', { name: 'People' }).click()
      await page.getByRole('heading', { level: 1, name: 'People' }).waitFor()
      await page.getByText('(you)').waitFor()
      await looked('people-viewer')
      expect(await button('Add').count()).toBe(0)
      expect(await page.getByRole('link', { name: 'Try it' }).count()).toBe(0)
      expect(errors.filter((text) => !text.includes('401'))).toEqual([])
      await page.context().close()
    }, 90_000)
})
