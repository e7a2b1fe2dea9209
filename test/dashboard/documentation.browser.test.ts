/** The documentation in a real browser: its search, its themes, its links to the dashboard and the API reference. */
import { describe, expect, it } from 'vitest'
import { CHROMIUM } from '../support/browser.js'
import { checkPage, PageTests, screenshot } from './page-tests.js'

describe.skipIf(!CHROMIUM)('the documentation in Chromium', () => {
  const tests = new PageTests()

  it('finds a word, opens the hit at its heading, and needs no session', async () => {
    const { page, errors } = await tests.open('light', 1280)
    await page.goto(`${tests.running.service.adminUrl}/docs`)
    await page.getByRole('heading', { level: 1, name: 'Documentation' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('searchbox').fill('RFC 9470')
    const hit = page.getByRole('option').filter({ hasText: 'Step-up on a route' }).first()
    await hit.waitFor()
    await screenshot(page, 'documentation-search')
    await hit.click()
    await page.getByRole('heading', { level: 1, name: 'Step-up on a route' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/docs/guides/step-up')
    expect(await page.context().cookies()).toEqual([])
    expect(errors).toEqual([])
    await page.context().close()
  }, 60_000)

  it('leads from the dashboard to the documentation, the API reference and back', async () => {
    const { page, errors } = await tests.open('light', 1280)
    await tests.signInOperator(page)
    await page.getByRole('link', { name: 'Documentation' }).click()
    await page.getByRole('link', { name: 'API reference' }).first().click()
    await page.getByText('/v1/keys/rotate-signing').first().waitFor()
    await page.getByRole('link', { name: 'Documentation' }).click()
    await page.getByRole('link', { name: 'Dashboard' }).click()
    await page.getByRole('heading', { level: 1, name: 'Tenants' }).waitFor()
    expect(errors).toEqual([])
    await page.context().close()
  }, 60_000)

  it('shows an error at the address that names its code', async () => {
    const { page, errors } = await tests.open('light', 1280)
    await page.goto(`${tests.running.service.adminUrl}/docs/errors#body_too_large`)
    await page.locator('#body_too_large').getByText('413').waitFor()
    await expect
      .poll(() => page.evaluate("document.getElementById('body_too_large').getBoundingClientRect().top"))
      .toBeLessThan(900)
    expect(errors).toEqual([])
    await page.context().close()
  }, 60_000)

  for (const [scheme, width] of [
    ['light', 1280],
    ['dark', 1280],
    ['light', 320],
    ['dark', 320],
  ] as const)
    it(`is accessible and fits the screen (${scheme}, ${width} px)`, async () => {
      const { page, errors } = await tests.open(scheme, width)
      const url = tests.running.service.adminUrl
      for (const name of ['', 'guides/step-up', 'errors', 'benchmarks']) {
        await page.goto(`${url}/docs/${name}`)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await checkPage(page, `documentation-${name.replace('/', '-') || 'index'}-${scheme}-${width}`)
      }
      expect(errors).toEqual([])
      await page.context().close()
    }, 120_000)
})
