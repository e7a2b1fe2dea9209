/** The page of the second factor, and the sign-in with it, in a real browser. */

import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { MINUTE_MS } from '../../src/lib/clock.js'
import { OPERATOR_PASSWORD } from '../support/operator.js'
import { codeAt } from './console.js'
import { inChromium, NARROW } from './page-tests.js'

inChromium('a second factor', (it, tests) => {
  const codeOf = (secret: string) => codeAt(tests.running, secret)

  it.in(NARROW)('is added by its QR code, and required at the next sign-in', async (page) => {
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    await page.signIn('second-factor')
    await button('Add a second factor').click()
    await page.getByRole('img', { name: 'QR code' }).waitFor()
    await page.inspect('second-factor')
    const [secret] = await page.locator('.copyable code').allTextContents()
    await page.getByLabel('Code', { exact: true }).fill(codeOf(secret!))
    await page.keyboard.press('Enter')
    await page.getByText('Recovery codes').first().waitFor()
    await page.getByText('You need a code to sign in').waitFor()
    await page.inspect('recovery')

    tests.running.clock.advance(MINUTE_MS)
    await button('Sign out').click()
    await page.getByLabel('Password', { exact: true }).fill(OPERATOR_PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByLabel('Code of your app').fill(codeOf(secret!))
    await page.inspect('sign-in')
    await page.keyboard.press('Enter')
    await page.heading(1, 'Tenants').waitFor()
    await page.inspect()

    // A sign-in link asks for a code as well, and a code removes the second factor.
    tests.running.clock.advance(MINUTE_MS)
    const { operators } = tests.running.operations
    const link = await operators.createSignInLink('operator', tests.url, COMMAND_LINE)
    await button('Sign out').click()
    await page.getByLabel('Password', { exact: true }).waitFor()
    await page.goto(link)
    await page.getByLabel('Code of your app').fill(codeOf(secret!))
    await page.inspect()
    await page.keyboard.press('Enter')
    await page.heading(1, 'Tenants').waitFor()
    tests.running.clock.advance(MINUTE_MS)
    await page.go('second-factor')
    await button('Remove…').click()
    await page.getByLabel('Code of your app').fill(codeOf(secret!))
    await page.inspectDialog()
    await page.keyboard.press('Enter')
    await button('Add a second factor').waitFor()
    tests.running.clock.advance(MINUTE_MS)
  })
})
