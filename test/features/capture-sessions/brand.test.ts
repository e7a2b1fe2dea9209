/** Logo and color of a tenant on the hosted page: encoded again before they are stored, and served from the page's own origin. */

import { readFileSync } from 'node:fs'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../../src/audit/audited-unit-of-work.js'
import { themeColors } from '../../../src/contract/accent-color.js'
import { changeCapturePage } from '../../../src/features/capture-sessions/capture-page-operations.js'
import { capturePageSettings } from '../../../src/features/capture-sessions/capture-page-settings.js'
import { capturePageReader } from '../../../src/features/capture-sessions/capture-tables.js'
import { allowReturn, askForSession, Visitor } from '../../support/capture-page.js'
import { childrenOf } from '../../support/process-tree.js'
import { serviceOfFile } from '../../support/service.js'

let users = 0

const running = await serviceOfFile({ COUNTERSIGN_CAPTURE_LISTEN: '127.0.0.1:0' })
const tenant = await running.tenant()
await allowReturn(running, tenant, { company: 'Bank of Ada', color: '#003366' })

const { audited } = running.service.core.operations
const setLogo = async (logo: Uint8Array | null) =>
  changeCapturePage(audited, await tenant.record(), COMMAND_LINE, { logo })
const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 4, background: { r: 0, g: 51, b: 102, alpha: 0.5 } } })

async function animation(): Promise<Buffer> {
  const frames = await Promise.all([
    picture(20, 20).png().toBuffer(),
    picture(20, 20).negate().png().toBuffer(),
  ])
  return sharp(frames, { join: { animated: true } })
    .webp()
    .toBuffer()
}

async function page() {
  const { body } = await askForSession(tenant.sandbox, { user_id: `brand-${++users}+match` })
  const visitor = new Visitor(body.url)
  const { text } = await visitor.open()
  const get = (path: string) => fetch(new URL(path, visitor.url))
  return { text, get }
}

describe('the brand of a tenant', () => {
  it('shows the logo from the page’s own origin next to the name, without any metadata of the uploaded file', async () => {
    const file = await picture(960, 200)
      .withExif({ IFD0: { Copyright: 'a secret of the file' } })
      .png()
      .toBuffer()
    expect(file.toString('latin1')).toContain('a secret of the file')
    const { logo } = capturePageSettings(await setLogo(file))
    expect(logo).toMatchObject({ width: 480, height: 100 })
    const { text, get } = await page()
    const path = `/assets/logo/${tenant.id}.${logo!.sha256}.png`
    expect(text).toContain(`<img class="logo" src="${path}" width="240" height="50" alt="">`)
    expect(text).toContain('<bdi>Bank of Ada</bdi>')
    const served = await get(path)
    expect(served.headers.get('content-type')).toBe('image/png')
    expect(served.headers.get('content-security-policy')).toContain("default-src 'none'")
    const bytes = Buffer.from(await served.arrayBuffer())
    expect(bytes.toString('latin1')).not.toContain('a secret of the file')
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'png', width: 480, hasAlpha: true })
    expect((await get(path.replace(logo!.sha256, '0'.repeat(64)))).status).toBe(404)
  })

  it('keeps the logo through other changes, and loses it when it is removed', async () => {
    await setLogo(await picture(100, 50).webp().toBuffer())
    const { logo } = capturePageSettings(await tenant.record())
    await allowReturn(running, tenant, { company: 'Bank of Grace', color: '#003366' })
    expect(capturePageSettings(await tenant.record()).logo).toEqual(logo)
    await setLogo(null)
    const { text, get } = await page()
    expect(text).not.toContain('class="logo"')
    expect((await get(`/assets/logo/${tenant.id}.${logo!.sha256}.png`)).status).toBe(404)
    expect(
      await running.service.core.store.read.statements(capturePageReader).logo(tenant.id),
    ).toBeUndefined()
  })

  it.skipIf(process.platform !== 'linux')('decodes the logo in a decoder process', async () => {
    await setLogo(await picture(100, 50).webp({ lossless: true }).toBuffer())
    const programs = childrenOf(process.pid).map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
    expect(programs).toContainEqual(expect.stringContaining('decoder-host'))
  })

  it.each([
    ['an SVG, which can hold scripts', () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['a GIF', () => picture(8, 8).gif().toBuffer()],
    ['a file of 600 KiB', () => Buffer.alloc(600 * 1024)],
    ['a picture of more than 4 megapixels', () => picture(3000, 2000).png().toBuffer()],
    ['an animation', () => animation()],
    ['half a picture', async () => (await picture(400, 400).png().toBuffer()).subarray(0, 60)],
  ])('refuses %s', async (_, file) => {
    await expect(setLogo(await file())).rejects.toMatchObject({ code: 'invalid_logo' })
  })

  it('colors the page through a style sheet of its own origin, with enough contrast in both themes', async () => {
    const { light, dark } = themeColors('#003366')
    const { text, get } = await page()
    expect(text).toContain('<link rel="stylesheet" href="/assets/theme/003366.css">')
    const style = await get('/assets/theme/003366.css')
    expect(style.headers.get('content-type')).toContain('text/css')
    expect(await style.text()).toContain(`--accent: light-dark(${light.accent}, ${dark.accent})`)
    expect((await get('/assets/theme/red.css')).status).toBe(404)
    expect((await get('/assets/theme/003366%7D.css')).status).toBe(404)
  })

  it('writes an audit entry for each change', async () => {
    await setLogo(await picture(100, 50).png().toBuffer())
    const { sha256 } = capturePageSettings(await tenant.record()).logo!
    expect((await tenant.audit()).at(-1)).toMatchObject({
      event: 'capture_page_changed',
      color: '#003366',
      logo_sha256: sha256,
    })
  })
})
