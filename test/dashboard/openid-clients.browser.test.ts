/** The page of a tenant's applications at the OpenID provider, in a real browser. */
import { describe, expect, it } from 'vitest'
import { CHROMIUM } from '../support/browser.js'
import { checkPage, PageTests, screenshot, VIEWPORTS } from './page-tests.js'

describe.skipIf(!CHROMIUM)('the applications of a tenant in Chromium', () => {
  const tests = new PageTests()

  for (const [scheme, width] of VIEWPORTS)
    it(`shows the secret of a new one once, and lists and removes it (${scheme}, ${width} px)`, async () => {
      const tenant = await tests.running.tenant()
      const { page, errors } = await tests.open(scheme, width)
      await tests.signInByLink(page, tenant, 'openid-clients')
      await page.getByText('No applications yet').waitFor()
      await page.getByLabel('Name', { exact: true }).fill('portal')
      await page.getByLabel('Redirect addresses, one a line').fill('https://app.bank.example/callback')
      await page.getByRole('button', { name: 'Add', exact: true }).click()
      await page.getByText('Client secret of portal').first().waitFor()
      const list = page.getByRole('region', { name: 'Applications' })
      await list.getByText('https://app.bank.example/callback').waitFor()
      await checkPage(page, `openid-clients-${scheme}-${width}`)
      const secret = await page.locator('.reveal code').first().textContent()
      await page.getByRole('button', { name: 'Hide Client secret of portal' }).click()
      expect(await page.content()).not.toContain(secret)
      await page.getByRole('button', { name: 'Remove portal' }).click()
      await screenshot(page, `openid-clients-dialog-${scheme}-${width}`)
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
      await page.getByText('No applications yet').waitFor()
      expect(errors).toEqual([])
      await page.context().close()
    }, 60_000)
})
