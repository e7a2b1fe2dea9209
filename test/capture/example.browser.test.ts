/** docs/examples/capture as a person uses it, through camera, component, the customer's backend and the service's sandbox to a verdict. */
import type { Browser, Page } from 'playwright-core'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHROMIUM, violations } from '../support/browser.js'
import { launchBeforeFilm } from '../support/camera-page.js'
import { type CaptureExample, patientPage, startCaptureExample } from '../support/capture-example.js'
import { FILM } from '../support/film.js'
import { startService, type TestService } from '../support/service.js'

describe.skipIf(!CHROMIUM)('the example of the capture component', { timeout: 180_000 }, () => {
  let running: TestService
  let browser: Browser
  let backend: CaptureExample

  beforeAll(async () => {
    running = await startService()
    // The example uses the system's clock.
    running.clock.now = Date.now
    const tenant = await running.tenant()
    browser = await launchBeforeFilm()
    const baseUrl = running.service.url('sandbox')
    backend = await startCaptureExample(tenant, { baseUrl, apiKey: tenant.sandboxKey })
  })
  afterAll(async () => {
    await backend?.stop()
    await browser?.close()
    await running?.stop()
  })

  /** @returns the page and its error messages */
  async function open(user: string): Promise<{ page: Page; complaints: string[] }> {
    const context = await browser.newContext({ permissions: ['camera'] })
    const { page, complaints } = await patientPage(context)
    await page.goto(`${backend.address}/?user=${encodeURIComponent(user)}`)
    return { page, complaints }
  }

  /** The component's text for the bank's answer, or undefined when the camera was too slow, as on a busy machine. */
  async function outcome(page: Page): Promise<string | undefined> {
    const done = page.locator('countersign-capture [part=done]')
    const refused = page.locator('countersign-capture [part=error]')
    await done.or(refused).filter({ visible: true, hasNotText: 'Captured.' }).first().waitFor()
    const said = (await ((await done.isVisible()) ? done : refused).textContent())!
    return said.includes('too slow') ? undefined : said
  }

  /** Repeats the capture as often as a busy machine needs: a challenge with too few frames is not answered. */
  async function confirm(page: Page): Promise<string> {
    await page.getByRole('button', { name: 'Turn on camera' }).click()
    for (;;) {
      await page.getByRole('button', { name: 'Begin' }).click()
      const said = await outcome(page)
      if (said !== undefined) return said
      await page.getByRole('button', { name: 'Try again' }).click()
    }
  }

  it('executes a transfer that a checked verdict allows', async () => {
    const { page, complaints } = await open('ada+match')
    const carriedOut = page.waitForResponse((response) => response.url().endsWith('/transfers'))
    expect(await confirm(page)).toBe('1250.00 went to Grace.')
    const response = await carriedOut
    expect(await response.json()).toEqual({
      done: { type: 'transfer', amount: '1250.00', to: 'Grace' },
      countersigned: expect.stringMatching(/^ver_/),
    })
    const { frames } = response.request().postDataJSON()
    expect(frames.length).toBeGreaterThanOrEqual(16)
    const { width, height } = await sharp(Buffer.from(frames[0].image.split(',')[1], 'base64')).metadata()
    expect([width, height]).toEqual([FILM.width, FILM.height])
    expect(complaints).toEqual([])
  })

  it('executes nothing when the frames show no living person', async () => {
    const { page } = await open('ada+flat')
    const refused = page.waitForResponse((response) => response.url().endsWith('/transfers'))
    expect(await confirm(page)).toBe('Not confirmed. Please try again.')
    const body = await (await refused).json()
    expect(Object.keys(body).sort()).toEqual(['again', 'guidance', 'message'])
    // The page shows no sign of success together with the refusal.
    expect(
      await page
        .locator('countersign-capture')
        .getByText(/Done|Captured/)
        .filter({ visible: true })
        .count(),
    ).toBe(0)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('button', { name: 'Begin' }).waitFor()
  })

  it('says that the capture is being checked until the bank answers', async () => {
    const { page } = await open('ada+match')
    let answer = () => {}
    await page.route('**/transfers', async (route) => {
      await new Promise<void>((resolve) => {
        answer = resolve
      })
      await route.continue()
    })
    const said = confirm(page)
    const checking = page.getByText('Checking. Please wait.')
    const tooSlow = page.getByText('too slow')
    // A busy machine needs several tries.
    while (!(await checking.isVisible())) await checking.or(tooSlow).first().waitFor()
    expect(
      await page
        .getByText(/Done|Captured/)
        .filter({ visible: true })
        .count(),
    ).toBe(0)
    answer()
    expect(await said).toBe('1250.00 went to Grace.')
  })

  it('does not start the camera for a user who is locked out, and offers another way', async () => {
    const { page } = await open('ada+locked_out')
    await page.getByRole('button', { name: 'Turn on camera' }).click()
    await page.getByText('No more tries for now').waitFor()
    expect(await page.getByRole('button').filter({ visible: true }).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Confirm by a call instead' }).isVisible()).toBe(true)
  })

  it('works with only the keyboard, also after a refusal, and is accessible in every step', async () => {
    const { page, complaints } = await open('ada+flat')
    const focused = () =>
      page.evaluate(
        '(document.activeElement.shadowRoot?.activeElement ?? document.activeElement).textContent',
      )
    const press = async (button: string) => {
      if ((await focused()) !== button) await page.keyboard.press('Tab')
      expect(await focused()).toBe(button)
      await page.keyboard.press('Enter')
    }
    const looked = async (state: string) => expect([state, ...(await violations(page))]).toEqual([state])
    await looked('idle')
    await press('Turn on camera')
    for (;;) {
      await expect.poll(focused).toBe('Begin')
      await looked('live')
      await page.keyboard.press('Enter')
      if (await outcome(page)) break
      await press('Try again')
    }
    expect(await focused()).toBe('Not confirmed. Please try again.')
    await looked('refused')
    await press('Try again')
    await expect.poll(focused).toBe('Begin')
    await page.keyboard.press('Escape')
    expect(await focused()).toBe('Turn on camera')
    expect(complaints).toEqual([])
  })

  it('guides the person by the service’s advice on small frames', async () => {
    const { page, complaints } = await open('ada+too_dark')
    const guided = page.waitForResponse((response) => new URL(response.url()).pathname === '/guidance')
    await page.getByRole('button', { name: 'Turn on camera' }).click()
    const response = await guided
    expect(await response.json()).toEqual({ guidance: ['too_dark'] })
    const { width, height } = await sharp(response.request().postDataBuffer()!).metadata()
    expect(Math.max(width, height)).toBeLessThanOrEqual(320)
    await page.getByText('Turn to the light').first().waitFor()
    expect(complaints).toEqual([])
  })

  it('keeps the nonce of a challenge from the browser', async () => {
    const response = await fetch(`${backend.address}/challenges`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Cookie: 'user=ada%2Bmatch' },
      body: JSON.stringify({ amount: '1.00', to: 'Grace' }),
    })
    const body = (await response.json()) as { steps: string[] }
    expect(body.steps[0]).toBe('frontal')
    expect(body).not.toHaveProperty('nonce')
  })
})
