/** The commands of epoch keys, and what doctor and metrics say of them. */
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Core } from '../../../src/admin/core.js'
import { loadConfig } from '../../../src/app/configuration.js'
import { openCore } from '../../../src/app/core.js'
import { isOpenedBy } from '../../../src/crypto/sealed-box.js'
import { databaseTag, EpochFolder } from '../../../src/features/epoch-keys/epoch-folder.js'
import { epochsOf } from '../../../src/features/postgres/exports.js'
import { HOUR_MS } from '../../../src/lib/clock.js'
import { type Workplace, workplace } from '../../support/command.js'
import { createDatabase, overPostgres, type TestDatabase } from '../../support/postgres.js'

overPostgres(() => {
  let database: TestDatabase
  let place: Workplace
  let folder: string
  let env: Record<string, string>
  beforeEach(async () => {
    database = await createDatabase()
    place = await workplace()
    folder = place.path('epochs')
    mkdirSync(folder, { mode: 0o700 })
    env = {
      COUNTERSIGN_DATABASE: database.url,
      COUNTERSIGN_MASTER_KEY: randomBytes(32).toString('base64'),
      COUNTERSIGN_EPOCH_KEYS: folder,
      COUNTERSIGN_EPOCH_RETENTION_HOURS: '0',
    }
    await place.run(['tenant', 'create', 'acme', '--json'], env)
  })
  afterEach(async () => {
    await place?.dispose()
    await database?.drop()
  })

  const run = async (...args: string[]) => place.run([...args, '--json'], env)
  const withCore = async <T>(work: (core: Core) => Promise<T>): Promise<T> => {
    const core = await openCore(loadConfig({ COUNTERSIGN_DATA_DIR: place.dataDir, ...env }))
    try {
      return await work(core)
    } finally {
      await core.store.close()
    }
  }
  const enrol = (userId: string) =>
    withCore(async ({ store, vault, tenancy, audit }) => {
      const { id } = (await store.read.tenants())[0]!
      const blindIndex = vault.blindIndex(id, 'production', userId)
      await store.transaction('installation', async (tx) => {
        await tx.insertSubject(vault.create(id, 'production', blindIndex, userId).record)
        await audit.append(tx, id, { event: 'enroll', actor: 'operator', request_id: null })
      })
      return { tenancy, blindIndex }
    })
  const users = () => withCore(async ({ store }) => (await store.read.sealedRows('subject', '', 100)).length)
  const finding = async () =>
    (await run('doctor')).json.findings.find(({ check }: { check: string }) => check === 'epoch keys')

  it('keys rotate-epoch begins an epoch, destroys the key of the one before and exports the wrapped keys', async () => {
    expect(await finding()).toMatchObject({ status: 'warning' })
    await enrol('ada')
    const first = (await run('keys', 'rotate-epoch')).json
    expect(first.destroyed).toEqual([])
    await enrol('grace')
    const second = (await run('keys', 'rotate-epoch')).json
    expect(second.epoch).toBeGreaterThan(first.epoch)
    expect(second.destroyed).toEqual([first.key_id])
    expect(readdirSync(folder).sort()).toEqual([`${second.key_id}.epoch-key`, 'users.keys'].sort())
    expect(statSync(`${folder}/users.keys`).mode & 0o777).toBe(0o600)
    const lines = readFileSync(`${folder}/users.keys`, 'utf8').trimEnd().split('\n')
    expect(JSON.parse(lines[0]!)).toMatchObject({ epoch_key: second.key_id })
    expect(lines.slice(1, -1).map((line) => line.split(' ')[0])).toEqual(
      await withCore(async ({ store }) =>
        (await store.read.sealedRows('subject', '', 100)).map(({ id }) => id),
      ),
    )
    expect(JSON.parse(lines.at(-1)!)).toEqual({ users: 2 })
    expect(await finding()).toMatchObject({ status: 'ok' })
  })

  it('keys import restores the users in the file and erases the others', async () => {
    await run('keys', 'rotate-epoch')
    await enrol('ada')
    const { blindIndex } = await enrol('grace')
    const copy = await database.query('SELECT * FROM subject')
    const then = (await withCore(({ store }) => epochsOf(store)!.epochs.all())).at(-1)!
    await withCore(({ store }) =>
      store.transaction('installation', async (tx) => void (await tx.eraseSubject(blindIndex))),
    )
    await run('keys', 'rotate-epoch')
    // Restores the row as a dump from before the erasure contains it.
    const fields = 'id, tenant_id, environment, lookup, wrapped_key, created_at, failures'
    await database.query('DELETE FROM subject')
    for (const row of copy)
      await database.query(
        `INSERT INTO subject (${fields}) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
        fields.split(', ').map((field) => row[field]),
      )
    await database.query('DELETE FROM epoch WHERE number > $1', [then.number])
    await database.query('UPDATE epoch SET retired_at = NULL')
    const refused = await run('tenant', 'list')
    expect(refused.error.message).toContain('countersign keys import')
    expect((await run('keys', 'import')).json).toMatchObject({ users: 1, users_erased: 1 })
    expect(await users()).toBe(1)
    const find = () =>
      withCore(async ({ store, vault }) => {
        const { id } = (await store.read.tenants())[0]!
        return vault.find(store.read, vault.blindIndex(id, 'production', 'ada'), 'ada')
      })
    const { dataKey } = (await find())!
    expect((await run('keys', 'rotate-epoch')).code).toBe(0)
    expect((await find())!.dataKey.equals(dataKey)).toBe(true)
    expect((await run('audit', 'verify')).code).toBe(0)
  })

  it('keys import refuses a file that is too old, cut off, of another database or under a destroyed key', async () => {
    await enrol('ada')
    await run('keys', 'rotate-epoch')
    const file = `${folder}/users.keys`
    const whole = readFileSync(file, 'utf8')
    const refusal = async (text: string) => {
      writeFileSync(file, text)
      return (await run('keys', 'import')).error.code
    }
    expect(await refusal(whole.slice(0, -20))).toBe('not_wrapped_keys')
    expect(await refusal(whole.split('\n').toSpliced(1, 1).join('\n'))).toBe('not_wrapped_keys')
    expect(await refusal('something else\n')).toBe('not_wrapped_keys')
    expect(await refusal(whole.replace(/"tenant":"[^"]+"/, '"tenant":"ten_x"'))).toBe('wrong_keys')
    expect(await refusal(whole.replace(/"generation":\d+/, '"generation":7'))).toBe('wrong_keys')
    expect(await refusal(whole.replace(/"epoch_key":"[^"]+"/, `"epoch_key":"${'0'.repeat(32)}"`))).toBe(
      'wrong_keys',
    )
    await enrol('late')
    expect(await refusal(whole)).toBe('keys_too_old')
    expect(await users()).toBe(2)
    expect((await run('keys', 'export')).json).toMatchObject({ users: 2 })
    expect((await run('keys', 'import')).json).toMatchObject({ users: 2, users_erased: 0 })
  })

  it('keys rotate-epoch --none makes folder and setting unnecessary, and a later rotation begins epochs again', async () => {
    await enrol('ada')
    await run('keys', 'rotate-epoch')
    const ended = (await run('keys', 'rotate-epoch', '--none')).json
    expect(ended.destroyed).toHaveLength(1)
    expect(readdirSync(folder)).toEqual(['users.keys'])
    const opensAlone = () =>
      withCore(async ({ store, keys }) =>
        (await store.read.sealedRows('subject', '', 10)).map((row) => isOpenedBy(keys.wrapping, row)),
      )
    expect(await opensAlone()).toEqual([true])
    delete env.COUNTERSIGN_EPOCH_KEYS
    await enrol('grace')
    expect(await opensAlone()).toEqual([true, true])
    env.COUNTERSIGN_EPOCH_KEYS = folder
    expect((await run('keys', 'rotate-epoch')).json.epoch).toBeGreaterThan(ended.epoch)
    expect(await opensAlone()).toEqual([false, false])
    expect(await users()).toBe(2)
  })

  it('epoch commands name what is missing: the folder, an epoch or PostgreSQL', async () => {
    expect((await run('keys', 'export')).error.code).toBe('no_epochs')
    env.COUNTERSIGN_EPOCH_KEYS = place.path('nowhere')
    expect((await run('keys', 'rotate-epoch')).error.message).toContain('there is no folder')
    env.COUNTERSIGN_EPOCH_KEYS = ''
    expect((await run('keys', 'rotate-epoch')).error.code).toBe('no_epochs')
    expect((await finding()).remedy).toContain('COUNTERSIGN_EPOCH_KEYS')
  })

  it('keys rotate-epoch names the service that delays the epoch', async () => {
    await withCore(async ({ store, keys }) => {
      const keyId = await new EpochFolder(folder).make(databaseTag(keys))
      await epochsOf(store)!.epochs.announce(keyId, Date.now() - HOUR_MS)
    })
    expect(await finding()).toMatchObject({
      status: 'problem',
      detail: expect.stringMatching(/was announced, and has not begun$/),
    })
    await database.query(
      "INSERT INTO node (id, name, lease_until) VALUES ('one', 'web2/4698', now() + interval '1 hour')",
    )
    expect((await finding()).detail).toMatch(/has not begun: web2\/4698 cannot read its key$/)
    await database.query('DELETE FROM node')
    expect((await run('keys', 'rotate-epoch')).code).toBe(0)
    expect(await finding()).toMatchObject({ status: 'ok' })
  })

  it('a damaged epoch key file is reported with its path', async () => {
    const { key_id: id } = (await run('keys', 'rotate-epoch')).json

    writeFileSync(`${folder}/${id}.epoch-key`, `${randomBytes(32).toString('base64')}\n`)
    expect((await run('keys', 'rotate-epoch')).error.message).toContain('is damaged')
    await expect(new EpochFolder(folder).read(id)).rejects.toThrow('is damaged')
  })
})
