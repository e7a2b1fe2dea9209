/** Tests of `countersign migrate-store`: databases copied from SQLite to PostgreSQL and back, with services before and after. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tablesOf } from '../../../src/features/index.js'
import { openPostgresSource, openPostgresTarget } from '../../../src/features/postgres/copy/postgres-copy.js'
import { openSqliteSource } from '../../../src/features/postgres/copy/sqlite-copy.js'
import { openPostgresStore } from '../../../src/features/postgres/store/postgres-store.js'
import { packageFile } from '../../../src/lib/package-root.js'
import { tablesWith } from '../../../src/storage/endings.js'
import { SqliteStore } from '../../../src/storage/sqlite/sqlite-store.js'
import { StoreUnavailableError } from '../../../src/storage/store.js'
import { apiClient } from '../../support/client.js'
import { poll, until, type Workplace, workplace } from '../../support/command.js'
import {
  changeSqlite,
  dumpPostgres,
  dumpSqlite,
  ENTRIES,
  filesBeside,
  lengthenLog,
  type Populated,
  populate,
  schemaOf,
  stop,
} from '../../support/full-database.js'
import { leash } from '../../support/leash.js'
import { OPERATOR_HASH } from '../../support/operator.js'
import { createDatabase, overPostgres, TABLES_OF_POSTGRES, testDatabase } from '../../support/postgres.js'
import { insertUser, tenant } from '../../support/records.js'

/** Time limit for tests that start services, on a busy machine. */
const LIMIT_MS = 240_000

overPostgres(() => {
  let place: Workplace
  let source: string
  let populated: Populated
  const database = testDatabase()
  let number = 0

  beforeAll(async () => {
    place = await workplace()
    source = place.path('countersign.db')
    populated = await populate(place)
  }, LIMIT_MS)
  afterAll(() => place?.dispose())

  const sqlite = (file: string) => `sqlite:${file}`
  const newFile = () => place.path(`other-${++number}.db`)
  /** A copy of the source that a test may change. */
  const copyOfSource = () => {
    const file = newFile()
    copyFileSync(source, file)
    return file
  }
  const shown = ({ url }: { url: string }) => url.replace(/:[^:@]+@/, '@')
  const move = (from: string, to: string, env: Record<string, string> = {}) =>
    place.run(['migrate-store', '--from', from, '--to', to, '--json'], env)
  const moved = async (from: string, to: string) => {
    const { code, stderr, json } = await move(from, to)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    return json
  }
  const refusal = async (from: string, to: string, env?: Record<string, string>) => {
    const { code, stdout, stderr } = await move(from, to, env)
    expect({ code: code === 0, stdout }).toEqual({ code: false, stdout: '' })
    return JSON.parse(stderr).error as { code: string; message: string }
  }
  /** Output of a command on a database. */
  const served = (url: string) => place.run(['tenant', 'list', '--json'], { COUNTERSIGN_DATABASE: url })

  it(
    'copies every row of SQLite to PostgreSQL, where the same keys open it, and leaves SQLite as it was',
    async () => {
      const before = filesBeside(source)
      const json = await moved(sqlite(source), database.url)
      expect(filesBeside(source)).toEqual(before)
      const held = dumpSqlite(source)
      expect(await dumpPostgres(database)).toEqual(held)
      const rows = Object.fromEntries(Object.entries(held).map(([name, { length }]) => [name, length]))
      expect(Object.entries(rows).filter(([, count]) => count === 0)).toEqual([])
      const total = Object.values(rows).reduce((sum, count) => sum + count, 0)
      expect(json).toEqual({
        from: sqlite(source),
        to: shown(database),
        rows: total,
        tables: rows,
        chains: [
          { tenant_id: 'ten_a', name: 'a', entries: 0, broken_at: null },
          { tenant_id: expect.stringMatching(/^ten_/), name: 'acme', entries: rows.audit, broken_at: null },
        ],
        seconds: expect.any(Number),
      })

      await useServed({ COUNTERSIGN_DATABASE: database.url })
    },
    LIMIT_MS,
  )

  it(
    'copies everything back to SQLite, with the current password of the operator',
    async () => {
      const passwordFile = place.path('operator.password')
      writeFileSync(passwordFile, `${OPERATOR_HASH}\n`)
      const back = newFile()
      try {
        await moved(sqlite(source), database.url)
        expect(await database.query('SELECT hash FROM operator_password')).toEqual([{ hash: OPERATOR_HASH }])
        const reset = `${OPERATOR_HASH.slice(0, -1)}Q`
        await database.query('UPDATE operator_password SET hash = $1', [reset])
        const held = await dumpPostgres(database)
        await moved(database.url, sqlite(back))
        expect(await dumpPostgres(database)).toEqual(held)
        expect(readFileSync(passwordFile, 'utf8')).toBe(`${reset}\n`)
      } finally {
        rmSync(passwordFile, { force: true })
      }
      expect(dumpSqlite(back)).toEqual(dumpSqlite(source))
      expect(schemaOf(back)).toEqual(schemaOf(source))
      await useServed({ COUNTERSIGN_DATABASE: sqlite(back) })
    },
    LIMIT_MS,
  )

  it(
    'wraps data keys without epochs in SQLite, and needs the keys of the epochs for it',
    async () => {
      const folder = place.path('epochs')
      mkdirSync(folder)
      const env = { COUNTERSIGN_DATABASE: database.url, COUNTERSIGN_EPOCH_KEYS: folder }
      await moved(sqlite(source), database.url)
      // A user whose data key is not a valid one.
      await database.query("DELETE FROM subject WHERE id = 'sub_eve'")
      for (let i = 0; i < 2; i++)
        expect((await place.run(['keys', 'rotate-epoch', '--json'], env)).code).toBe(0)
      const back = newFile()
      const without = await refusal(database.url, sqlite(back))
      expect(without.message).toContain('COUNTERSIGN_EPOCH_KEYS')
      expect((await move(database.url, sqlite(back), env)).code).toBe(0)
      const [held, copied] = [await dumpPostgres(database), dumpSqlite(back)]
      expect({ ...copied, subject: [] }).toEqual({ ...held, subject: [] })
      expect(copied.subject).toHaveLength(held.subject!.length)
      await useServed({ COUNTERSIGN_DATABASE: sqlite(back) })
    },
    LIMIT_MS,
  )

  it('copies the write-ahead log of a killed service too, and leaves both files as they were', async () => {
    const file = copyOfSource()
    const killed = newFile()
    const store = SqliteStore.open(file)
    await store.transaction('installation', (tx) => tx.insertTenant(tenant('late')))
    for (const suffix of ['', '-wal']) copyFileSync(file + suffix, killed + suffix)
    await store.close()
    const before = filesBeside(killed)
    await moved(sqlite(killed), database.url)
    expect(await database.query("SELECT name FROM tenant WHERE id = 'ten_late'")).toEqual([{ name: 'late' }])
    expect(filesBeside(killed)).toMatchObject(before)
    expect(before).toHaveProperty('-wal')
  })

  it('numbers captures after a move behind those before it', async () => {
    await moved(sqlite(source), database.url)
    const store = await openPostgresStore(database.url)
    await store.transaction('installation', (tx) => insertUser(tx, 'mary'))
    await store.close()
    const rows = await database.query('SELECT subject_id FROM capture ORDER BY rowid')
    expect(rows.at(-1)).toEqual({ subject_id: 'sub_mary' })
  })

  it('refuses to copy a second time, and leaves the finished copy as it is', async () => {
    await moved(sqlite(source), database.url)
    const held = await dumpPostgres(database)
    expect(await refusal(sqlite(source), database.url)).toMatchObject({
      code: 'target_not_empty',
      message: expect.stringContaining('one that was not has copied everything'),
    })
    expect(await dumpPostgres(database)).toEqual(held)
  })

  it('prints what was copied, which audit chains are intact, and what to do next', async () => {
    const { code, stdout, stderr } = await place.run([
      ...['migrate-store', '--from', sqlite(source), '--to', database.url],
    ])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^Copied \d+ rows\. All were read again on both sides/)
    expect(stdout).toMatch(/^audit +\d+$/m)
    expect(stdout).toMatch(/^acme +\d+ +intact$/m)
    expect(stdout).toContain(`Set COUNTERSIGN_DATABASE=${shown(database)} with the same master key`)
  })

  it('knows every table of both schemas as copied or as PostgreSQL’s own', async () => {
    const store = await openPostgresStore(database.url, { tables: tablesOf() })
    await store.close()
    const tables = await database.query(`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`)
    const copied = tablesWith(tablesOf()).map(({ name }) => name)
    expect(tables.map(({ name }) => name).sort()).toEqual([...copied, ...TABLES_OF_POSTGRES].sort())
    expect(Object.keys(dumpSqlite(source))).toEqual([...copied].sort())
  })

  it('copies an audit log that was tampered with as it is, and reports it', async () => {
    const file = copyOfSource()
    const tampered = new Database(file)
    tampered.exec("DROP TRIGGER audit_no_update; UPDATE audit SET entry = '{}' WHERE sequence = 3")
    tampered.close()
    const { code, json } = await move(sqlite(file), database.url)
    expect(code).toBe(1)
    expect(json.chains).toMatchObject([{ broken_at: null }, { name: 'acme', broken_at: 3 }])
    expect((await served(database.url)).code).toBe(0)
  })

  describe('a copy that is interrupted', () => {
    let long: string
    beforeAll(async () => {
      long = copyOfSource()
      await lengthenLog(place, long)
    }, LIMIT_MS)

    /** Starts the command as a process that can be killed. */
    const begin = (from: string, to: string) => {
      const child = spawn(
        process.execPath,
        [
          ...leash(),
          packageFile('dist', 'src', 'cli', 'main.js'),
          'migrate-store',
          '--from',
          from,
          '--to',
          to,
        ],
        {
          env: { PATH: process.env.PATH, COUNTERSIGN_DATA_DIR: place.dataDir },
          stdio: ['ignore', 'ignore', 'inherit'],
        },
      )
      const exited = once(child, 'close')
      return {
        isOver: () => child.exitCode !== null,
        async kill() {
          child.kill('SIGKILL')
          return (await exited)[1] === 'SIGKILL'
        },
      }
    }

    it(
      'leaves PostgreSQL as it was when it is killed at any point, and copies everything the next time',
      async () => {
        const tables = () => database.query(`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`)
        const isWaiting = () =>
          database.query(
            `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
          )
        // A reader locks the table against writers, so that a copy waits there until it is killed.
        for (const table of ['keyring', 'audit']) {
          const reader = new pg.Client(database.url)
          await reader.connect()
          await (await openPostgresStore(database.url)).close()
          await reader.query(`BEGIN; LOCK TABLE ${table} IN SHARE MODE`)
          const child = begin(sqlite(long), database.url)
          await poll(isWaiting, (rows) => rows.length > 0)
          expect(await child.kill()).toBe(true)
          await reader.end()
          await poll(isWaiting, (rows) => rows.length === 0)
          for (const rows of Object.values(await dumpPostgres(database))) expect(rows).toEqual([])
          await database.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public')
        }
        // A copy into an empty database leaves no schema either. A kill during the comparison or the last statement is also one before the
        // commit.
        const child = begin(sqlite(long), database.url)
        const copies = () =>
          database.query(
            `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'INSERT INTO audit %'`,
          )
        await poll(copies, (rows) => rows.length > 0 || child.isOver())
        if (await child.kill()) {
          await poll(
            () =>
              database.query(
                'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
              ),
            (rows) => rows.length === 0,
          )
          expect(await tables()).toEqual([])
        } else await database.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public')
        const json = await moved(sqlite(long), database.url)
        expect(json).toMatchObject({ tables: { audit: ENTRIES } })
        expect(await dumpPostgres(database)).toEqual(dumpSqlite(long))
        expect((await served(database.url)).json).toHaveLength(2)
      },
      LIMIT_MS,
    )

    it(
      'leaves SQLite without records when it is killed, and copies everything the next time',
      async () => {
        await moved(sqlite(long), database.url)
        const target = newFile()
        // Uncommitted changes are in the write-ahead log.
        const logBytes = () => statSync(`${target}-wal`, { throwIfNoEntry: false })?.size ?? 0
        // The copy may have committed before it is killed.
        for (let isKilled = false; !isKilled; ) {
          for (const suffix of ['', '-wal', '-shm', '-serving']) rmSync(target + suffix, { force: true })
          const child = begin(database.url, sqlite(target))
          await until(() => logBytes() > 0 || child.isOver())
          const wasKilled = await child.kill()
          const entries = dumpSqlite(target).audit?.length ?? 0
          expect([0, ENTRIES]).toContain(entries)
          isKilled = wasKilled && entries === 0
        }
        for (const rows of Object.values(dumpSqlite(target))) expect(rows).toEqual([])
        const json = await moved(database.url, sqlite(target))
        expect(json).toMatchObject({ tables: { audit: ENTRIES } })
        expect(dumpSqlite(target)).toEqual(dumpSqlite(long))
        expect((await served(sqlite(target))).json).toHaveLength(2)
      },
      LIMIT_MS,
    )

    it('leaves the target as it was when it fails, and makes no file', async () => {
      const before = await database.query(`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`)
      const odd = copyOfSource()
      // PostgreSQL refuses NUL in a text.
      changeSqlite(odd, "UPDATE tenant SET name = 'a' || char(0) || 'b' WHERE id = 'ten_a'")
      await refusal(sqlite(odd), database.url)
      expect(await database.query(`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`)).toEqual(
        before,
      )

      await moved(sqlite(source), database.url)
      await database.query('ALTER TABLE tenant DISABLE TRIGGER ALL; ALTER TABLE subject DISABLE TRIGGER ALL')
      await database.query("DELETE FROM tenant WHERE id = 'ten_a'")
      const file = newFile()
      await refusal(database.url, sqlite(file))
      expect(existsSync(file)).toBe(false)
    })
  })

  describe('a copy is refused', () => {
    it(
      '(source_in_use) while a service serves from the source',
      async () => {
        const file = copyOfSource()
        await moved(sqlite(source), database.url)
        const places: Array<[string, string]> = [
          [sqlite(file), database.url],
          [database.url, sqlite(newFile())],
        ]
        for (const [from, to] of places) {
          const server = await place.serve([], { COUNTERSIGN_DATABASE: from })
          expect((await refusal(from, to)).code).toBe('source_in_use')
          await stop(server)
        }
      },
      LIMIT_MS,
    )

    it(
      '(target_in_use) while a service serves from the target, or has only begun to',
      async () => {
        const file = copyOfSource()
        const server = await place.serve([], { COUNTERSIGN_DATABASE: sqlite(file) })
        await moved(sqlite(source), database.url)
        expect((await refusal(database.url, sqlite(file))).code).toBe('target_in_use')
        await stop(server)

        const begun = await createDatabase()
        await (await openPostgresStore(begun.url)).close()
        await begun.query("INSERT INTO node (id, lease_until) VALUES ('other', now() + interval '1 hour')")
        expect((await refusal(sqlite(source), begun.url)).code).toBe('target_in_use')
        await begun.drop()
      },
      LIMIT_MS,
    )

    it('(target_not_empty) when the target has data, which stay as they are', async () => {
      const other = copyOfSource()
      changeSqlite(other, "UPDATE tenant SET name = 'somebody' WHERE id = 'ten_a'")
      await moved(sqlite(other), database.url)
      const held = await dumpPostgres(database)
      const refused = await refusal(sqlite(source), database.url)
      expect(refused).toMatchObject({ code: 'target_not_empty' })
      expect(await dumpPostgres(database)).toEqual(held)
      expect((await served(database.url)).code).toBe(0)

      const before = dumpSqlite(source)
      expect((await refusal(database.url, sqlite(source))).code).toBe('target_not_empty')
      expect(dumpSqlite(source)).toEqual(before)
    })

    it('(target_in_use) during another migrate-store to the same target', async () => {
      const target = await openPostgresTarget(database.url, {})
      expect((await refusal(sqlite(source), database.url)).code).toBe('target_in_use')
      await target.close()
      await moved(sqlite(source), database.url)
    })

    it('(source_outdated, target_outdated) when source or target has another schema version', async () => {
      const old = copyOfSource()
      changeSqlite(old, 'PRAGMA user_version = 5')
      expect((await refusal(sqlite(old), database.url)).code).toBe('source_outdated')
      await moved(sqlite(source), database.url)
      await database.query('UPDATE schema_version SET version = version + 1')
      expect((await refusal(sqlite(source), database.url)).code).toBe('target_outdated')
      expect((await refusal(database.url, sqlite(newFile()))).code).toBe('source_outdated')
    })

    it('(source_outdated) when the source lacks a table of a feature, which the named command makes', async () => {
      const old = copyOfSource()
      changeSqlite(old, 'DROP TABLE shadow')
      const { code, message } = await refusal(sqlite(old), database.url)
      expect([code, message]).toEqual(['source_outdated', expect.stringContaining('lacks the table shadow')])
      await place.run(['migrate'], { COUNTERSIGN_DATABASE: sqlite(old) })
      await moved(sqlite(old), database.url)
      await database.query('ALTER TABLE shadow DROP COLUMN counts')
      expect((await refusal(database.url, sqlite(newFile()))).code).toBe('source_outdated')
      await database.query('DROP TABLE shadow')
      expect((await refusal(database.url, sqlite(newFile()))).code).toBe('source_outdated')
    })

    it('(source_missing) for an empty source, or because of another master key', async () => {
      const env = { COUNTERSIGN_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') }
      const wrong = await refusal(sqlite(source), database.url, env)
      expect(wrong.message).toContain('The master key does not open this database')
      expect((await refusal(sqlite(newFile()), database.url)).code).toBe('source_missing')
      expect((await refusal(database.url, sqlite(newFile()))).code).toBe('source_missing')
    })

    it('(invalid_option) between two databases of one kind, and never prints a password', async () => {
      for (const [from, to] of [
        [sqlite(source), sqlite(newFile())],
        [database.url, database.url],
        [source, database.url],
      ] as const)
        expect((await refusal(from, to)).code).toBe('invalid_option')
      const { stderr } = await move(sqlite(source), 'postgres://me:s3cret@127.0.0.1:1/nowhere')
      expect(JSON.parse(stderr).error.code).toBe('database_unusable')
      const bad = await move(sqlite(source), 'postgres://me:s3cret@127.0.0.1/x?nonsense=1')
      expect(JSON.parse(bad.stderr).error).toMatchObject({
        code: 'invalid_option',
        message: expect.stringMatching(/^--to cannot be used: nonsense/),
      })
      expect(stderr + bad.stderr).not.toContain('s3cret')
    })
  })

  it('takes the password for PostgreSQL from its file', async () => {
    const url = new URL(database.url)
    const file = place.path('database.password')
    writeFileSync(file, `${decodeURIComponent(url.password)}\n`, { mode: 0o600 })
    url.password = ''
    const { code } = await move(sqlite(source), url.href, { COUNTERSIGN_DATABASE_PASSWORD_FILE: file })
    expect(code).toBe(0)
  })

  it('notices when a command writes to SQLite meanwhile, and copies nothing', async () => {
    const file = copyOfSource()
    const opened = await openSqliteSource(file)
    changeSqlite(file, 'UPDATE subject SET failures = 5')
    await expect(opened.assertUnchanged()).rejects.toMatchObject({ code: 'source_changed' })
    await opened.close()
  })

  it('keeps everybody from writing to PostgreSQL while it is copied', async () => {
    await moved(sqlite(source), database.url)
    const opened = await openPostgresSource(database.url, {})
    const store = await openPostgresStore(database.url)
    const change = () =>
      store.transaction('installation', (tx) => tx.insertTenant(tenant('late')), performance.now() + 500)
    await expect(change()).rejects.toThrow(StoreUnavailableError)
    await opened.close()
    await change()
    await store.close()
  })

  /** Starts a service on the copied database: enrolled users are recognized, kept responses are replayed, and the audit logs are intact. */
  async function useServed(env: Record<string, string>): Promise<void> {
    const server = await place.serve([], env)
    const sandbox = apiClient(`${server.sandbox}/v1`, populated.sandboxKey)
    const production = apiClient(`${server.production}/v1`, populated.productionKey)
    const { image, kept } = populated
    for (const client of [sandbox, production]) {
      const { status, body } = await client.verify({ user_id: 'ada', image, action: 'login' })
      expect({ status, verdict: body.verdict }).toEqual({ status: 200, verdict: 'approved' })
    }
    const again = await production.enroll(kept.request, { headers: { 'X-Svc-Idempotency-Key': kept.key } })
    expect(again.text).toBe(kept.text)
    expect((await place.run(['audit', 'verify', '--json'], env)).json).toMatchObject([
      { name: 'a', broken_at: null },
      { name: 'acme', broken_at: null, entries: expect.any(Number) },
    ])
    await stop(server)
  }
})
