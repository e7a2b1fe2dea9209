/** Tests of what only the SQLite store does; `conformance` has the tests of every store. */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { joinKeys, makeBackup, type RestoreError } from '../../../src/cli/backup/sqlite-backup.js'
import { tablesOf } from '../../../src/features/index.js'
import { packageFile } from '../../../src/lib/package-root.js'
import { noteBackup, removeUnfinished } from '../../../src/storage/sqlite/sqlite-leftovers.js'
import { SqliteStore } from '../../../src/storage/sqlite/sqlite-store.js'
import { StoreOpenError, StoreUnavailableError } from '../../../src/storage/store.js'
import { AT, bytes, insertUser as insertUserRows, signingSecret, tenant } from '../../support/records.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

let dir: string
let file: string
const opened: Array<{ close(): unknown }> = []

beforeEach(() => {
  dir = temporaryFolder()
  file = join(dir, 'countersign.db')
})
afterEach(async () => {
  for (const resource of opened.splice(0)) await resource.close()
})

function openStore(path = file, options = {}): SqliteStore {
  const store = SqliteStore.open(path, options)
  opened.push(store)
  return store
}

/** A plain connection, as another program would open it. */
function connect(path = file): Database.Database {
  const database = new Database(path, { timeout: 5000 })
  opened.push(database)
  return database
}

/** The address of a built module, as JavaScript. */
const moduleOf = (name: string) =>
  JSON.stringify(pathToFileURL(packageFile('dist', 'src', 'storage', 'sqlite', name)).href)
const names = async (store: SqliteStore) => (await store.read.tenants()).map(({ name }) => name)
const insertTenant = (store: SqliteStore, name: string) =>
  store.transaction('installation', (tx) => tx.insertTenant(tenant(name)))
/** Inserts a user with a reference, a capture and a kept response. */
const insertUser = (store: SqliteStore, name: string) =>
  store.transaction('installation', (tx) => insertUserRows(tx, name))
const erase = (store: SqliteStore, name: string) =>
  store.transaction('installation', (tx) => tx.eraseSubject(bytes(name)))
/** A store with a tenant and these users. */
async function openStoreOf(...users: string[]): Promise<SqliteStore> {
  const store = openStore()
  await insertTenant(store, 'a')
  for (const name of users) await insertUser(store, name)
  return store
}

describe('opening', () => {
  it('creates a file with schema and application id', async () => {
    const store = openStore(join(dir, 'made', 'on', 'the', 'way.db'))
    expect(await store.read.counts()).toEqual({
      tenants: 0,
      references: { production: 0, sandbox: 0 },
      auditEntries: 0,
    })
    expect(await store.check()).toEqual([])
    const plain = connect(join(dir, 'made', 'on', 'the', 'way.db'))
    expect(plain.pragma('application_id', { simple: true })).toBe(0x4353474e)
    expect(plain.pragma('user_version', { simple: true })).toBeGreaterThan(0)
  })

  it("refuses another application's database and leaves it as it was", () => {
    const theirs = new Database(file)
    theirs.exec("CREATE TABLE theirs (x); INSERT INTO theirs VALUES ('precious')")
    theirs.close()
    const before = readFileSync(file)
    expect(() => openStore()).toThrow(StoreOpenError)
    expect(() => openStore()).toThrow(/another application/)
    expect(readFileSync(file)).toEqual(before)
  })

  /** Another schema version in the file. @returns its bytes */
  async function withSchema(version: number): Promise<Buffer> {
    await openStore().close()
    const database = new Database(file)
    database.pragma(`user_version = ${version}`)
    database.pragma('wal_checkpoint(TRUNCATE)')
    database.close()
    return readFileSync(file)
  }

  it('refuses the database of a newer version and leaves it as it was', async () => {
    const before = await withSchema(999)
    expect(() => openStore()).toThrow(/schema 999.*newer Countersign/)
    expect(readFileSync(file)).toEqual(before)
  })

  it('refuses the database of a build between two releases, also to a service, and leaves it as it was', async () => {
    const before = await withSchema(6)
    for (const options of [{}, { serving: true }, { migrating: true }])
      expect(() => SqliteStore.open(file, options)).toThrow(
        /it has schema 6, made by a build between two releases, .*Go on with the build that made it/,
      )
    expect(readFileSync(file)).toEqual(before)
  })

  it('refuses a file that is not a database', () => {
    writeFileSync(file, 'not a database, but long enough to look like one '.repeat(100))
    expect(() => openStore()).toThrow(StoreOpenError)
  })
})

it('durability follows from WAL, synchronous=FULL, foreign keys and secure_delete', async () => {
  const store = openStore()
  // A connection shows only its own pragmas, so the store's connection is read.
  const writer = Reflect.get(store, 'database') as Database.Database
  const pragma = (name: string) => writer.pragma(name, { simple: true })
  expect(pragma('journal_mode')).toBe('wal')
  expect(pragma('synchronous')).toBe(2)
  expect(pragma('foreign_keys')).toBe(1)
  expect(pragma('secure_delete')).toBe(1)
})

it('a transaction that fails rolls back its whole group when the disk is full, and the store recovers', async () => {
  const store = await openStoreOf()
  const writer = Reflect.get(store, 'database') as Database.Database
  const pages = writer.pragma('page_count', { simple: true }) as number
  const largest = writer.pragma('max_page_count', { simple: true })
  writer.pragma(`max_page_count = ${pages}`)
  const results = await Promise.allSettled(
    Array.from({ length: 200 }, (_, i) => insertTenant(store, `${'long-'.repeat(20)}${i}`)),
  )
  const failed = results.filter((result) => result.status === 'rejected')
  expect(failed.length).toBeGreaterThan(0)
  for (const { reason } of failed) expect(reason).toBeInstanceOf(StoreUnavailableError)
  const kept = await names(store)
  expect(kept).toHaveLength(1 + results.length - failed.length)
  writer.pragma(`max_page_count = ${largest}`)
  await insertTenant(store, 'b')
  expect(await names(store)).toContain('b')
  expect(await store.check()).toEqual([])
})

describe('a lock that another connection holds', () => {
  it('ends in StoreUnavailableError when it is never released, and then the store works again', async () => {
    const store = openStore()
    const other = connect()
    other.exec('BEGIN IMMEDIATE')
    const writings = ['a', 'b'].map((name) => insertTenant(store, name))
    for (const result of await Promise.allSettled(writings))
      expect(result).toMatchObject({ status: 'rejected', reason: expect.any(StoreUnavailableError) })
    other.exec('COMMIT')
    await insertTenant(store, 'c')
    expect(await names(store)).toEqual(['c'])
  })

  it('does not keep a command from writing during the commits of a busy service', async () => {
    const [service, command] = [openStore(), openStore()]
    const load = Promise.all(
      Array.from({ length: 200 }, (_, i) => insertTenant(service, `load-${i}`).then(() => names(service))),
    )
    for (let i = 0; i < 20; i++) await insertTenant(command, `command-${i}`)
    await load
    expect(await names(service)).toHaveLength(220)
  })
})

describe('the write-ahead log of a service', () => {
  const MIB = 2 ** 20
  const serve = () => openStore(file, { serving: true })
  const write = (store: SqliteStore, name: string, size: number) =>
    store.transaction('installation', (tx) =>
      tx.insertTenant(tenant(name, { capturePage: 'x'.repeat(size) })),
    )
  /** Writes fewer pages than those at which a commit copies them back. */
  const fill = async (store: SqliteStore, name: string) => {
    for (let i = 0; i < 40; i++) {
      await write(store, `${name} ${i}`, MIB / 4)
      await new Promise(setImmediate)
    }
  }
  /** Length of the log in pages. */
  const log = () => {
    const database = new Database(file)
    try {
      return (database.pragma('wal_checkpoint(NOOP)') as [{ log: number; checkpointed: number }])[0]
    } finally {
      database.close()
    }
  }

  it('is copied back during commits, and then restarts', async () => {
    const store = serve()
    await fill(store, 'much')
    const uncopied = () => {
      const { log: all, checkpointed } = log()
      return all - checkpointed
    }
    await expect.poll(uncopied).toBeLessThan(2000)
    let next = 0
    const goOn = async () => {
      await write(store, `next ${next++}`, 1)
      return log().log
    }
    await expect.poll(goOn, { interval: 1 }).toBeLessThan(1000)
    expect(await names(store)).toHaveLength(40 + next)
    await store.close()
    expect(readdirSync(dir).sort()).toEqual(['countersign.db', 'countersign.db-serving'])
  })

  it('is copied back by commits when the thread fails', async () => {
    const store = serve()
    // The thread opens the database by its name, which is now missing.
    renameSync(file, `${file}.moved`)
    for (const name of 'abcdef') await fill(store, name)
    expect(store.size().log).toBeLessThan(20 * MIB)
    renameSync(`${file}.moved`, file)
    expect(await names(store)).toHaveLength(6 * 40)
    expect(await store.check()).toEqual([])
  })

  it('contains no user who was erased while it was copied back', async () => {
    const store = serve()
    const isCopying = () => Reflect.get(Reflect.get(store, 'checkpointer'), 'round') !== null
    await insertTenant(store, 'a')
    for (const name of ['ada', 'eve', 'joan', 'mary']) {
      await insertUser(store, name)
      await write(store, `${name} `, 15 * MIB)
      for (let i = 0; !isCopying(); i++) await write(store, `${name} ${i}`, 1)
      await new Promise((resolve) => setTimeout(resolve, 1))
      await erase(store, name)
      expect(store.size().log).toBe(0)
    }
  })

  it('does not keep a process from ending', () => {
    const script = `
      const { SqliteStore } = await import(${moduleOf('sqlite-store.js')})
      const store = SqliteStore.open(${JSON.stringify(file)}, { serving: true })
      await store.transaction('installation', (tx) => tx.insertTenant(${JSON.stringify(tenant('a'))}))
      for (let i = 0; i < 40; i++) {
        await store.transaction('installation', (tx) => tx.setTenantModels('ten_a', String(i).repeat(${MIB / 4})))
        await new Promise(setImmediate)
      }
      console.log(store.checkpointer.worker !== null)`
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', script],
      { encoding: 'utf8', timeout: 60_000 },
    )
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: 'true\n', stderr: '' })
  })
})

describe('erasure', () => {
  /** Another connection in the middle of a transaction that reads. */
  function reading(): Database.Database {
    const other = connect()
    other.exec('BEGIN')
    other.prepare('SELECT * FROM sqlite_schema').all()
    return other
  }

  it('leaves nothing in the write-ahead log once the reader that held it has finished', async () => {
    const store = await openStoreOf('ada')
    const other = reading()
    await erase(store, 'ada')
    other.exec('COMMIT')
    await insertTenant(store, 'b')
    expect(readFileSync(`${file}-wal`).toString('latin1')).not.toContain('wrapped key of ada')
  })

  it('leaves no byte of the user in the file', async () => {
    const store = await openStoreOf('ada')
    await erase(store, 'ada')
    await store.close()
    const text = readFileSync(file).toString('latin1')
    for (const trace of ['wrapped key of ada', 'sealed reference of ada', 'sealed capture of ada', 'sub_ada'])
      expect(text.includes(trace)).toBe(false)
  })
})

describe.each([false, true])('the write-ahead log of a store that serves: %s', (serving) => {
  const MARK = 'a sealed secret that nobody may find again'
  const holdsMark = () =>
    [file, `${file}-wal`].some((path) => existsSync(path) && readFileSync(path).includes(MARK))
  const logBytes = (database: string) => statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0

  it('is cut when a tenant is closed, because it contains its secrets', async () => {
    const store = openStore(file, { serving })
    await insertTenant(store, 'a')
    const secret = signingSecret('sec_a', { sealed: bytes(MARK) })
    await store.transaction('installation', (tx) => tx.insertSigningSecret(secret))
    expect(holdsMark()).toBe(true)
    await store.transaction('installation', (tx) => tx.closeTenant('ten_a', AT))
    expect(holdsMark()).toBe(false)
  })

  it('is cut when a database is opened after a crash, because nobody knows what was erased before', async () => {
    await openStoreOf('ada')
    // A crash leaves the log, which no connection has removed by closing.
    const crashed = join(dir, 'crashed.db')
    for (const suffix of ['', '-wal']) copyFileSync(`${file}${suffix}`, `${crashed}${suffix}`)
    expect(logBytes(crashed)).toBeGreaterThan(0)
    const reopened = openStore(crashed, { serving })
    expect(logBytes(crashed)).toBe(0)
    expect(await names(reopened)).toEqual(['a'])
  })
})

describe('backup', () => {
  const [copy, keys, joined] = ['copy.db', 'copy.keys', 'joined.db'] as const
  const at = (name: string) => join(dir, name)
  const joinWith = (database: string = copy, keysFile: string | null = at(keys)) =>
    joinKeys(at(database), keysFile, at(joined), tablesOf())

  const backUp = (
    { tables }: SqliteStore,
    name: string,
    onProgress = (_pages: number, _total: number) => {},
  ) => makeBackup(file, { file: at(name), keysFile: at(keys), tables, onProgress })

  it('is a consistent database of one moment, without the keys of users', async () => {
    const store = await openStoreOf('ada')
    const writing = Promise.all(Array.from({ length: 50 }, (_, i) => insertTenant(store, `late-${i}`)))
    expect(await backUp(store, copy)).toEqual({ subjects: 1, keptKeysFile: null })
    await writing
    await insertTenant(store, 'later')
    expect(readFileSync(at(copy)).includes('wrapped key of ada')).toBe(false)
    expect(readFileSync(at(keys)).includes('wrapped key of ada')).toBe(true)
    expect(() => openStore(at(copy))).toThrow('countersign restore')
    expect(() => openStore(at(keys))).toThrow('another application')

    expect(await joinWith()).toEqual({ subjects: 1, erased: 0 })
    const restored = openStore(at(joined))
    expect(await restored.check()).toEqual([])
    expect(await names(restored)).toContain('a')
    expect(await names(restored)).not.toContain('later')
    expect(await restored.read.subject(bytes('ada'))).toMatchObject({
      subject: { wrappedKey: bytes('wrapped key of ada') },
      reference: { model: 'm@1' },
    })
  })

  it('is never started over by commits of another connection, and has the rows of its beginning', async () => {
    const store = openStore(file, { tables: tablesOf() })
    await insertTenant(store, 'a')
    const other = connect(file)
    other.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
      INSERT INTO consent_text (tenant_id, sha256, version, language, text, first_agreed_at)
      SELECT 'ten_a', CAST('h' || i AS BLOB), '1', 'en', hex(zeroblob(1000)), 0 FROM n`)
    const insert = other.prepare(
      `INSERT INTO consent_text VALUES ('ten_a', CAST(? AS BLOB), '1', 'en', '', 0)`,
    )
    const copied: number[] = []
    let total = 0
    const commit = (pages: number, totalPages: number) => {
      if (copied.length > 100) throw new Error(`started over: ${copied.slice(-5)} of ${totalPages} pages`)
      copied.push(pages)
      total = totalPages
      insert.run(`during ${copied.length}`)
    }
    await backUp(store, copy, commit)
    expect(total).toBeGreaterThan(2000)
    expect(copied).toEqual([...copied].sort((one, next) => one - next))
    expect(copied.length).toBeGreaterThan(20)
    const count = (database: Database.Database) =>
      database.prepare('SELECT count(*) FROM consent_text').pluck().get()
    expect(count(other)).toBe(4000 + copied.length)
    await joinWith()
    expect(count(connect(at(joined)))).toBe(4000)
    expect(await openStore(at(joined)).check()).toEqual([])
  })

  it('removes what a killed backup has left, as the next start does, and leaves a running one', async () => {
    const leave = () => {
      const script = `
        const { noteBackup } = await import(${moduleOf('sqlite-leftovers.js')})
        const { writeFileSync } = await import('node:fs')
        noteBackup(${JSON.stringify(file)}, [${JSON.stringify(at('dated.db.partial'))}])
        writeFileSync(${JSON.stringify(at('dated.db.partial'))}, 'wrapped keys')
        process.kill(process.pid, 'SIGKILL')`
      expect(spawnSync(process.execPath, ['--input-type=module', '-e', script]).signal).toBe('SIGKILL')
      expect(existsSync(at('dated.db.partial'))).toBe(true)
    }
    const store = openStore()
    leave()
    await backUp(store, copy)
    expect(readdirSync(dir).filter((name) => /partial|-backup/.test(name))).toEqual([])
    await store.close()
    leave()
    const serving = openStore(file, { serving: true })
    expect(readdirSync(dir).filter((name) => /partial|-backup/.test(name))).toEqual([])
    const running = noteBackup(file, [at('running.db.partial')])
    writeFileSync(at('running.db.partial'), 'a copy')
    await expect(backUp(serving, 'second.db')).rejects.toThrow('Another backup')
    removeUnfinished(file)
    expect(existsSync(at('running.db.partial'))).toBe(true)
    running.end()
  })

  it('has no data of users who were erased before the keys were written', async () => {
    const store = await openStoreOf('ada', 'eve')
    await backUp(store, copy)
    await erase(store, 'ada')
    await insertUser(store, 'new')
    await backUp(store, 'later.db')
    expect(readFileSync(at(keys)).includes('wrapped key of ada')).toBe(false)

    expect(await joinWith()).toEqual({ subjects: 1, erased: 1 })
    expect(readFileSync(at(joined)).includes('sealed reference of ada')).toBe(false)
    const restored = openStore(at(joined))
    expect(await restored.read.subject(bytes('ada'))).toBeUndefined()
    expect(await restored.read.subject(bytes('eve'))).toMatchObject({ reference: { model: 'm@1' } })
    expect(await restored.check()).toEqual([])
  })

  it('keeps the keys from before a change of the working keys, because only these open older copies', async () => {
    const store = await openStoreOf('ada')
    const putGeneration = (generation: number) =>
      store.transaction('installation', (tx) =>
        tx.putKeyring({ masterKeyId: 'id', sealed: bytes('sealed'), createdAt: 0, generation }),
      )
    await putGeneration(0)
    await backUp(store, copy)
    const before = readFileSync(at(keys))
    await putGeneration(1)
    copyFileSync(at(keys), at(`${keys}.0`))
    const kept = at(`${keys}.0-2`)
    expect(await backUp(store, 'later.db')).toEqual({ subjects: 1, keptKeysFile: kept })
    expect(readFileSync(kept)).toEqual(before)
    expect(await backUp(store, 'last.db')).toEqual({ subjects: 1, keptKeysFile: null })

    await expect(joinWith()).rejects.toThrow(`--keys ${at(`${keys}.0`)}.`)
    expect(await joinWith(copy, kept)).toEqual({ subjects: 1, erased: 0 })
    expect(await joinWith('later.db')).toEqual({ subjects: 1, erased: 0 })
  })

  it('is not made, and replaces nothing, where the file of keys cannot be opened', async () => {
    const store = await openStoreOf('ada')
    // A socket cannot be opened as a file, not even by root.
    const socket = createServer().listen(at(keys))
    await once(socket, 'listening')
    await expect(backUp(store, copy)).rejects.toThrow('SQLITE_CANTOPEN')
    expect(statSync(at(keys)).isSocket()).toBe(true)
    expect(existsSync(at(copy))).toBe(false)
    socket.close()
  })

  it('uses nothing of an attempt that a power cut has ended', async () => {
    const store = await openStoreOf('ada')
    await backUp(store, copy)
    await joinWith()
    const ended = connect(at(joined))
    ended.pragma('journal_mode = WAL')
    ended.exec(`UPDATE tenant SET name = 'of the ended attempt'`)
    copyFileSync(at(`${joined}-wal`), at('left'))
    ended.close()
    copyFileSync(at('left'), at(`${joined}-wal`))

    await joinWith()
    const restored = openStore(at(joined))
    expect(await names(restored)).toEqual(['a'])
    expect(await restored.check()).toEqual([])
  })

  it('leaves nothing behind when it fails', async () => {
    const store = await openStoreOf('ada')
    await backUp(store, copy)
    const codeOf = async (keysFile: string | null, database?: string) => {
      try {
        await joinWith(database, keysFile)
        return 'joined'
      } catch (error) {
        expect(existsSync(at(joined))).toBe(false)
        return (error as RestoreError).code
      }
    }
    const old = at('old.keys')
    copyFileSync(at(keys), old)
    await store.transaction('installation', (tx) =>
      tx.putAuditSeal({ tenantId: 'ten_a', sequence: 7, mac: bytes('mac') }),
    )
    await backUp(store, 'later.db')
    const other = SqliteStore.open(at('other.db'))
    await insertTenant(other, 'b')
    await makeBackup(at('other.db'), {
      file: at('other-copy.db'),
      keysFile: at('other.keys'),
      tables: other.tables,
    })
    await other.close()
    expect([
      await codeOf(null),
      await codeOf(at(copy)),
      await codeOf(at('other.keys')),
      await codeOf(old, 'later.db'),
      await codeOf(at(keys), keys),
      await codeOf(at(keys)),
    ]).toEqual(['keys_required', 'wrong_keys', 'wrong_keys', 'keys_too_old', 'not_a_backup', 'joined'])
  })
})
