/** A real browser over the dashboard, where one is installed (`apt install chromium`). */
import { existsSync } from 'node:fs'
import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { expect } from 'vitest'
import { SECOND_MS } from '../../src/lib/clock.js'
import type { TestService } from './service.js'

/** Undefined where there is none. */
export const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  existsSync,
)

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM!, args: ['--no-sandbox'] })
}

export interface PageOptions {
  colorScheme: 'light' | 'dark'
  width: number
  /** Permissions that the browser grants, such as `camera`. */
  permissions?: string[]
}

/** A page whose every error fails the test that looks at `errors`. */
export async function openPage(
  browser: Browser,
  running: TestService,
  { colorScheme, width, permissions = [] }: PageOptions,
): Promise<{ page: Page; errors: string[] }> {
  // Time for one more sign-in from this address.
  running.clock.advance(10 * SECOND_MS)
  const context = await browser.newContext({ colorScheme, permissions, viewport: { width, height: 900 } })
  const page = await context.newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => {
    const isSignedOut = message.text().includes('401')
    if (message.type() === 'error' && !isSignedOut) errors.push(message.text())
  })
  return { page, errors }
}

export const loaded = (page: Page) =>
  expect.poll(() => page.getByText('Loading…').count(), { timeout: 20_000 }).toBe(0)

/** @param scope what is looked at; everything where it is not named */
export async function violations(page: Page, scope = 'html'): Promise<string[]> {
  // A page keeps it from one route to the next.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source)
  // Colours between two states are nobody's; what goes on for good is not waited for.
  await page.evaluate(
    `Promise.all(document.getAnimations()
      .filter((animation) => Number.isFinite(animation.effect?.getComputedTiming().endTime))
      .map((animation) => animation.finished.catch(() => {}))).then(() => {})`,
  )
  const { violations: found } = await page.evaluate(
    (root) => (globalThis as unknown as { axe: typeof axe }).axe.run(root, { resultTypes: ['violations'] }),
    scope,
  )
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

/** Waits until a link of the capture page shows its session, or says why it does not: the first page only begins. */
export async function begun(page: Page): Promise<void> {
  await page.waitForFunction(`!document.querySelector('script[src="/assets/begin.js"]')`)
}
