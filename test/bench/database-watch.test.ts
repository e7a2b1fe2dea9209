/** Tests of what the cluster benchmark sees of its database: table locks, waiting sessions, CPU time. */
import { existsSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readStat } from '../../bench/lib/cpu-times.js'
import { findPostmaster } from '../../bench/lib/database-cpu.js'
import { addLockSamples, DatabaseWatch } from '../../bench/lib/database-watch.js'
import { createDatabase, overPostgres, type TestDatabase } from '../support/postgres.js'

overPostgres(() => {
  let database: TestDatabase
  let watch: DatabaseWatch
  let one: pg.Client
  let other: pg.Client

  beforeAll(async () => {
    database = await createDatabase()
    await database.query('CREATE TABLE lane AS SELECT 1 AS id')
    one = new pg.Client(database.url)
    other = new pg.Client(database.url)
    await Promise.all([one.connect(), other.connect()])
    watch = await DatabaseWatch.open(database.url)
  })
  afterAll(async () => {
    await Promise.all(
      [watch, one, other].map((each) => (each instanceof pg.Client ? each.end() : each?.close())),
    )
    await database?.drop()
  })

  /** Runs statements in a transaction, watches while it is open, and rolls it back. */
  const locksWhile = async (...statements: string[]) => {
    await one.query('BEGIN')
    for (const statement of statements) await one.query(statement)
    const { use } = await watch.during(async () => {})
    await one.query('ROLLBACK')
    return use.locks
  }

  it.each(['SHARE', 'SHARE ROW EXCLUSIVE', 'EXCLUSIVE', 'ACCESS EXCLUSIVE'])(
    'counts a table that is locked in %s mode, and names it',
    async (mode) => {
      expect(await locksWhile(`LOCK TABLE lane IN ${mode} MODE`)).toEqual({
        all: 1,
        withTableLock: 1,
        withWaiting: 0,
        byTable: { lane: 1 },
      })
    },
  )

  it.each(['SELECT FROM lane FOR UPDATE', 'UPDATE lane SET id = 2', 'LOCK TABLE pg_class IN EXCLUSIVE MODE'])(
    'counts no table lock for %s',
    async (statement) => {
      expect(await locksWhile(statement)).toEqual({ all: 1, withTableLock: 0, withWaiting: 0, byTable: {} })
    },
  )

  it('counts a session that waits for the row of another one, and no table lock', async () => {
    await one.query('BEGIN; SELECT FROM lane FOR UPDATE')
    const waiting = other.query('SELECT FROM lane FOR UPDATE')
    await expect
      .poll(async () => (await watch.during(async () => {})).use.locks)
      .toEqual({ all: 1, withTableLock: 0, withWaiting: 1, byTable: {} })
    await one.query('COMMIT')
    await waiting
  })

  it('adds the samples of two rounds, table by table', () => {
    const samples = (byTable: Record<string, number>) => ({
      all: 4,
      withTableLock: 2,
      withWaiting: 1,
      byTable,
    })
    expect(addLockSamples(samples({ lane: 2 }), samples({ lane: 1, tenant: 1 }))).toEqual({
      all: 8,
      withTableLock: 4,
      withWaiting: 2,
      byTable: { lane: 3, tenant: 1 },
    })
  })

  it('takes no other process for the server: the pid of a server elsewhere may be in use here', async () => {
    const { rows } = await one.query<{ pid: number; clientPort: number }>(
      'SELECT pg_backend_pid() AS pid, inet_client_port() AS "clientPort"',
    )
    const backend = rows[0]!
    expect(findPostmaster({ ...backend, clientPort: backend.clientPort + 1 })).toBeNull()
    expect(findPostmaster({ ...backend, pid: process.pid })).toBeNull()
  })

  it.runIf(process.platform === 'linux')(
    'counts the CPU time of sessions, also of those that end meanwhile',
    async () => {
      const pidOf = async (client: pg.Client): Promise<number> =>
        (await client.query('SELECT pg_backend_pid() AS pid')).rows[0].pid
      const cpuMsOf = (pid: number) => readStat(`/proc/${pid}/stat`).cpuMs
      const burn = 'SELECT count(*) FROM generate_series(1, 1000000)'
      const lasting = await pidOf(one)
      const beforeMs = cpuMsOf(lasting)
      let endedMs = 0
      const { use } = await watch.during(async () => {
        await one.query(burn)
        const passing = new pg.Client(database.url)
        await passing.connect()
        const pid = await pidOf(passing)
        await passing.query(burn)
        endedMs = cpuMsOf(pid)
        await passing.end()
        await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false)
      })
      expect(Math.min(endedMs, cpuMsOf(lasting) - beforeMs)).toBeGreaterThan(0)
      expect(use.cpuMs).toBeGreaterThanOrEqual(endedMs + cpuMsOf(lasting) - beforeMs)
    },
  )
})
