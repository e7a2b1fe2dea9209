/** The page of the second factor, and the sign-in with it, in a real browser. */

import { describe, expect, it } from 'vitest'
import { totpCode, totpStep } from '../../src/admin/accounts/totp.js'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { MINUTE_MS } from '../../src/lib/clock.js'
import { CHROMIUM, loaded, violations } from '../support/browser.js'
import { operationsOf } from '../support/operations.js'
import { OPERATOR_PASSWORD } from '../support/operator.js'
import { PageTests, screenshot } from './page-tests.js'

describe.skipIf(!CHROMIUM)('a second factor in Chromium', () => {
  const tests = new PageTests()

  const codeOf = (secret: string) => {
    const bits = [...secret].map((one) =>
      'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(one).toString(2).padStart(5, '0'),
    )
    const bytes = bits
      .join('')
      .match(/.{8}/g)!
      .map((byte) => Number.parseInt(byte, 2))
    return totpCode(Buffer.from(bytes), totpStep(tests.running.clock.now()))
  }

  for (const [scheme, width] of [
    ['light', 1280],
    ['dark', 360],
  ] as const)
    it(`is added by its QR code, and required at the next sign-in (${scheme}, ${width} px)`, async () => {
      const { page, errors } = await tests.open(scheme, width)
      const button = (name: string) => page.getByRole('button', { name, exact: true })
      await page.goto(tests.running.service.adminUrl)
      await page.getByLabel('Password', { exact: true }).fill(OPERATOR_PASSWORD)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Tenants' }).waitFor()
      await page.goto(`${tests.running.service.adminUrl}/#/second-factor`)
      await button('Add a second factor').click()
      await page.getByRole('img', { name: 'QR code' }).waitFor()
      expect(await violations(page)).toEqual([])
      await screenshot(page, `second-factor-${scheme}`)
      const [secret] = await page.locator('.copyable code').allTextContents()
      await page.getByLabel('Code', { exact: true }).fill(codeOf(secret!))
      await page.keyboard.press('Enter')
      await page.getByText('Recovery codes').first().waitFor()
      await page.getByText('You need a code to sign in').waitFor()
      expect(await violations(page)).toEqual([])
      await screenshot(page, `recovery-${scheme}`)

      tests.running.clock.advance(MINUTE_MS)
      await button('Sign out').click()
      await page.getByLabel('Password', { exact: true }).fill(OPERATOR_PASSWORD)
      await page.keyboard.press('Enter')
      await page.getByLabel('Code of your app').fill(codeOf(secret!))
      expect(await violations(page)).toEqual([])
      await screenshot(page, `sign-in-${scheme}`)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Tenants' }).waitFor()
      await loaded(page)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
      expect(errors).toEqual([])

      // A sign-in link asks for a code as well, and a code removes the second factor.
      tests.running.clock.advance(MINUTE_MS)
      const link = await operationsOf(tests.running.service).operators.createSignInLink(
        'operator',
        tests.running.service.adminUrl,
        COMMAND_LINE,
      )
      await button('Sign out').click()
      await page.getByLabel('Password', { exact: true }).waitFor()
      await page.goto(link)
      await page.getByLabel('Code of your app').fill(codeOf(secret!))
      expect(await violations(page)).toEqual([])
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Tenants' }).waitFor()
      tests.running.clock.advance(MINUTE_MS)
      await page.goto(`${tests.running.service.adminUrl}/#/second-factor`)
      await button('Remove…').click()
      await page.getByLabel('Code of your app').fill(codeOf(secret!))
      expect(await violations(page, 'dialog')).toEqual([])
      await page.keyboard.press('Enter')
      await button('Add a second factor').waitFor()
      await page.context().close()
      tests.running.clock.advance(MINUTE_MS)
    }, 60_000)
})
