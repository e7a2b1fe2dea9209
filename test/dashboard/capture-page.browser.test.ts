/** The page with the settings of the hosted capture page, in a real browser. */
import type { Browser } from 'playwright-core'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHROMIUM, launchBrowser, loaded, openPage, violations } from '../support/browser.js'
import { loginToken } from '../support/dashboard.js'
import { startService, type TestService } from '../support/service.js'

/** Folder for screenshots of the pages, for people to look at. */
const PICTURES = process.env.COUNTERSIGN_TEST_PICTURES

describe.skipIf(!CHROMIUM)('the settings of the capture page in Chromium', () => {
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
    it(`are previewed while they are typed, saved, and refused with a reason (${scheme}, ${width} px)`, async () => {
      const tenant = await running.tenant()
      const url = running.service.adminUrl
      const { page, errors } = await openPage(browser, running, { colorScheme: scheme, width })
      const save = page.getByRole('button', { name: 'Save', exact: true })
      await page.goto(`${url}/#/login/${await loginToken(running, tenant.id)}`)
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
      await page.goto(`${url}/#/capture-page`)
      await page.getByLabel('Company').fill('Beispielbank')
      await page.getByLabel('Consent text', { exact: true }).fill('We compare your face.')
      await page.getByLabel('Version of the consent text').fill('2026-11')
      await page.locator('.capture-preview.dark').getByText('We compare your face.').waitFor()
      await page.getByLabel('Color', { exact: true }).fill('#FFCC00')
      await page.getByText('Shown as #').waitFor()
      const buffer = await sharp({
        create: { width: 300, height: 80, channels: 4, background: { r: 0, g: 51, b: 102, alpha: 1 } },
      })
        .png()
        .toBuffer()
      const file = { name: 'logo.png', mimeType: 'image/png', buffer }
      const logo = page.getByLabel('Choose a logo')
      await logo.setInputFiles({ ...file, buffer: Buffer.alloc(600 * 1024) })
      await page.getByRole('alert').getByText('at most 512 KiB').waitFor()
      await logo.setInputFiles(file)
      await page.getByRole('img', { name: 'Logo' }).first().waitFor()
      await page.getByLabel('Return origins').fill('https://shop.example.com/back')
      await save.click()
      await page.getByRole('alert').getByText('is not an origin').waitFor()
      await page.getByLabel('Return origins').fill('https://shop.example.com')
      await save.click()
      await page.getByText('Saved.').waitFor()
      await loaded(page)
      expect(await violations(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      if (PICTURES)
        await page.screenshot({ path: `${PICTURES}/capture-settings-${scheme}-${width}.png`, fullPage: true })
      await page.reload()
      expect(await page.getByLabel('Company').inputValue()).toBe('Beispielbank')
      expect(await page.getByLabel('Color', { exact: true }).inputValue()).toBe('#ffcc00')
      await page.getByRole('img', { name: 'Logo' }).first().waitFor()
      await page.getByRole('button', { name: 'Remove the logo' }).click()
      await save.click()
      await page.getByText('Saved.').waitFor()
      await page.reload()
      await page.getByLabel('Choose a logo').waitFor({ state: 'attached' })
      expect(await page.getByRole('img', { name: 'Logo' }).count()).toBe(0)
      expect(errors.filter((text) => !text.includes('400'))).toEqual([])
      await page.context().close()
    }, 60_000)
})
