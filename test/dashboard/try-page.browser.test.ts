/** "Try it" with a camera, in a real browser where one is installed (`apt install chromium`). */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { launchBeforeFilm } from '../support/camera-page.js'
import { type DashboardPage, inChromiumWith } from './page-tests.js'

inChromiumWith({}, launchBeforeFilm)('"try it" with a camera', (it, tests) => {
  async function openTryPage(page: DashboardPage, permissions = ['camera']): Promise<void> {
    await page.context().grantPermissions(permissions)
    // Only the time limit of the test applies.
    page.setDefaultTimeout(60000)
    // A busy machine is slow to encode, and the sandbox judges no frames.
    await page.route('**/try/call?operation=challenge', async (route) => {
      const response = await route.fetch()
      const answer = await response.json()
      if (answer.status === 201) answer.body.capture.max_interval_ms = 5000
      await route.fulfill({ response, json: answer })
    })
    await page.signInByLink(tests.tenant, 'try')
    await page.getByLabel('API key').fill(tests.tenant.sandboxKey)
  }

  const card = (page: Page, title: string) => page.locator('.card').filter({ hasText: title })

  /** Repeats the capture as often as a busy machine needs: a challenge with too few frames is not answered. */
  async function pass(page: DashboardPage): Promise<void> {
    const answered = page.locator('.answer')
    for (;;) {
      await page.button('Begin').click()
      const again = page.button('Try again')
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

  it.in('light 1280, dark 390, light 320')(
    "shows the service's answer to the frames of a challenge",
    async (page) => {
      await openTryPage(page)
      await tryChallenge(page, 'ada+match')
      await page.button('Begin').and(page.locator(':enabled')).waitFor()
      await page.inspect('try-live')
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
      await page.inspect('try-answered')
    },
  )

  it('separates the advice to the person from the reasons for the backend', async (page) => {
    await openTryPage(page)
    await tryChallenge(page, 'ada+flat')
    await pass(page)
    expect(await facts(page)).toMatchObject({
      Liveness: 'failed: active-geometry@1',
      acr: '0',
      'For the person': 'Please try again. (try_again)',
      'Reason, for your backend only': 'liveness_failed, flat',
    })
  })

  it('shows that fewer movements give a weaker acr', async (page) => {
    await openTryPage(page)
    await tryChallenge(page, 'ada+match', 'Only turns')
    await pass(page)
    expect(await facts(page)).toMatchObject({
      Liveness: 'passed: active-turn@1',
      acr: 'urn:countersign:acr:face-active-turn',
    })
  })

  it('gets guidance from the API with the tried key', async (page) => {
    await openTryPage(page)
    await tryChallenge(page, 'ada+too_dark')
    await page.getByText('It is too dark. Turn to the light.').first().waitFor()
  })

  it('shows why no challenge was issued, and turns the camera off', async (page) => {
    await openTryPage(page)
    await tryChallenge(page, 'nobody')
    await page.locator('.answer').getByText('reference_not_found', { exact: true }).waitFor()
    expect(await page.locator('countersign-capture').count()).toBe(0)
  })

  it('enrols by a challenge and by photos of the camera', async (page) => {
    await openTryPage(page)
    await page.getByLabel('User id').fill('grace')
    const enroll = card(page, '1. Enroll')
    await enroll.getByRole('button', { name: 'Challenge', exact: true }).click()
    await enroll.getByRole('button', { name: 'Enroll by a challenge' }).click()
    await pass(page)
    await page.locator('.answer').getByText('enrolled', { exact: true }).waitFor()
    await enroll.getByRole('button', { name: 'Photos', exact: true }).click()
    for (const count of ['1 of 3 photos', '2 of 3 photos']) {
      await enroll.getByRole('button', { name: 'Use the camera' }).click()
      await page.button('Take photo').click()
      await enroll.getByText(count).waitFor()
    }
    await enroll.getByRole('img', { name: 'Detected face and landmarks' }).waitFor()
    await enroll.getByRole('button', { name: 'Enroll these 2 photos' }).click()
    // Grace was enrolled by the challenge.
    await page.answer('Replace').click()
    await page.locator('.answer').getByText('enrolled', { exact: true }).waitFor()
  })

  it('reports a refused camera, and returns to the form', async (page) => {
    await openTryPage(page, [])
    const verify = card(page, '2. Verify')
    await verify.getByRole('button', { name: 'Use the camera' }).click()
    await verify.getByText('Access to the camera is blocked.').waitFor()
    await page.inspect()
    await verify.getByRole('button', { name: 'Close the camera' }).click()
    await verify.getByText('No photo yet').waitFor()
  })
})
