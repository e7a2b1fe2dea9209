/** The documentation in a real browser: its search, its themes, its links to the dashboard and the API reference. */
import { expect } from 'vitest'
import { inChromium } from './page-tests.js'

inChromium('the documentation', (it, tests) => {
  it('finds a word, opens the hit at its heading, and needs no session', async (page) => {
    await page.goto(`${tests.running.service.adminUrl}/docs`)
    await page.heading(1, 'Documentation').waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('searchbox').fill('RFC 9470')
    const hit = page.getByRole('option').filter({ hasText: 'Step-up on a route' }).first()
    await hit.waitFor()
    await page.picture('documentation-search')
    await hit.click()
    await page.heading(1, 'Step-up on a route').waitFor()
    expect(new URL(page.url()).pathname).toBe('/docs/guides/step-up')
    expect(await page.context().cookies()).toEqual([])
  })

  it('leads from the dashboard to the documentation, the API reference and back', async (page) => {
    await page.signIn()
    await page.getByRole('link', { name: 'Documentation' }).click()
    await page.getByRole('link', { name: 'API reference' }).first().click()
    await page.getByText('/v1/keys/rotate-signing').first().waitFor()
    await page.getByRole('link', { name: 'Documentation' }).click()
    await page.getByRole('link', { name: 'Dashboard' }).click()
    await page.heading(1, 'Tenants').waitFor()
    await page.goto(`${tests.url}/docs/api`)
    await page.getByRole('link', { name: 'Dashboard' }).click()
    await page.heading(1, 'Tenants').waitFor()
  })

  it('shows an error at the address that names its code', async (page) => {
    await page.goto(`${tests.running.service.adminUrl}/docs/errors#body_too_large`)
    await page.locator('#body_too_large').getByText('413').waitFor()
    await expect
      .poll(() => page.evaluate("document.getElementById('body_too_large').getBoundingClientRect().top"))
      .toBeLessThan(900)
  })

  it.in('light 1280, dark 1280, light 320, dark 320')('is accessible and fits the screen', async (page) => {
    for (const name of ['', 'guides/step-up', 'errors', 'benchmarks']) {
      await page.goto(`${tests.url}/docs/${name}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.inspect(`documentation-${name.replace('/', '-') || 'index'}`)
    }
  })
})
