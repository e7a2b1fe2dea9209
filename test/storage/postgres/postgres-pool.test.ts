import { beforeAll, describe, expect, it } from 'vitest'
import { PostgresPool } from '../../../src/features/postgres/store/postgres-pool.js'
import { TIMEOUTS } from '../../../src/features/postgres/store/postgres-session.js'
import { accessTo, overPostgres, testDatabase } from '../../support/postgres.js'

const SIZE = 4
const LOCKED = 'SELECT 0 AS i, pg_advisory_xact_lock_shared(1)'
const PID = { name: 'pid', text: 'SELECT pg_backend_pid() AS pid' }

overPostgres(() => {
  const database = testDatabase('all tests')
  let pool: PostgresPool
  beforeAll(() => {
    pool = new PostgresPool(accessTo(database), { size: SIZE, timeouts: TIMEOUTS })
    database.closing({ close: () => pool.end() })
  })
  const brief = async (text: string, values?: unknown[]) =>
    (await pool.query({ text, isQuick: true, ...(values ? { values } : {}) })).rows[0]
  const pids = (count: number, isQuick: boolean) =>
    Promise.all(
      Array.from(
        { length: count },
        async () => (await pool.query({ ...PID, isQuick })).rows[0].pid as number,
      ),
    )

  const atWork = async (statement: string) => {
    const rows = await database.query(
      `SELECT pid FROM pg_stat_activity WHERE query = $1 AND state = 'active'`,
      [statement],
    )
    return rows.map(({ pid }) => pid as number)
  }

  /** Takes the lock that LOCKED waits for. @returns a function that releases it */
  const lock = async () => {
    const client = await pool.acquire()
    await client.query('SELECT pg_advisory_lock(1)')
    return async () => {
      await client.query('SELECT pg_advisory_unlock(1)')
      client.release()
    }
  }

  describe('a quick statement', () => {
    it('shares a connection with all quick statements of the moment', async () => {
      expect(new Set(await pids(20, true)).size).toBe(1)
      expect(new Set(await pids(20, false)).size).toBe(SIZE)
    })

    it('gets its own answer, and fails without the others', async () => {
      const asked = Array.from({ length: 20 }, (_, i) => brief('SELECT 12 / $1::int AS quotient', [i % 4]))
      const answers = await Promise.allSettled(asked)
      for (const [i, answer] of answers.entries())
        if (i % 4 === 0) expect(answer).toMatchObject({ reason: { code: '22012' } })
        else expect(answer).toEqual({ status: 'fulfilled', value: { quotient: 12 / (i % 4) } })
    })

    it('does not wait behind a statement that takes long', async () => {
      const unlock = await lock()
      const slow = brief(LOCKED)
      let others = 0
      const asking = setInterval(() => void brief('SELECT 1').then(() => others++), 20)
      await expect.poll(() => others).toBeGreaterThan(0)
      clearInterval(asking)
      await unlock()
      await slow
    })

    it('is sent once more when a shared connection is lost', async () => {
      const unlock = await lock()
      const asked = [brief(LOCKED), ...[1, 2, 3].map((i) => brief(`SELECT ${i} AS i`))]
      let pid = 0
      await expect.poll(async () => ([pid = 0] = await atWork(LOCKED))).toHaveLength(1)
      await database.query('SELECT pg_terminate_backend($1)', [pid])
      await unlock()
      expect((await Promise.all(asked)).map(({ i }) => i)).toEqual([0, 1, 2, 3])
      expect(await pids(1, true)).not.toContain(pid)
    })

    it('is waited for when the pool ends', async () => {
      const ending = new PostgresPool(accessTo(database), { size: 1, timeouts: TIMEOUTS })
      let answered = 0
      for (let i = 0; i < 3; i++)
        void ending.query({ text: 'SELECT pg_sleep(0.3), 3', isQuick: true }).then(() => answered++)
      await expect.poll(() => atWork('SELECT pg_sleep(0.3), 3')).toHaveLength(1)
      await ending.end()
      expect(answered).toBe(3)
    })
  })

  it('returns the same row however often a statement was sent before', async () => {
    const columns = {
      bytes: [`'\\x00ff5c78'::bytea`, Buffer.from([0, 255, 0x5c, 0x78])],
      noBytes: [`''::bytea`, Buffer.alloc(0)],
      time: ['1764000000000::bigint', 1_764_000_000_000],
      before: ['(-9007199254740991)::bigint', Number.MIN_SAFE_INTEGER],
      number: ['(-2147483648)::int', -2_147_483_648],
      real: ['0.1::float8', 0.1],
      yes: ['true', true],
      no: ['false', false],
      text: [`'ä👩🏽‍💻'::text`, 'ä👩🏽‍💻'],
      noText: [`''::text`, ''],
      json: [`'{"a":[1]}'::json`, { a: [1] }],
      list: [`ARRAY['a', 'b']`, ['a', 'b']],
      nothing: ['NULL::bytea', null],
    } as const
    const names = Object.keys(columns)
    const row = Object.fromEntries(Object.entries(columns).map(([name, [, value]]) => [name, value]))
    const text = `SELECT ${Object.entries(columns).map(([name, [sql]]) => `${sql} AS "${name}"`)}, $1::text AS given`
    for (let i = 0; i < 3; i++) {
      const [one] = (await pool.query({ name: 'columns', text, values: [`${i}`], isQuick: true })).rows
      expect(one).toEqual({ ...row, given: `${i}` })
      expect(Object.keys(one)).toEqual([...names, 'given'])
    }
  })

  it('prepares a statement again once its columns were changed', async () => {
    await database.query(`CREATE TABLE changing AS SELECT 1::int AS n`)
    const statement = { name: 'changing', text: 'SELECT n FROM changing', isQuick: true }
    for (let i = 0; i < 2; i++) expect((await pool.query(statement)).rows).toEqual([{ n: 1 }])
    await database.query('ALTER TABLE changing ALTER n TYPE text')
    expect((await pool.query(statement)).rows).toEqual([{ n: '1' }])
  })

  it('rejects statements that left together when the first of their name cannot be parsed', async () => {
    const timeouts = { ...TIMEOUTS, lockMs: 100 }
    const impatient = new PostgresPool(accessTo(database), { size: 1, timeouts })
    await database.query('CREATE TABLE altered (n int)')
    const client = await pool.acquire()
    await client.query('BEGIN; LOCK TABLE altered')
    const statement = { name: 'altered', text: 'SELECT n FROM altered', isQuick: true }
    const answers = await Promise.allSettled([1, 2, 3].map(() => impatient.query(statement)))
    await client.query('COMMIT')
    client.release()
    for (const answer of answers) expect(answer).toMatchObject({ reason: { code: 'store_unavailable' } })
    expect((await impatient.query(statement)).rows).toEqual([])
    await impatient.end()
  })
})
