/** The pages in a real browser, where one is installed (`apt install chromium`). */
import { existsSync } from 'node:fs'
import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loginToken } from '../support/dashboard.js'
import { base64, face } from '../support/faces.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'

const EXECUTABLE = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  existsSync,
)
const PASSWORD = 'a password for the tests'
const TENANT_PAGES = ['overview', 'keys', 'audit', 'try', 'erase']

describe.skipIf(!EXECUTABLE)('the dashboard in Chromium', () => {
  let running: TestService
  let tenant: TestTenant
  let browser: Browser

  beforeAll(async () => {
    running = await startService({ COUNTERSIGN_OPERATOR_PASSWORD: PASSWORD })
    tenant = await running.tenant()
    const production = await running.production(tenant)
    const image = base64(await face('ada'))
    await production.enroll({ user_id: 'ada', image })
    await production.verify({ user_id: 'ada', image, action: 'x' })
    browser = await chromium.launch({ executablePath: EXECUTABLE!, args: ['--no-sandbox'] })
  })
  afterAll(async () => {
    await browser?.close()
    await running?.stop()
  })

  /** A page whose every error fails the test that looks at `errors`. */
  async function open(
    colorScheme: 'light' | 'dark',
    width = 1280,
  ): Promise<{ page: Page; errors: string[] }> {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } })
    const page = await context.newPage()
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(error.message))
    page.on('console', (message) => {
      const isSignedOut = message.text().includes('401')
      if (message.type() === 'error' && !isSignedOut) errors.push(message.text())
    })
    return { page, errors }
  }

  async function signInByLink(page: Page): Promise<void> {
    await page.goto(`${running.service.adminUrl}/#/login/${await loginToken(running, tenant.id)}`)
    await page.getByRole('heading', { level: 1, name: /Overview/ }).waitFor()
  }

  const loaded = (page: Page) =>
    expect.poll(() => page.getByText('Loading…').count(), { timeout: 20_000 }).toBe(0)

  async function violations(page: Page): Promise<string[]> {
    await page.evaluate(axe.source)
    const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run())
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  }

  for (const scheme of ['light', 'dark'] as const)
    it(`every page of a tenant is accessible and free of errors, ${scheme}`, async () => {
      const { page, errors } = await open(scheme)
      await signInByLink(page)
      expect(page.url()).not.toContain('login')
      for (const name of TENANT_PAGES) {
        await page.goto(`${running.service.adminUrl}/#/${name}`)
        await page.locator('.card').first().waitFor()
        await loaded(page)
        expect([name, ...(await violations(page))]).toEqual([name])
      }
      expect(errors).toEqual([])
      await page.context().close()
    }, 90_000)

  it('every page of the operator is accessible, and no page is wider than a phone', async () => {
    const { page, errors } = await open('light', 390)
    await page.goto(running.service.adminUrl)
    await page.getByLabel('Operator password').waitFor()
    expect(await violations(page)).toEqual([])
    await page.getByLabel('Operator password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    for (const path of ['tenants', 'system', ...TENANT_PAGES.map((name) => `tenants/${tenant.id}/${name}`)]) {
      await page.goto(`${running.service.adminUrl}/#/${path}`)
      await page.locator('nav').waitFor()
      await loaded(page)
      expect([path, ...(await violations(page))]).toEqual([path])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    }
    expect(errors).toEqual([])
    await page.context().close()
  }, 90_000)

  it('rotates the secret and counts the overlap down', async () => {
    const { page } = await open('light')
    await signInByLink(page)
    await page.goto(`${running.service.adminUrl}/#/keys`)
    await page.getByRole('button', { name: 'Rotate the signing secret' }).click()
    expect(await page.locator('.reveal code').textContent()).toMatch(/^svc-sec-/)
    expect(await page.getByRole('timer').textContent()).toMatch(/^\d+:\d\d$/)
    await page.context().close()
  }, 60_000)

  it('shows the face, the verdict, the signature and the JWT of a tried photo', async () => {
    const { page, errors } = await open('light')
    await signInByLink(page)
    await page.goto(`${running.service.adminUrl}/#/try`)
    await page.getByLabel('API key').fill(tenant.sandboxKey)
    await page.getByLabel('User id').fill('u+match')
    const photo = { name: 'ada.jpg', mimeType: 'image/jpeg', buffer: await face('ada') }
    await page.getByLabel('Photo to verify').setInputFiles(photo)
    await page.getByRole('img', { name: 'Detected face and landmarks' }).waitFor()
    await page.getByRole('button', { name: 'Verify this photo' }).click()
    const answer = page.locator('.answer')
    await answer.getByText('approved', { exact: true }).waitFor()
    expect(await answer.getByText('valid', { exact: true }).count()).toBe(2)
    expect(errors).toEqual([])
    await page.context().close()
  }, 60_000)

  it('renders the API reference under its content policy', async () => {
    const { page, errors } = await open('light')
    await page.goto(`${running.service.adminUrl}/docs`)
    await page.getByText('/v1/keys/rotate-signing').first().waitFor()
    expect(errors).toEqual([])
    await page.context().close()
  }, 60_000)
})
