/** The page of a tenant's people, an invitation and the sign-in that follows, in a real browser. */
import { describe, expect, it } from 'vitest'
import { CHROMIUM } from '../support/browser.js'
import { checkPage, PageTests, VIEWPORTS } from './page-tests.js'

const PASSWORD = 'seven long words of mine'

describe.skipIf(!CHROMIUM)('the people of a tenant in Chromium', () => {
  const tests = new PageTests()

  for (const [scheme, width] of VIEWPORTS)
    it(`are invited by a link, choose a password, and see only what their role allows (${scheme}, ${width} px)`, async () => {
      const tenant = await tests.running.tenant()
      const name = `pia.${scheme}@example.com`
      const { page, errors } = await tests.open(scheme, width)
      const button = (text: string) => page.getByRole('button', { name: text, exact: true })
      await tests.signInByLink(page, tenant, 'people')
      await page.getByText('Nobody with a name yet').waitFor()
      await page.getByLabel('Name', { exact: true }).fill(name)
      await page.getByLabel('Role', { exact: true }).selectOption('viewer')
      await button('Add').click()
      await page.locator('.reveal strong').getByText(`Link for ${name}`).waitFor()
      await checkPage(page, `people-invited-${scheme}`)
      const link = await page.locator('.reveal code').first().textContent()
      await button('Sign out').click()
      await page.getByRole('heading', { level: 2, name: 'Sign in' }).waitFor()
      await checkPage(page, `sign-in-${scheme}`)

      await page.goto('about:blank')
      await page.goto(link!)
      await page.getByRole('heading', { level: 2, name: 'Choose a password' }).waitFor()
      await checkPage(page, `choose-password-${scheme}`)
      await page.getByLabel('New password', { exact: true }).fill(PASSWORD)
      await page.getByLabel('New password again').fill('another one of mine')
      await button('Choose').click()
      await page.getByRole('alert').getByText('not the same').waitFor()
      await page.getByLabel('New password again').fill(PASSWORD)
      await button('Choose').click()
      await page.getByRole('link', { name: 'Overview' }).waitFor()
      await button('Sign out').click()
      await page.getByLabel('User name', { exact: true }).fill(name)
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
      await page.keyboard.press('Enter')
      await page.getByRole('link', { name: 'People' }).click()
      await page.getByRole('heading', { level: 1, name: 'People' }).waitFor()
      await page.getByText('(you)').waitFor()
      await checkPage(page, `people-viewer-${scheme}`)
      expect(await button('Add').count()).toBe(0)
      expect(await page.getByRole('link', { name: 'Try it' }).count()).toBe(0)
      expect(errors.filter((text) => !text.includes('401'))).toEqual([])
      await page.context().close()
    }, 90_000)
})
