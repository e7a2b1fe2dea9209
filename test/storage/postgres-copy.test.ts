/** `countersign migrate-store`: whole databases moved from SQLite to PostgreSQL and back, with services before and after. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { TABLES_OF_POSTGRES } from '../../src/storage/copied-tables.js'
import { SqliteStore } from '../../src/storage/sqlite-store.js'
import { apiClient } from '../support/client.js'
import { type ServerProcess, type Workplace, workplace } from '../support/command.js'
import { base64, face } from '../support/faces.js'
import { createDatabase, overPostgres, type TestDatabase } from '../support/postgres.js'
import { captureSession, insertUser, session, tenant } from '../support/records.js'

/** Services that start on a busy machine. */
const LIMIT_MS = 240_000

interface Populated {
  sandboxKey: string
  productionKey: string
  image: string
  /** What was answered to an idempotency key. */
  kept: { key: string; request: Record<string, unknown>; text: string }
}

overPostgres(() => {
  let place: Workplace
  let source: string
  let populated: Populated
  let database: TestDatabase
  const others: TestDatabase[] = []

  beforeAll(async () => {
    place = await workplace()
    source = place.path('countersign.db')
    populated = await populate(place)
  }, LIMIT_MS)
  beforeEach(async () => {
    database = await createDatabase()
  })
  afterEach(async () => {
    for (const one of [database, ...others.splice(0)]) await one.drop()
  })
  afterAll(() => place?.dispose())

  const move = (from: string, to: string, env: Record<string, string> = {}) =>
    place.run(['migrate-store', '--from', from, '--to', to, '--json'], env)

  it(
    'every row of SQLite is in PostgreSQL afterwards, and is served there by the same keys; SQLite stays as it was',
    async () => {
      const before = filesBeside(source)
      const moved = await move(`sqlite:${source}`, database.url)
      expect(moved).toMatchObject({ code: 0, stderr: '' })
      expect(filesBeside(source)).toEqual(before)
      const held = dumpSqlite(source)
      expect(await dumpPostgres(database)).toEqual(held)
      const rows = Object.fromEntries(Object.entries(held).map(([name, { length }]) => [name, length]))
      expect(Object.entries(rows).filter(([, count]) => count === 0)).toEqual([])
      const total = Object.values(rows).reduce((sum, count) => sum + count, 0)
      expect(moved.json).toEqual({
        from: `sqlite:${source}`,
        to: database.url.replace(/:[^:@]+@/, '@'),
        rows: total,
        copied: total,
        was_finished: false,
        tables: rows,
        chains: [
          { tenant_id: 'ten_a', name: 'a', entries: 0, broken_at: null },
          { tenant_id: expect.stringMatching(/^ten_/), name: 'acme', entries: rows.audit, broken_at: null },
        ],
        seconds: expect.any(Number),
      })

      const env = { COUNTERSIGN_DATABASE: database.url }
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
    },
    LIMIT_MS,
  )
})

/** A service with a tenant and all that it can have; what only comes about elsewhere is put there afterwards. */
async function populate(place: Workplace): Promise<Populated> {
  const server = await place.serve()
  const run = async (...args: string[]) => {
    const { code, json, stderr } = await place.run([...args, '--json'])
    expect({ args, code, stderr: code === 0 ? '' : stderr }).toEqual({ args, code: 0, stderr: '' })
    return json
  }
  const image = base64(await face('ada'))
  const { sandbox_key: sandboxKey } = await run('tenant', 'create', 'acme', '--rate-limit', '1000/s')
  const sandbox = apiClient(`${server.sandbox}/v1`, sandboxKey)
  await run('webhook', 'add', 'acme', 'http://127.0.0.1:9/', '--sandbox')
  await run('webhook', 'add', 'acme', 'http://127.0.0.1:9/')
  expect((await sandbox.enroll({ user_id: 'ada', image })).status).toBe(201)
  const verified = await sandbox.verify({ user_id: 'ada', image, action: 'login' })
  expect(verified.body).toMatchObject({ verdict: 'approved', production_key: 'issued' })
  const { production_key: productionKey } = await run('tenant', 'production-key', 'acme')
  const production = apiClient(`${server.production}/v1`, productionKey)
  const kept = { key: 'a-key-of-the-test', request: { user_id: 'ada', image }, text: '' }
  const enrolled = await production.enroll(kept.request, { headers: { 'X-Svc-Idempotency-Key': kept.key } })
  expect(enrolled.status).toBe(201)
  kept.text = enrolled.text
  const other = base64(await face('grace'))
  expect((await production.enroll({ user_id: 'grace', image: other })).status).toBe(201)
  expect((await production.verify({ user_id: 'grace', image, action: 'login' })).body.verdict).toBe(
    'rejected',
  )
  for (const client of [sandbox, production]) {
    expect((await client.enroll({ user_id: 'gone', image: other })).status).toBe(201)
    expect((await client.erase('gone')).status).toBe(200)
    expect((await client.call('POST', '/v1/challenges', { user_id: 'ada', action: 'login' })).status).toBe(
      201,
    )
  }
  await run('tenant', 'rotate-signing', 'acme')
  await run('tenant', 'login-link', 'acme')
  await run('operator', 'add', 'olga', '--role', 'viewer')
  await run('backup', place.path('copy.db'))
  await stop(server)
  const store = SqliteStore.open(place.path('countersign.db'))
  await store.transaction(async (tx) => {
    await tx.insertTenant(tenant('a', { fmr: 1e-5, ratePerSecond: 0.1, suspendedAt: 1 }))
    await insertUser(tx, 'eve')
    await tx.setLockout('sub_eve', { failures: 7, lockedUntil: 1_790_000_000_001, disabledAt: null })
    await tx.putCaptureSession(captureSession('open', { link: Buffer.from([0, 255, 92, 39]) }))
    await tx.insertDashboardSession(session('hash of a session'))
  })
  await store.close()
  return { sandboxKey, productionKey, image, kept }
}

async function stop(server: ServerProcess): Promise<void> {
  server.signal('SIGTERM')
  expect(await server.exited).toMatchObject({ code: 0 })
}

/** What a database's own files are. */
function filesBeside(file: string): Record<string, string> {
  return Object.fromEntries(
    ['', '-wal', '-shm', '-journal']
      .filter((suffix) => existsSync(file + suffix))
      .map((suffix) => [
        suffix,
        createHash('sha256')
          .update(readFileSync(file + suffix))
          .digest('hex'),
      ]),
  )
}

/** Every row as text, by table; read as another program would. */
type Dump = Record<string, string[]>

const rowText = (row: Record<string, unknown>) =>
  JSON.stringify(
    Object.entries(row)
      .map(([column, value]) => [column, Buffer.isBuffer(value) ? value.toString('hex') : value])
      .sort(([one], [other]) => (`${one}` < `${other}` ? -1 : 1)),
  )

function dumpSqlite(file: string): Dump {
  const database = new Database(file, { readonly: true })
  try {
    const names = database
      .prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table'`)
      .pluck()
      .all()
    return Object.fromEntries(
      names.sort().map((name) => {
        const columns = name === 'capture' ? 'rowid AS rowid, *' : '*'
        const rows = database.prepare<[], Record<string, unknown>>(`SELECT ${columns} FROM ${name}`).all()
        return [name, rows.map(rowText).sort()]
      }),
    )
  } finally {
    database.close()
  }
}

async function dumpPostgres({ query }: TestDatabase): Promise<Dump> {
  const tables = await query(`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`)
  const dump: Dump = {}
  for (const { name } of tables.filter(({ name }) => !TABLES_OF_POSTGRES.includes(name as string))) {
    const [{ columns }] = (await query(
      `SELECT string_agg(attname || CASE WHEN format_type(atttypid, NULL) = 'bigint' THEN '::float8' ELSE '' END, ', ') AS columns
       FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped`,
      [name],
    )) as [{ columns: string }]
    dump[name as string] = (await query(`SELECT ${columns} FROM ${name}`)).map(rowText).sort()
  }
  return dump
}
