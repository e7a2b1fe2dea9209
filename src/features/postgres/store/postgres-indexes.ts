/**
 * Indexes over the audit log, which may have many millions of rows. A step of the schema blocks all writing while it runs, so it cannot build
 * them: they are built concurrently, while services of the previous version go on writing.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'

/**
 * SQL of a text field of an audit entry, null where there is none. The entry is canonical JSON: no blanks, and quotes inside a string are
 * escaped. A cast to JSON would refuse an entry that somebody has damaged.
 */
export function entryText(entry: string, field: string): string {
  return `substring(${entry} FROM '"${field}":"([0-9a-z_]+)"')`
}

/** The tenant comes first, so that the planner prefers these indexes even before it has statistics of the expressions. */
const INDEXES: ReadonlyArray<{ name: string; on: string }> = [
  {
    name: 'audit_verification',
    on: `audit (tenant_id, (${entryText('entry', 'verification_id')})) WHERE event = 'verify'`,
  },
  {
    name: 'audit_erased',
    on: `audit (tenant_id, (${entryText('entry', 'subject')})) WHERE event = 'delete'`,
  },
]

/** "CSGI": the advisory lock under which one process at a time builds indexes. */
const BUILD_LOCK = 0x43534749
/** Processes that wait for the lock ask again: a statement that waits holds a snapshot, which the build would wait for in turn. */
const RETRY_MS = 200

/** Creates the indexes of a new schema, inside the caller's transaction: its tables are empty. */
export async function createIndexes(client: ClientBase): Promise<void> {
  for (const { name, on } of INDEXES) await client.query(`CREATE INDEX ${name} ON ${on}`)
}

/**
 * Builds the indexes that are missing, and those that a build left unfinished. Others go on reading and writing meanwhile. Where another process
 * builds them, this one waits until they are there.
 */
export async function buildMissingIndexes(client: ClientBase): Promise<void> {
  while ((await missingIndexes(client)).length > 0) {
    if (await isLockTaken(client)) {
      await sleep(RETRY_MS)
      continue
    }
    try {
      await client.query('SET statement_timeout = 0; SET lock_timeout = 0')
      for (const { name, on } of await missingIndexes(client)) {
        await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`)
        await client.query(`CREATE INDEX CONCURRENTLY ${name} ON ${on}`)
      }
    } finally {
      await client.query('SELECT pg_advisory_unlock($1)', [BUILD_LOCK])
    }
  }
}

async function missingIndexes(client: ClientBase): Promise<typeof INDEXES> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
     WHERE indisvalid AND relnamespace = current_schema()::regnamespace`,
  )
  const valid = new Set(rows.map(({ name }) => name))
  return INDEXES.filter(({ name }) => !valid.has(name))
}

/** Tries to take the lock. @returns true where another process holds it */
async function isLockTaken(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [
    BUILD_LOCK,
  ])
  return !rows[0]!.taken
}
