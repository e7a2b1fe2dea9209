/** Watches a PostgreSQL database under load over a connection of its own: which locks are held, and the CPU time. */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { onCleanUp } from './clean-up.js'
import { type Backend, findPostmaster, readServerCpuMs } from './database-cpu.js'

/** Milliseconds between two looks at the locks. */
const SAMPLE_MS = 100
/** Modes of a table lock with which only one session can write the table. */
const EXCLUDING_MODES = ['ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock']
/**
 * Sessions that wait for a row also have entries of these modes in pg_locks, under another type than `relation`: they
 * keep out only each other.
 */
const LOCKS = {
  name: 'locks',
  text: `SELECT coalesce(bool_or(NOT granted), false) AS "isAnyWaiting",
    coalesce(array_agg(DISTINCT relname::text) FILTER (WHERE relname IS NOT NULL), '{}') AS tables
    FROM pg_locks JOIN pg_stat_activity USING (pid)
    LEFT JOIN pg_class ON locktype = 'relation' AND mode = ANY ($1) AND pg_class.oid = relation
      AND relkind = 'r' AND relnamespace = current_schema()::text::regnamespace
    WHERE datname = current_database()`,
  values: [EXCLUDING_MODES],
}

/** Numbers of samples. */
export interface LockSamples {
  all: number
  /** Samples in which a session held a whole table against all other writers, or waited to do so. */
  withTableLock: number
  /** Samples in which a session waited for a lock of any kind. */
  withWaiting: number
  /** The samples with a table lock by the name of the table; a sample may count for several tables. */
  byTable: Record<string, number>
}

export interface DatabaseUse {
  locks: LockSamples
  /** CPU time of the server, in milliseconds; null where the server does not run on this machine. */
  cpuMs: number | null
}

export class DatabaseWatch {
  private constructor(
    private readonly client: pg.Client,
    private readonly backend: Backend,
  ) {}

  static async open(url: string): Promise<DatabaseWatch> {
    const client = new pg.Client(url)
    // An error of the idle connection would end the process; the next query fails with it.
    client.on('error', () => {})
    await client.connect()
    const { rows } = await client.query<Backend>(
      'SELECT pg_backend_pid() AS pid, inet_client_port() AS "clientPort"',
    )
    const watch = new DatabaseWatch(client, rows[0]!)
    onCleanUp(() => watch.close())
    return watch
  }

  /** Watches while `work` runs. */
  async during<T>(work: () => Promise<T>): Promise<{ value: T; use: DatabaseUse }> {
    let isOver = false
    const beforeMs = this.readCpuMs()
    const [value, locks] = await Promise.all([
      work().finally(() => {
        isOver = true
      }),
      this.sampleLocks(() => isOver),
    ])
    const afterMs = this.readCpuMs()
    const cpuMs = beforeMs === null || afterMs === null ? null : afterMs - beforeMs
    return { value, use: { locks, cpuMs } }
  }

  /** Safe to call twice. */
  async close(): Promise<void> {
    await this.client.end()
  }

  private readCpuMs(): number | null {
    const postmaster = findPostmaster(this.backend)
    return postmaster === null ? null : readServerCpuMs(postmaster, this.backend.pid)
  }

  private async sampleLocks(isOver: () => boolean): Promise<LockSamples> {
    const samples: LockSamples = { all: 0, withTableLock: 0, withWaiting: 0, byTable: {} }
    do {
      const { rows } = await this.client.query<{ isAnyWaiting: boolean; tables: string[] }>(LOCKS)
      const { isAnyWaiting, tables } = rows[0]!
      samples.all++
      if (isAnyWaiting) samples.withWaiting++
      if (tables.length > 0) samples.withTableLock++
      for (const table of tables) samples.byTable[table] = (samples.byTable[table] ?? 0) + 1
      await sleep(SAMPLE_MS)
    } while (!isOver())
    return samples
  }
}

export function addLockSamples(a: LockSamples, b: LockSamples): LockSamples {
  const byTable = { ...a.byTable }
  for (const [table, count] of Object.entries(b.byTable)) byTable[table] = (byTable[table] ?? 0) + count
  return {
    all: a.all + b.all,
    withTableLock: a.withTableLock + b.withTableLock,
    withWaiting: a.withWaiting + b.withWaiting,
    byTable,
  }
}
