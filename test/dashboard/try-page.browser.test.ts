/** "Try it" with a camera, in a real browser where one is installed (`apt install chromium`). */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHROMIUM, openPage, type PageOptions, violations } from '../support/browser.js'
import { launchWithCamera } from '../support/camera-page.js'
import { loginToken } from '../support/dashboard.js'
import { writeFaceFilm } from '../support/film.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'

const LIGHT: PageOptions = { colorScheme: 'light', width: 1280, permissions: ['camera'] }

describe.skipIf(!CHROMIUM)('"try it" with a camera', { timeout: 180_000 }, () => {
  let running: TestService
  let tenant: TestTenant
  let folder: string
  let browser: Browser

  beforeAll(async () => {
    running = await startService()
    tenant = await running.tenant()
    folder = await mkdtemp(join(tmpdir(), 'countersign-try-page-'))
    const film = join(folder, 'film.y4m')
    await writeFaceFilm(film)
    browser = await launchWithCamera(film)
  })
  afterAll(async () => {
    await browser?.close()
    await running?.stop()
    if (folder) await rm(folder, { recursive: true, force: true })
  })

  async function openTryPage(options: PageOptions): Promise<{ page: Page; errors: string[] }> {
    const { page, errors } = await openPage(browser, running, options)
    // Only the time limit of the test applies.
    page.setDefaultTimeout(60000)
    // A busy machine is slow to encode, and the sandbox judges no frames.
    await page.route('**/try/call?operation=challenge', async (route) => {
      const response = await route.fetch()
      const answer = await response.json()
      if (answer.status === 201) answer.body.capture.max_interval_ms = 5000
      await route.fulfill({ response, json: answer })
    })
    await page.goto(`${running.service.adminUrl}/#/login/${await loginToken(running, tenant.id)}`)
    await page.getByRole('heading', { level: 1, name: /Overview/ }).waitFor()
    await page.goto(`${running.service.adminUrl}/#/try`)
    await page.getByLabel('API key').fill(tenant.sandboxKey)
    return { page, errors }
  }

  const card = (page: Page, title: string) => page.locator('.card').filter({ hasText: title })

  /** Repeats the capture as often as a busy machine needs: a challenge with too few frames is not answered. */
  async function pass(page: Page): Promise<void> {
    const answered = page.locator('.answer')
    for (;;) {
      await page.getByRole('button', { name: 'Begin' }).click()
      const again = page.getByRole('button', { name: 'Try again' })
      await again.or(answered).waitFor()
      if (await answered.count()) return
      await again.click()
    }
  }

  async function tryChallenge(page: Page, userId: string, movements?: string): Promise<void> {
    await page.getByLabel('User id').fill(userId)
    const verify = card(page, '2. Verify')
    await verify.getByRole('button', { name: 'Challenge', exact: true }).click()
    if (movements) await verify.getByLabel('Movements').selectOption(movements)
    await verify.getByRole('button', { name: 'Verify by a challenge' }).click()
  }

  const facts = async (page: Page): Promise<Record<string, string>> =>
    Object.fromEntries(
      await Promise.all(
        (await page.locator('.answer .facts > div').all()).map(
          async (row) =>
            [await row.locator('dt').textContent(), await row.locator('dd').textContent()] as const,
        ),
      ),
    )

  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 390],
    ['light', 320],
  ] as const)
    it(`shows the service's answer to the frames of a challenge (${colorScheme}, ${width} px)`, async () => {
      const { page, errors } = await openTryPage({ ...LIGHT, colorScheme, width })
      const look = async (state: string) => {
        expect([state, ...(await violations(page))]).toEqual([state])
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
        const { COUNTERSIGN_SCREENSHOTS } = process.env
        if (!COUNTERSIGN_SCREENSHOTS) return
        const path = join(COUNTERSIGN_SCREENSHOTS, `try-${state}-${colorScheme}-${width}.png`)
        await page.screenshot({ path, fullPage: true })
      }
      await tryChallenge(page, 'ada+match')
      await page.getByRole('button', { name: 'Begin' }).and(page.locator(':enabled')).waitFor()
      await look('live')
      await pass(page)
      await page.locator('.answer').getByText('approved', { exact: true }).waitFor()
      expect(await facts(page)).toMatchObject({
        Liveness: 'passed: active-geometry@1',
        acr: 'urn:countersign:acr:face-active',
        Signature: 'valid',
        JWT: 'valid',
      })
      const frames = page.getByRole('list', { name: /frames that were sent/ }).getByRole('img')
      expect(await frames.count()).toBeGreaterThanOrEqual(16)
      expect(await frames.first().getAttribute('alt')).toBe('frontal, after 0 ms')
      expect(await page.locator('countersign-capture').count()).toBe(0)
      await look('answered')
      expect(errors).toEqual([])
      await page.context().close()
    })

  it('separates the advice to the person from the reasons for the backend', async () => {
    const { page } = await openTryPage(LIGHT)
    await tryChallenge(page, 'ada+flat')
    await pass(page)
    expect(await facts(page)).toMatchObject({
      Liveness: 'failed: active-geometry@1',
      acr: '0',
      'For the person': 'Please try again. (try_again)',
      'Reason, for your backend only': 'liveness_failed, flat',
    })
    await page.context().close()
  })

  it('shows that fewer movements give a weaker acr', async () => {
    const { page } = await openTryPage(LIGHT)
    await tryChallenge(page, 'ada+match', 'Only turns')
    await pass(page)
    expect(await facts(page)).toMatchObject({
      Liveness: 'passed: active-turn@1',
      acr: 'urn:countersign:acr:face-active-turn',
    })
    await page.context().close()
  })

  it('gets guidance from the API with the tried key', async () => {
    const { page, errors } = await openTryPage(LIGHT)
    await tryChallenge(page, 'ada+too_dark')
    await page.getByText('It is too dark. Turn to the light.').first().waitFor()
    expect(errors).toEqual([])
    await page.context().close()
  })

  it('shows why no challenge was issued, and turns the camera off', async () => {
    const { page } = await openTryPage(LIGHT)
    await tryChallenge(page, 'nobody')
    await page.locator('.answer').getByText('reference_not_found', { exact: true }).waitFor()
    expect(await page.locator('countersign-capture').count()).toBe(0)
    await page.context().close()
  })

  it('enrols by a challenge and by photos of the camera', async () => {
    const { page, errors } = await openTryPage(LIGHT)
    await page.getByLabel('User id').fill('grace')
    const enroll = card(page, '1. Enroll')
    await enroll.getByRole('button', { name: 'Challenge', exact: true }).click()
    await enroll.getByRole('button', { name: 'Enroll by a challenge' }).click()
    await pass(page)
    await page.locator('.answer').getByText('enrolled', { exact: true }).waitFor()
    await enroll.getByRole('button', { name: 'Photos', exact: true }).click()
    for (const count of ['1 of 3 photos', '2 of 3 photos']) {
      await enroll.getByRole('button', { name: 'Use the camera' }).click()
      await page.getByRole('button', { name: 'Take photo' }).click()
      await enroll.getByText(count).waitFor()
    }
    await enroll.getByRole('img', { name: 'Detected face and landmarks' }).waitFor()
    await enroll.getByRole('button', { name: 'Enroll these 2 photos' }).click()
    // Grace was enrolled by the challenge.
    await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click()
    await page.locator('.answer').getByText('enrolled', { exact: true }).waitFor()
    expect(errors).toEqual([])
    await page.context().close()
  })

  it('reports a refused camera, and returns to the form', async () => {
    const { page } = await openTryPage({ ...LIGHT, permissions: [] })
    const verify = card(page, '2. Verify')
    await verify.getByRole('button', { name: 'Use the camera' }).click()
    await verify.getByText('Access to the camera is blocked.').waitFor()
    expect(await violations(page)).toEqual([])
    await verify.getByRole('button', { name: 'Close the camera' }).click()
    await verify.getByText('No photo yet').waitFor()
    await page.context().close()
  })
})
