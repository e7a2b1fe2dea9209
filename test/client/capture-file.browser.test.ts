/** The capture component as the package `countersign-client` has it, in a page without a bundler. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'
import { CHROMIUM, launchBrowser } from '../support/browser.js'

it.skipIf(!CHROMIUM)('works by an import map, under a policy that allows the map by its hash', async () => {
  const made = execFileSync(process.execPath, [packageFile('scripts', 'pack-client.mjs')], {
    encoding: 'utf8',
  })
  const code = readFileSync(join(made.trim(), 'lib', 'capture', 'capture.js'))
  const guide = readFileSync(packageFile('docs', 'guides', 'capture.md'), 'utf8')
  const [, map] = /<script type="importmap">([^<]*)<\/script>/.exec(guide)!
  const hash = createHash('sha256').update(map!).digest('base64')
  const policy = `default-src 'none'; script-src 'self' 'sha256-${hash}'; require-trusted-types-for 'script'`
  const { imports } = JSON.parse(map!) as { imports: Record<string, string> }
  const files: Record<string, [type: string, body: string | Buffer]> = {
    '/': [
      'text/html',
      `<!doctype html><script type="importmap">${map}</script><script type="module" src="/page.js"></script>
<countersign-capture></countersign-capture>`,
    ],
    '/page.js': ['text/javascript', "import 'countersign-client/capture'"],
    [imports['countersign-client/capture']!]: ['text/javascript', code],
  }
  const server = createServer(({ url = '' }, response) => {
    const [type, body] = files[url] ?? ['text/plain', '']
    response.writeHead(200, { 'Content-Type': type, 'Content-Security-Policy': policy }).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const browser = await launchBrowser()
  try {
    const page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    await page.getByRole('button').waitFor()
    expect(await page.getByRole('button').allTextContents()).toEqual(['Turn on camera'])
  } finally {
    await browser.close()
    server.close()
  }
})
