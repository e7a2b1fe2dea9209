/**
 * docs/examples/react with a camera, with the backend of docs/examples/capture and the service's sandbox. It is built with Preact's
 * `preact/compat`, which has the interface of React; COUNTERSIGN_TEST_REACT names a node_modules folder with React itself.
 */
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { build, type PreviewServer, preview } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'
import { CHROMIUM, violations } from '../support/browser.js'
import { launchBeforeFilm } from '../support/camera-page.js'
import { type CaptureExample, patientPage, startCaptureExample } from '../support/capture-example.js'
import { startService, type TestService } from '../support/service.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const { COUNTERSIGN_TEST_REACT: realReact } = process.env
/** @param preact the equivalent path in Preact */
const library = (path: string, preact: string) =>
  realReact ? join(realReact, path) : packageFile('node_modules', 'preact', preact)
const ALIASES = [
  { find: /^react\/jsx-runtime$/, replacement: library('react/jsx-runtime.js', 'jsx-runtime') },
  { find: /^react-dom\/client$/, replacement: library('react-dom/client.js', 'compat/client.mjs') },
  { find: /^react$/, replacement: library('react/index.js', 'compat') },
  { find: /^countersign\/capture$/, replacement: packageFile('dist/clients/capture/capture.js') },
]

describe.skipIf(!CHROMIUM)('the example in React', { timeout: 180_000 }, () => {
  let running: TestService
  const folder = temporaryFolder()
  let browser: Browser
  let backend: CaptureExample
  let site: PreviewServer
  let address: string

  beforeAll(async () => {
    running = await startService()
    // The example uses the system's clock.
    running.clock.now = Date.now
    const tenant = await running.tenant()
    browser = await launchBeforeFilm()
    backend = await startCaptureExample(tenant, {
      baseUrl: running.service.url('sandbox'),
      apiKey: tenant.sandboxKey,
    })
    const proxy = Object.fromEntries(
      ['/challenges', '/guidance', '/transfers'].map((path) => [path, backend.address]),
    )
    const config = {
      root: packageFile('docs', 'examples', 'react'),
      logLevel: 'error' as const,
      // The setting of `vite build`: the test runner's NODE_ENV would select the development runtime.
      oxc: { jsx: { runtime: 'automatic' as const, development: false } },
      resolve: { alias: ALIASES },
      build: { outDir: join(folder, 'site'), emptyOutDir: true, minify: false },
      preview: { port: 0, host: '127.0.0.1', proxy },
    }
    await build(config)
    site = await preview(config)
    address = site.resolvedUrls!.local[0]!
  })
  afterAll(async () => {
    await site?.close()
    await backend?.stop()
    await browser?.close()
    await running?.stop()
  })

  async function open(user: string, look: { colorScheme?: 'light' | 'dark'; width?: number } = {}) {
    const context = await browser.newContext({
      permissions: ['camera'],
      colorScheme: look.colorScheme ?? 'light',
      viewport: { width: look.width ?? 1280, height: 800 },
    })
    // The cookie stands for a sign-in.
    await context.addCookies([{ name: 'user', value: encodeURIComponent(user), url: address }])
    const { page, complaints } = await patientPage(context)
    await page.goto(address)
    return { page, complaints }
  }

  /** Repeats the capture as often as a busy machine needs: a challenge with too few frames is not answered. */
  async function confirm(page: Page): Promise<string> {
    const told = page.locator('output').filter({ hasText: /\w/ })
    await page.getByRole('button', { name: 'Turn on camera' }).click()
    for (;;) {
      await page.getByRole('button', { name: 'Begin' }).click()
      const again = page.getByRole('button', { name: 'Try again' })
      await again.or(told).first().waitFor()
      if ((await told.count()) === 0) {
        await again.click()
        continue
      }
      await expect.poll(() => told.textContent()).not.toBe('Checking …')
      return (await told.textContent())!
    }
  }

  it('executes a transfer that a checked verdict allows, also in strict mode', async () => {
    const { page, complaints } = await open('ada+match')
    await page.getByRole('heading', { name: '1250.00 to Grace' }).waitFor()
    expect(await confirm(page)).toBe('1250.00 went to Grace.')
    await page.getByText(/^Countersigned as ver_/).waitFor()
    expect(await page.getByRole('button', { name: 'Another try' }).count()).toBe(0)
    expect(await violations(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  it('executes nothing when no living person is seen, says so, and offers another try', async () => {
    const { page, complaints } = await open('ada+turn_more', { colorScheme: 'dark', width: 390 })
    expect(await confirm(page)).toMatch(/^Not confirmed\. .*further/)
    await page.getByRole('heading', { name: '1250.00 to Grace' }).waitFor()
    expect(await violations(page)).toEqual([])
    if (process.env.COUNTERSIGN_TEST_PICTURES)
      await page.screenshot({ path: join(process.env.COUNTERSIGN_TEST_PICTURES, 'react-refused.png') })
    await page.getByRole('button', { name: 'Another try' }).click()
    await page.getByRole('button', { name: 'Begin' }).waitFor()
    expect(complaints).toEqual([])
  })

  it('can set `mode` as a property, as React does with custom elements', async () => {
    const { page } = await open('ada+match')
    const set =
      "const it = document.querySelector('countersign-capture'); it.mode = 'photo'; it.getAttribute('mode')"
    expect(await page.evaluate(`'use strict'; ${set}`)).toBe('photo')
  })

  it('offers no further try to a user who is locked out', async () => {
    const { page } = await open('ada+locked_out')
    await page.getByRole('button', { name: 'Turn on camera' }).click()
    // The camera stays off for a verify that cannot succeed.
    await page.locator('output').getByText('No more tries for now.').waitFor()
    expect(await page.getByRole('button', { name: 'Begin' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Another try' }).count()).toBe(0)
  })
})
