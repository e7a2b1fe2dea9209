/** The capture component on a page of its own, under a strict content security policy, before a fake camera. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { packageFile } from '../../src/lib/package-root.js'
import { CHROMIUM } from './browser.js'
import { writeFaceFilm } from './film.js'

/** A name that is not loopback to the browser, which therefore calls pages of it insecure. */
export const INSECURE_HOST = 'insecure.test'

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; require-trusted-types-for 'script'"
/** Policy of a page that asks for guidance. Every other page may connect to nothing. */
const GUIDED_POLICY = `${POLICY}; connect-src 'self'`

/** The page keeps every event of the component in `heard`. */
const SCRIPT = `import '/capture/capture.js'
globalThis.heard = []
globalThis.it = document.querySelector('countersign-capture')
for (const name of ['cs-consent', 'cs-ready', 'cs-guidance', 'cs-step', 'cs-capture', 'cs-cancel', 'cs-error'])
  document.addEventListener(name, ({ detail }) => heard.push({ name, detail }))
`
const STYLE = ':root { color-scheme: light dark; font-family: sans-serif }'

function page(attributes: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Capture</title><link rel="stylesheet" href="/page.css"><script type="module" src="/page.js"></script>
<main><h1>Confirm your transfer</h1><countersign-capture ${attributes}></countersign-capture></main></html>`
}

/** A name that is not loopback, as the name of a page that a phone opens. */
export const REACHABLE_HOST = 'capture.test'

/** A browser whose camera sees the film that is written, by default that of one face. The film goes with the browser. */
export async function launchBeforeFilm(
  write: (file: string) => Promise<void> = writeFaceFilm,
  trusted?: string,
): Promise<Browser> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-film-'))
  const film = join(folder, 'film.y4m')
  await write(film)
  const browser = await launchWithCamera(film, trusted)
  browser.once('disconnected', () => rmSync(folder, { recursive: true, force: true }))
  return browser
}

/**
 * @param film the Y4M that the camera sees; undefined for the moving picture that Chromium's fake device draws
 * @param trusted an origin over plain HTTP that gets a camera as one over HTTPS does
 */
export function launchWithCamera(film: string | undefined, trusted?: string): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM!,
    args: [
      '--no-sandbox',
      '--use-fake-device-for-media-stream',
      ...(film === undefined ? [] : [`--use-file-for-fake-video-capture=${film}`]),
      `--host-resolver-rules=MAP ${INSECURE_HOST} 127.0.0.1, MAP ${REACHABLE_HOST} 127.0.0.1`,
      ...(trusted === undefined ? [] : [`--unsafely-treat-insecure-origin-as-secure=${trusted}`]),
    ],
  })
}

/** Script of a page that captures as slowly as a busy machine: with longer pauses than a challenge allows. The sandbox judges no frame. */
export const PATIENT = `{
  const ask = globalThis.fetch
  globalThis.fetch = async (address, options) => {
    const response = await ask(address, options)
    if (!String(address).endsWith('/challenge') || !response.ok) return response
    const body = await response.json()
    if (body.challenge) body.challenge.capture.max_interval_ms = 5000
    return Response.json(body)
  }
}`

/** Repeats the capture of the hosted page as often as a busy machine needs, until the page shows this. @param again what begins another try */
export async function captureUntil(
  page: Page,
  isThere: () => Promise<boolean>,
  again = page.locator('countersign-capture').getByRole('button', { name: 'Try again', exact: true }),
): Promise<void> {
  const begin = page.getByRole('button', { name: 'Begin', exact: true })
  while (!(await isThere())) {
    if ((await begin.isVisible()) && (await begin.isEnabled()))
      await begin.click({ timeout: 5000 }).catch(() => {})
    else if ((await again.count()) > 0 && (await again.isVisible()))
      await again.click({ timeout: 5000 }).catch(() => {})
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** A question for guidance as the page's backend was asked it. */
export interface Asked {
  step: string | null
  type: string | undefined
  frame: Buffer
}

export interface CameraPages {
  port: number
  /** Answers a request to `/guidance` with status and body, as the backend would. */
  guide: (question: Asked) => Promise<[status: number, body: string]>
  stop(): Promise<unknown>
}

/** Serves the component, and at `/?…` a page whose component has the attributes of the query. */
export async function serveCameraPages(): Promise<CameraPages> {
  const pages: Pick<CameraPages, 'guide'> = { guide: async () => [200, '{"guidance":[]}'] }
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://localhost')
    const policy = searchParams.has('guide-url') ? GUIDED_POLICY : POLICY
    const answer = (type: string, body: string | Buffer) =>
      response.writeHead(200, { 'Content-Type': type, 'Content-Security-Policy': policy }).end(body)
    if (pathname === '/guidance' && request.method === 'POST') {
      const frame = Buffer.concat(await request.toArray())
      const step = searchParams.get('step')
      const [status, body] = await pages.guide({ step, type: request.headers['content-type'], frame })
      return response.writeHead(status, { 'Content-Type': 'application/json' }).end(body)
    }
    const code = /^\/capture\/((?:page\/)?[\w-]+\.js)$/.exec(pathname)
    if (code)
      return answer('text/javascript', readFileSync(packageFile('dist', 'clients', 'capture', code[1]!)))
    if (pathname === '/page.js') return answer('text/javascript', SCRIPT)
    if (pathname === '/page.css') return answer('text/css', STYLE)
    if (pathname !== '/') return response.writeHead(404).end()
    const attributes = [...searchParams].map(([name, value]) => `${name}="${value}"`)
    return answer('text/html', page(attributes.join(' ')))
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return Object.assign(pages, {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      }),
  })
}
