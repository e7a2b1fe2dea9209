/** The pages of sessions, and the prompt for a fresh sign-in, in a real browser. */
import { expect } from 'vitest'
import { MINUTE_MS } from '../../src/lib/clock.js'
import { loaded } from '../support/browser.js'
import { loginToken, signIn } from '../support/dashboard.js'
import { OPERATOR_PASSWORD } from '../support/operator.js'
import { inChromium, NARROW } from './page-tests.js'

inChromium('sessions', (it, tests) => {
  it.in(NARROW)('are listed, and any of them can be ended', async (page) => {
    const theirs = await signIn(tests.running, {
      login_token: await loginToken(tests.running, tests.tenant.id),
    })
    await page.signIn('sessions')
    await page.getByText('this one').waitFor()
    await page.getByText('Chrome on Linux').first().waitFor()
    await page.inspect('sessions')
    await page.button(`End… the session of tenant ${tests.tenant.name}`).click()
    await page.inspectDialog()
    await page.answer('End').click()
    await expect.poll(async () => (await theirs.call('GET', '/session')).status).toBe(401)
    await page.go(`tenants/${tests.tenant.id}/sessions`)
    await page.getByText('Nobody is signed in').waitFor()
    await page.inspect()
  })

  it.in(NARROW)('ask an operator for the password again before a key is made', async (page) => {
    page.tolerate('403')
    await page.signIn(`tenants/${tests.tenant.id}/keys`)
    await loaded(page)
    tests.running.clock.advance(20 * MINUTE_MS)
    const reissue = async () => {
      await page.button('Reissue sandbox key').click()
      await page.answer('Reissue').click()
      await page.getByRole('heading', { name: 'Confirm your identity' }).waitFor()
    }
    await reissue()
    await page.inspectDialog()
    await page.picture('fresh')
    await page.answer('Cancel').click()
    await page.getByRole('alert').getByText('fresh sign-in').waitFor()
    expect(await page.locator('.reveal').count()).toBe(0)
    await reissue()
    await page.getByLabel('Your password').fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByText('The password is wrong').waitFor()
    await page.getByLabel('Your password').fill(OPERATOR_PASSWORD)
    await page.keyboard.press('Enter')
    await page.locator('.reveal strong').getByText('New sandbox key').waitFor()
  })

  it('ask a tenant for a new login link when a fresh sign-in is required', async (page) => {
    await page.signInByLink(tests.tenant, 'keys')
    await loaded(page)
    tests.running.clock.advance(20 * MINUTE_MS)
    page.tolerate('403')
    await page.button('Rotate').first().click()
    await page.getByRole('dialog').getByText('countersign tenant login-link').waitFor()
    await page.inspectDialog()
    await page.picture('fresh-tenant')
    await page.answer('Close').click()
    await page.getByRole('alert').getByText('open a new link').waitFor()
  })
})
