/** `countersign tenant passkeys`. */
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { maker } from '../../../support/attestations.js'
import { workplaceForAll } from '../../../support/command.js'

const place = workplaceForAll()
const attesting = maker()
beforeAll(() => place.ask('tenant create acme'))
afterAll(() => attesting.remove())

const run = (...options: string[]) => place.run(['tenant', 'passkeys', 'acme', ...options])
const APP = 'https://app.bank.example'
const AAGUID = 'ee882879-721c-4913-9775-3dfcce97072a'

describe('tenant passkeys', () => {
  it('says that a new tenant uses none', async () => {
    expect(await run()).toMatchObject({ code: 0, stdout: 'acme uses no passkeys.\n' })
  })

  it('only shows them where nothing but the configuration is named', async () => {
    expect(await run('--config', '/dev/null')).toMatchObject({
      code: 0,
      stdout: 'acme uses no passkeys.\n',
    })
  })

  it('asks for domain and origin together the first time, and changes nothing until it has both', async () => {
    for (const options of [
      ['--rp-id', 'bank.example'],
      ['--origin', APP],
      ['--synced', 'swk'],
    ]) {
      const { code, stderr } = await run(...options)
      expect([code, stderr]).toEqual([2, expect.stringContaining('--rp-id and --origin together')])
    }
    expect((await run('--json')).json).toMatchObject({ rp_id: null, origins: [], synced: null })
  })

  it('turns passkeys on with the defaults, and says so in words', async () => {
    const { code, stdout } = await run('--rp-id', 'bank.example', '--origin', APP)
    expect(code).toBe(0)
    expect(stdout).toMatch(/Domain +bank\.example\n/)
    expect(stdout).toMatch(/Synced passkeys +count as swk\n/)
    expect(stdout).toMatch(/Registration +after a verification with liveness\n/)
    expect(stdout).toMatch(/Recovery +after 24 h\n/)
    expect(stdout).toMatch(/Attested by +nobody: all passkeys count as swk\n/)
    expect(stdout).toMatch(/Authenticators +all\n/)
  })

  it('changes only the given settings', async () => {
    await run('--synced', 'refused', '--roots', attesting.file, '--aaguid', AAGUID)
    const { json } = await run('--registration', 'backend', '--recovery-hours', '48', '--json')
    expect(json).toEqual({
      tenant_id: expect.stringMatching(/^ten_/),
      name: 'acme',
      rp_id: 'bank.example',
      origins: [APP],
      synced: 'refused',
      registration: 'backend',
      recovery_hours: 48,
      roots: [attesting.root],
      aaguids: [AAGUID],
    })
    expect((await run('--json')).json).toEqual(json)
    const refused = await run('--roots', 'none', '--json')
    expect([refused.code, refused.error.code]).toEqual([1, 'roots_required'])
    const none = await run('--aaguid', 'none', '--roots', 'none', '--json')
    expect(none.json).toMatchObject({ aaguids: [], roots: [] })
  })

  it.each([
    [['--rp-id', '192.0.2.1'], 1, 'invalid_rp_id'],
    [['--rp-id', 'Bank.example'], 1, 'invalid_rp_id'],
    [['--origin', 'https://bank.example.evil.example'], 1, 'invalid_origin'],
    [['--origin', 'http://bank.example'], 1, 'invalid_origin'],
    [['--aaguid', 'yubikey'], 1, 'invalid_aaguid'],
    [['--aaguid', AAGUID], 1, 'roots_required'],
    [['--roots', 'missing.pem'], 2, 'invalid_option'],
    [['--roots', import.meta.filename], 1, 'invalid_root'],
    [['--synced', 'hwk'], 2, 'invalid_option'],
    [['--recovery-hours', '0'], 1, 'invalid_recovery_hours'],
    [['--synced', 'maybe'], 2, 'invalid_option'],
    [['--registration', 'nobody'], 2, 'invalid_option'],
  ])('refuses %j and changes nothing', async (options, code, error) => {
    const { json: before } = await run('--json')
    const refused = await run(...options, '--json')
    expect([refused.code, refused.error.code]).toEqual([code, error])
    expect((await run('--json')).json).toEqual(before)
  })

  it('turns passkeys off, and writes each change into the audit log', async () => {
    expect((await run('--off')).stdout).toBe('acme uses no passkeys.\n')
    const database = new Database(place.path('countersign.db'), { readonly: true })
    const entries = database.prepare<[], string>('SELECT entry FROM audit ORDER BY sequence').pluck().all()
    database.close()
    const changes = entries
      .map((entry) => JSON.parse(entry))
      .filter(({ event }) => event === 'passkey_settings_changed')
    expect(changes).toHaveLength(5)
    expect(changes.at(-1)).toMatchObject({
      rp_id: null,
      previous: { rp_id: 'bank.example', synced: 'refused' },
    })
  })
})
