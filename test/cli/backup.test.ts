import { chownSync, existsSync, readdirSync, statSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { docPath } from '../../src/lib/doc-path.js'
import { peekBackups } from '../../src/storage/sqlite/sqlite-peek.js'
import { apiClient } from '../support/client.js'
import { workplaceForEach, workplaceOfTest } from '../support/command.js'
import { damageTable } from '../support/damage.js'
import { base64, face } from '../support/faces.js'

const place = workplaceForEach()

async function createTenant(name: string): Promise<{ sandbox_key: string }> {
  return (await place.run(['tenant', 'create', name, '--json'])).json
}

describe('backup', () => {
  it('copies a database during writes, and the copy opens', async () => {
    const server = await place.serve([], { COUNTERSIGN_SANDBOX_RATE_LIMIT: '10000/s' })
    const { sandbox_key } = await createTenant('acme')
    const client = apiClient(`${server.sandbox}/v1`, sandbox_key)
    const image = base64(await face('ada', 120))
    let acknowledged = 0
    let writing = true
    const writer = (async () => {
      while (writing) {
        const { status } = await client.enroll({ user_id: `u${acknowledged}`, image })
        expect(status).toBe(201)
        acknowledged++
      }
    })()
    await expect.poll(() => acknowledged, { timeout: 20_000 }).toBeGreaterThan(5)
    const before = acknowledged
    const copy = place.path('copy.db')
    const result = await place.run(['backup', copy, '--json'])
    writing = false
    await writer
    expect(result).toMatchObject({ code: 0, stderr: '' })
    expect(result.json).toEqual({
      file: copy,
      keys_file: place.path('countersign.keys'),
      kept_keys_file: null,
      users: expect.any(Number),
    })
    expect(result.json.users).toBeGreaterThanOrEqual(before)

    // The copy without its keys contains no key of a user, and no service can serve from it.
    const refused = await place.ask('tenant list', { COUNTERSIGN_DATABASE: `sqlite:${copy}` })
    expect(refused.error.code).toBe('database_unusable')
    const env = { COUNTERSIGN_DATABASE: `sqlite:${place.path('restored', 'countersign.db')}` }
    expect((await place.run(['restore', copy, '--json'], env)).json).toMatchObject({
      users: result.json.users,
      users_erased: 0,
    })
    expect((await place.ask('audit verify', env)).json).toMatchObject([{ broken_at: null }])
    const restored = await place.host(env)
    const verified = await apiClient(`${restored.sandbox}/v1`, sandbox_key).verify({
      user_id: 'u0',
      image,
      action: 'login',
    })
    expect(verified.body).toMatchObject({ verdict: 'approved' })
  })

  it('leaves no unfinished copy when a signal ends it', async () => {
    await createTenant('acme')
    const database = new Database(place.path('countersign.db'))
    // The copy takes a while: it has 100 MB.
    database.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
      INSERT INTO policy_version SELECT tenant.id, 'h' || i, hex(zeroblob(500000)), 0 FROM n, tenant`)
    database.close()
    const { signal, exited } = place.begin(['backup', place.path('copy.db')])
    await expect.poll(() => existsSync(place.path('copy.db.partial')), { interval: 5 }).toBe(true)
    signal('SIGTERM')
    expect(await exited).toEqual({ code: null, signal: 'SIGTERM' })
    expect(readdirSync(place.dataDir).filter((name) => /copy|partial/.test(name))).toEqual([])
  })

  it('leaves a PostgreSQL database to its own tools, as restore does', async () => {
    const env = { COUNTERSIGN_DATABASE: 'postgres://countersign@127.0.0.1:1/none' }
    for (const command of ['backup', 'restore'])
      expect((await place.ask(`${command} ${place.path('copy.db')}`, env)).error.code).toBe(
        'backup_unsupported',
      )
  })

  it('refuses a damaged database: writes no copy, no new keys and no time of a backup', async () => {
    await createTenant('acme')
    const keys = place.path('countersign.keys')
    await writeFile(keys, 'the keys from before')
    damageTable(place.path('countersign.db'), 'audit')
    const { code, stdout, stderr } = await place.run(['backup', place.path('copy.db')])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('docs/operations/runbooks.md#database_corrupt')
    expect(stderr).not.toMatch(/^ +at /m)
    expect(existsSync(place.path('copy.db'))).toBe(false)
    expect(existsSync(place.path('copy.db.partial'))).toBe(false)
    expect(await readFile(keys, 'utf8')).toBe('the keys from before')
    expect(peekBackups(place.path('countersign.db'))).toMatchObject({ lastBackupAt: null })
  })

  // Nobody can write to this device, not even root.
  it.runIf(process.platform === 'linux')(
    'names the file where the folder of the backup cannot be written',
    async () => {
      await createTenant('acme')
      const { code, stderr } = await place.run(['backup', '/proc/copy.db'])
      expect(code).toBe(1)
      expect(stderr).toMatch(
        /^error: Cannot write \/proc\/copy\.db: [^\n]+\nWhat to do: [^\n]+\nMore about it: [^\n]+\n$/,
      )
      const keys = await place.run(['backup', place.path('copy.db'), '--keys', '/proc/keys'])
      expect(keys.code).toBe(1)
      expect(keys.stderr).toMatch(
        /^error: Cannot write \/proc\/keys: [^\n]+\nWhat to do: [^\n]+\nMore about it: [^\n]+\n$/,
      )
    },
  )

  it('names the runbook for a database that does not open, as every command does', async () => {
    await createTenant('acme')
    damageTable(place.path('countersign.db'), 'keyring')
    for (const args of [
      ['backup', place.path('copy.db')],
      ['tenant', 'list'],
      ['audit', 'verify'],
      ['nodes'],
    ]) {
      const { code, stderr } = await place.run(args)
      expect(code).toBe(1)
      expect(stderr).toContain('docs/operations/runbooks.md#database_corrupt')
      expect(stderr).not.toMatch(/^ +at /m)
    }
    await writeFile(place.path('countersign.db'), 'no database at all, but long enough to be read as one')
    const { stderr } = await place.run(['tenant', 'list'])
    expect(stderr).toContain('docs/operations/runbooks.md#database_corrupt')
  })

  it('never overwrites a file', async () => {
    await writeFile(place.path('precious'), 'precious')
    const result = await place.ask(`backup ${place.path('precious')}`)
    expect(result).toMatchObject({ code: 1, stdout: '', error: { code: 'file_exists' } })
    expect(result.error.message).toContain(`${place.path('precious')} exists already`)
    expect(await readFile(place.path('precious'), 'utf8')).toBe('precious')
  })

  it('names the folder that does not exist, in one line, and the next step', async () => {
    const { code, stdout, stderr } = await place.run(['backup', place.path('no', 'such', 'file.db')])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^error: [^\n]+\nWhat to do: [^\n]+\nMore about it: [^\n]+\n$/)
  })
})

/** The user "nobody" of most systems. */
const NOBODY = 65_534

it.runIf(process.getuid?.() === 0)(
  'files that root makes belong to the owner of the data folder',
  async () => {
    const assertOwned = (folder: string) => {
      for (const name of ['', ...readdirSync(folder)])
        expect({ name, uid: statSync(`${folder}/${name}`).uid }).toEqual({ name, uid: NOBODY })
    }
    chownSync(place.dataDir, NOBODY, NOBODY)
    await createTenant('acme')
    expect((await place.run(['keys', 'rotate-master'])).code).toBe(0)
    expect((await place.run(['migrate'])).code).toBe(0)
    expect(existsSync(place.path('countersign.db'))).toBe(true)
    assertOwned(place.dataDir)
    const backups = await workplaceOfTest()
    const copy = backups.path('copy.db')
    expect((await place.run(['backup', copy])).code).toBe(0)
    const env = { COUNTERSIGN_DATABASE: `sqlite:${place.path('new', 'folder', 'countersign.db')}` }
    expect((await place.run(['restore', copy], env)).code).toBe(0)
    assertOwned(place.path('new'))
    assertOwned(place.path('new', 'folder'))
  },
)

describe('restore', () => {
  it('leaves users out of an older backup who were erased before the latest one', async () => {
    const server = await place.host()
    const { sandbox_key } = await createTenant('acme')
    const client = apiClient(`${server.sandbox}/v1`, sandbox_key)
    const image = base64(await face('ada'))
    for (const user_id of ['gone', 'stays'])
      expect((await client.enroll({ user_id, image })).status).toBe(201)
    const old = place.path('old.db')
    expect((await place.run(['backup', old])).stdout).toContain('keys of its 2 users')
    expect((await client.erase('gone')).status).toBe(200)
    expect((await place.run(['backup', place.path('new.db')])).code).toBe(0)
    await server.stop()

    expect((await place.run(['restore', old, '--json'])).error.code).toBe('file_exists')
    await rename(place.path('countersign.db'), place.path('moved-away.db'))
    const { code, stdout } = await place.run(['restore', old])
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /^Restored 1 user to .*; left out, because erased since the backup: 1\.\n$/,
      ),
    })
    const again = await place.host()
    const after = apiClient(`${again.sandbox}/v1`, sandbox_key)
    expect((await after.verify({ user_id: 'stays', image, action: 'login' })).body.verdict).toBe('approved')
    expect((await after.erase('gone')).body.code).toBe('reference_not_found')
    expect((await place.ask('audit verify')).json).toMatchObject([
      // Two entries: the creation of the tenant, and the restore.
      { entries: 2, broken_at: null },
    ])
  })

  it('opens a copy from before a change of the master key with the keys and the master key of that time', async () => {
    await createTenant('acme')
    const old = place.path('old.db')
    await place.run(['backup', old])
    const rotated = await place.ask('keys rotate-master')
    const { stdout } = await place.run(['backup', place.path('new.db')])
    const kept = place.path('countersign.keys.0')
    expect(stdout).toContain(`were moved to ${kept}`)
    const env = {
      COUNTERSIGN_DATABASE: `sqlite:${place.path('there', 'countersign.db')}`,
      COUNTERSIGN_MASTER_KEY_FILE: rotated.json.kept,
    }
    expect((await place.run(['restore', old, '--json'], env)).error).toMatchObject({
      code: 'wrong_keys',
      message: expect.stringContaining(`--keys ${kept}.`),
    })
    expect((await place.run(['restore', old, '--keys', kept], env)).code).toBe(0)
    expect((await place.ask('tenant list', env)).json).toHaveLength(1)
  })

  it('refuses a damaged copy and leaves nothing behind', async () => {
    await createTenant('acme')
    const copy = place.path('copy.db')
    expect((await place.run(['backup', copy])).code).toBe(0)
    damageTable(copy, 'audit')
    const env = { COUNTERSIGN_DATABASE: `sqlite:${place.path('there', 'countersign.db')}` }
    const { code, error } = await place.run(['restore', copy, '--json'], env)
    expect({ code, error }).toMatchObject({
      code: 1,
      error: {
        code: 'damaged_backup',
        doc: docPath('operations/runbooks.md#database_corrupt'),
      },
    })
    expect(existsSync(place.path('there', 'countersign.db'))).toBe(false)
    expect(existsSync(place.path('there', 'countersign.db.partial'))).toBe(false)
  })

  it('needs the master key of the backup, and leaves nothing behind without it', async () => {
    await createTenant('acme')
    expect((await place.run(['backup', place.path('copy.db')])).code).toBe(0)
    const elsewhere = (key: string) => ({
      COUNTERSIGN_DATABASE: `sqlite:${place.path('there', 'countersign.db')}`,
      COUNTERSIGN_MASTER_KEY_FILE: place.path(key),
    })
    const restore = async (key: string) => {
      const { code, error } = await place.ask(`restore ${place.path('copy.db')}`, elsewhere(key))
      return [code, error.code]
    }
    expect(await restore('no.key')).toEqual([1, 'master_key_missing'])
    await writeFile(place.path('other.key'), Buffer.alloc(32, 7).toString('base64'), { mode: 0o600 })
    expect(await restore('other.key')).toEqual([1, 'invalid_configuration'])
    expect(existsSync(place.path('there', 'countersign.db'))).toBe(false)
    expect(existsSync(place.path('there', 'countersign.db.partial'))).toBe(false)
  })
})
