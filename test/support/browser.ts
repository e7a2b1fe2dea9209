/** A real browser over the dashboard, where one is installed (`apt install chromium`). */
import { existsSync } from 'node:fs'
import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { expect } from 'vitest'

/** Undefined where there is none. */
export const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  existsSync,
)

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM!, args: ['--no-sandbox'] })
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
