/** The pages of sessions, and the prompt for a fresh sign-in, in a real browser. */
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { MINUTE_MS } from '../../src/lib/clock.js'
import { CHROMIUM, loaded, violations } from '../support/browser.js'
import { loginToken, signIn } from '../support/dashboard.js'
import { OPERATOR_PASSWORD } from '../support/operator.js'
import type { TestTenant } from '../support/service.js'
import { PageTests, screenshot } from './page-tests.js'

describe.skipIf(!CHROMIUM)('sessions in Chromium', () => {
  const tests = new PageTests()
  let tenant: TestTenant

  beforeAll(async () => {
    tenant = await tests.running.tenant()
  })

  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
  const answer = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name })

  for (const [scheme, width] of [
    ['light', 1280],
    ['dark', 360],
  ] as const)
    it(`are listed, and any of them can be ended (${scheme}, ${width} px)`, async () => {
      const { page, errors } = await tests.open(scheme, width)
      const theirs = await signIn(tests.running, { login_token: await loginToken(tests.running, tenant.id) })
      await tests.signInOperator(page)
      await page.goto(`${tests.running.service.adminUrl}/#/sessions`)
      await page.getByText('this one').waitFor()
      await page.getByText('Chrome on Linux').first().waitFor()
      expect(await violations(page)).toEqual([])
      await screenshot(page, `sessions-${scheme}`)
      await button(page, `End… the session of tenant ${tenant.name}`).click()
      expect(await violations(page, 'dialog')).toEqual([])
      await answer(page, 'End').click()
      await expect.poll(async () => (await theirs.call('GET', '/session')).status).toBe(401)
      await page.goto(`${tests.running.service.adminUrl}/#/tenants/${tenant.id}/sessions`)
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
      const { page, errors } = await tests.open(scheme, width)
      await tests.signInOperator(page)
      await page.goto(`${tests.running.service.adminUrl}/#/tenants/${tenant.id}/keys`)
      await loaded(page)
      tests.running.clock.advance(20 * MINUTE_MS)
      const reissue = async () => {
        await button(page, 'Reissue sandbox key').click()
        await answer(page, 'Reissue').click()
        await page.getByRole('heading', { name: 'Confirm your identity' }).waitFor()
      }
      await reissue()
      expect(await violations(page, 'dialog')).toEqual([])
      await screenshot(page, `fresh-${scheme}`)
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
    const { page } = await tests.open('light', 1280)
    await tests.signInByLink(page, tenant, 'keys')
    await loaded(page)
    tests.running.clock.advance(20 * MINUTE_MS)
    await button(page, 'Rotate').first().click()
    await page.getByRole('dialog').getByText('countersign tenant login-link').waitFor()
    expect(await violations(page, 'dialog')).toEqual([])
    await screenshot(page, 'fresh-tenant')
    await answer(page, 'Close').click()
    await page.getByRole('alert').getByText('open a new link').waitFor()
    await page.context().close()
  }, 60_000)
})
