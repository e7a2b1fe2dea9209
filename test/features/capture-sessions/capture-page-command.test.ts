/** `countersign tenant capture-page`. */
import { writeFileSync } from 'node:fs'
import sharp from 'sharp'
import { beforeAll, describe, expect, it } from 'vitest'
import { workplaceForAll } from '../../support/command.js'

const place = workplaceForAll()
beforeAll(() => place.ask('tenant create acme'))

const run = (...options: string[]) => place.run(['tenant', 'capture-page', 'acme', ...options])

describe('tenant capture-page', () => {
  it('says at first that the page leads nowhere', async () => {
    const { code, stdout } = await run()
    expect([code, stdout]).toEqual([0, expect.stringContaining('nowhere: no session can be created')])
  })

  it('changes only the given settings', async () => {
    const text = place.path('consent.txt')
    writeFileSync(text, 'We compare your face.\n')
    await run(
      '--company',
      'Bank of Ada',
      '--return-origin',
      'https://bank.example',
      'https://app.bank.example',
    )
    await run('--consent-version', '2026-11', '--consent-text', text)
    const { json } = await run('--frame-ancestor', 'https://app.bank.example', '--json')
    expect(json).toEqual({
      tenant_id: expect.stringMatching(/^ten_/),
      name: 'acme',
      company: 'Bank of Ada',
      return_origins: ['https://bank.example', 'https://app.bank.example'],
      frame_ancestors: ['https://app.bank.example'],
      consent_version: '2026-11',
      consent_text: 'We compare your face.',
      color: null,
      colors: null,
      logo: null,
    })
    expect((await run('--json')).json).toEqual(json)
  })

  it('sets color and logo, and shows how each theme makes the color readable', async () => {
    const logo = place.path('logo.webp')
    await sharp({ create: { width: 960, height: 240, channels: 4, background: '#003366' } })
      .webp()
      .toFile(logo)
    const { json } = await run('--color', '#003366', '--logo', logo, '--json')
    expect(json).toMatchObject({
      company: 'Bank of Ada',
      color: '#003366',
      colors: { light: { accent: '#003366', on_accent: '#ffffff' } },
      logo: { width: 480, height: 120, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    })
    expect(json.colors.dark.accent).not.toBe('#003366')
    expect((await run()).stdout).toContain('480 × 120 pixels')
    expect((await run('--color', 'none', '--logo', 'none', '--json')).json).toMatchObject({
      color: null,
      logo: null,
    })
  })

  it('removes settings with none', async () => {
    const nothing = ['--company', 'none', '--frame-ancestor', 'none', '--consent-text', 'none']
    expect((await run(...nothing, '--json')).json).toMatchObject({
      company: null,
      return_origins: ['https://bank.example', 'https://app.bank.example'],
      frame_ancestors: [],
      consent_version: null,
    })
  })

  it.each([
    [['--return-origin', 'http://bank.example'], 1, 'invalid_origin'],
    [['--company', 'Bank of \u202eadA'], 1, 'invalid_company'],
    [['--color', 'blue'], 1, 'invalid_color'],
    [['--logo', '/nowhere'], 1, 'file_unreadable'],
    [['--consent-version', '2'], 2, 'wrong_usage'],
    [['--consent-text', '/nowhere'], 2, 'wrong_usage'],
    [['--consent-version', '2', '--consent-text', '/nowhere'], 1, 'file_unreadable'],
  ])('refuses %j and changes nothing', async (options, code, error) => {
    const before = (await run('--json')).json
    const refused = await run(...options, '--json')
    expect([refused.code, refused.error.code]).toEqual([code, error])
    expect((await run('--json')).json).toEqual(before)
  })
})
