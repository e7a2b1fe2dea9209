/** The charts of the overview for people who cannot see them or cannot distinguish red from green. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHROMIUM, launchBrowser, loaded, openPage, violations } from '../support/browser.js'
import { loginToken } from '../support/dashboard.js'
import { base64, face } from '../support/faces.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'

/** Folder for screenshots of the pages, for people to look at. */
const PICTURES = process.env.COUNTERSIGN_TEST_PICTURES

describe.skipIf(!CHROMIUM)('the charts of the overview in Chromium', () => {
  let running: TestService
  let tenant: TestTenant
  let browser: Browser

  beforeAll(async () => {
    running = await startService()
    tenant = await running.tenant()
    const image = base64(await face('ada'))
    for (const userId of ['a+match', 'b+match', 'c+no_match', 'd+no_face'])
      await tenant.sandbox.verify({ user_id: userId, image, action: 'x' })
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await running?.stop()
  })

  for (const [scheme, width] of [
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ] as const)
    it(`have tables with their figures (${scheme}, ${width} px)`, async () => {
      const { page, errors } = await openPage(browser, running, { colorScheme: scheme, width })
      const url = running.service.adminUrl
      await page.goto(`${url}/#/login/${await loginToken(running, tenant.id)}`)
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
      await page.goto(`${url}/#/overview?environment=sandbox`)
      await loaded(page)
      const verdicts = page.locator('.card', { has: page.getByRole('heading', { name: 'Verdicts' }) })
      await verdicts.getByText('Show as table').click()
      const table = verdicts.getByRole('table').last()
      expect(await table.getByRole('columnheader').allInnerTexts()).toEqual([
        expect.stringMatching(/^Time in /),
        'Rejected',
        'Approved',
      ])
      const counts = async (column: number) => {
        const cells = await table.locator(`tbody td:nth-child(${column})`).allInnerTexts()
        return cells.reduce((sum, text) => sum + Number(text), 0)
      }
      await expect.poll(() => counts(2)).toBe(1)
      await expect.poll(() => counts(3)).toBe(2)
      expect(await violations(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
      // The bars of rejections are striped, also in the legend.
      const markers = verdicts.locator('.u-legend .u-marker')
      const fills = await Promise.all(
        (await markers.all()).map(async (marker) => (await marker.getAttribute('style')) ?? ''),
      )
      expect(fills.filter((fill) => fill.includes('gradient'))).toHaveLength(1)
      if (PICTURES)
        await page.screenshot({ path: `${PICTURES}/charts-${scheme}-${width}.png`, fullPage: true })
      expect(errors).toEqual([])
      await page.context().close()
    }, 60_000)
})
