/** One visit to a page with the capture component: what it says, what the person sees, and what the page complains of. */
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import { violations } from './browser.js'
import type { CameraPages } from './camera-page.js'

export interface Visit extends BrowserContextOptions {
  host?: string
  isAllowed?: boolean
  /** Run before the page's own scripts. */
  before?: string
}

export interface Heard {
  name: string
  // biome-ignore lint/suspicious/noExplicitAny: an event's detail, looked into freely
  detail: any
}

/** The capture of a challenge with wider limits than the service's, since a busy machine is slow to encode. */
export const PATIENT_CHALLENGE = {
  capture: {
    min_frames: 4,
    max_frames: 40,
    min_interval_ms: 60,
    max_interval_ms: 5000,
    min_duration_ms: 1000,
    max_duration_ms: 20_000,
  },
  expires_in: 90,
}

export class CaptureVisit {
  /** Errors and warnings of the page. */
  readonly complaints: string[] = []

  private constructor(readonly page: Page) {}

  /** @param query the component's attributes */
  static async open(
    browser: Browser,
    { port }: Pick<CameraPages, 'port'>,
    query: string,
    { host = 'localhost', isAllowed = true, before, ...options }: Visit = {},
  ): Promise<CaptureVisit> {
    const context = await browser.newContext({
      viewport: { width: 800, height: 900 },
      permissions: isAllowed ? ['camera'] : [],
      ...options,
    })
    // The test's own time limits it.
    context.setDefaultTimeout(0)
    const visit = new CaptureVisit(await context.newPage())
    const { page, complaints } = visit
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type()) && !message.text().includes('favicon'))
        complaints.push(message.text())
    })
    if (before) await page.addInitScript(before)
    await page.goto(`http://${host}:${port}/?${query}`)
    await page.waitForFunction("customElements.get('countersign-capture')")
    return visit
  }

  close(): Promise<void> {
    return this.page.context().close()
  }

  heard(name: string): Promise<Heard[]> {
    return this.page.evaluate(`heard.filter((one) => one.name === '${name}')`)
  }

  /** The first event of this name. */
  async hear(name: string): Promise<Heard> {
    await expect.poll(async () => (await this.heard(name)).length, POLL).toBeGreaterThan(0)
    return (await this.heard(name))[0]!
  }

  click(name: string): Promise<void> {
    return this.page.getByRole('button', { name, exact: true }).click()
  }

  focused(): Promise<unknown> {
    return this.page.evaluate('it.shadowRoot.activeElement?.textContent')
  }

  async startCamera(): Promise<void> {
    await this.click('Turn on camera')
    await this.hear('cs-ready')
    await this.page.evaluate(
      "{ globalThis.track = it.shadowRoot.querySelector('video').srcObject.getTracks()[0] }",
    )
  }

  async takePhoto(): Promise<void> {
    await this.startCamera()
    await this.click('Take photo')
    await this.hear('cs-capture')
  }

  async beginChallenge(challenge: object): Promise<void> {
    await this.startCamera()
    await this.setChallenge(challenge)
    await this.click('Begin')
  }

  /** @param name of the picture, in the folder that COUNTERSIGN_SCREENSHOTS names */
  async expectAccessible(name: string): Promise<void> {
    expect([name, ...(await violations(this.page))]).toEqual([name])
    expect(await this.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
    const { COUNTERSIGN_SCREENSHOTS } = process.env
    if (COUNTERSIGN_SCREENSHOTS)
      await this.page.screenshot({ path: join(COUNTERSIGN_SCREENSHOTS, `${name}.png`) })
  }

  /** State of the camera's track that `startCamera` found. */
  trackState(): Promise<unknown> {
    return this.page.evaluate('track.readyState')
  }

  setChallenge(challenge: object): Promise<unknown> {
    return this.page.evaluate(`{ it.challenge = ${JSON.stringify(challenge)} }`)
  }

  /** The pictures of the capture as data URLs, in order. */
  images(path: string): Promise<string[]> {
    return this.page.evaluate(`Promise.all(heard.find(({ name }) => name === 'cs-capture').detail.${path}.map((blob) =>
      new Promise((resolve) => {
        const reader = new FileReader()
        reader.onload = () => resolve(reader.result)
        reader.readAsDataURL(blob)
      })))`)
  }

  /** The text in a part of the component, or null where the part is not shown. */
  shown(part: string): Promise<string | null> {
    return this.page.evaluate(`(() => {
      const element = it.shadowRoot.querySelector('[part=${part}]')
      return element.checkVisibility() ? element.textContent : null
    })()`)
  }
}

const POLL = { timeout: 60_000 }
