/** A PostgreSQL database as source or target of a copy. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase, PoolClient } from 'pg'
import { TABLES, tablesWith } from '../../../storage/endings.js'
import { storeReader } from '../../../storage/statements/statements.js'
import { describePostgres } from '../postgres-url.js'
import { postgresConnection } from '../store/postgres-connection.js'
import { isLockTimeout, translatePostgres } from '../store/postgres-errors.js'
import { createSchema, SCHEMA, schemaVersion } from '../store/postgres-migrations.js'
import { PostgresPool, type PostgresQuery } from '../store/postgres-pool.js'
import { epochsIn, passwordIn } from '../store/postgres-shared-store.js'
import { accessOf, opening, type PostgresOptions } from '../store/postgres-store.js'
import {
  assertEmpty,
  assertVersion,
  type CopiedTable,
  type CopySource,
  type CopyTarget,
  StoreCopyError,
} from './copy-store.js'

/** A service that was killed keeps its lease, and a connection that was lost its locks, for a while. */
const PATIENCE_MS = 5000
const RETRY_MS = 200
/** One connection has the transaction, the other sees what is committed meanwhile. */
const CONNECTIONS = 2

/**
 * Nobody can write the database until the source is closed: commands fail, and services cannot start.
 * @throws ConfigError; StoreCopyError; StoreOpenError
 */
export function openPostgresSource(url: string, options: PostgresOptions): Promise<CopySource> {
  return connecting(url, options, async (pool, client, name) => {
    const version = await schemaVersion(client)
    if (version === 0) throw new StoreCopyError('source_missing', `There are no tables in the ${name}.`)
    assertVersion(version, SCHEMA, 'source_outdated', `The ${name}`)
    await assertUnserved(pool, 'source_in_use', name)
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
    // Before the first SELECT, which takes the snapshot. Every writer needs a row of `lane`, so the lock keeps all of them out.
    await locking(client.query('LOCK TABLE lane IN EXCLUSIVE MODE'), 'source_in_use', name)
    return {
      ...sideOf(client, pool),
      shared: epochsIn(pool, null, null),
      // A service that has started meanwhile has written nothing yet, but waits for it.
      assertUnchanged: () => assertUnserved(pool, 'source_in_use', name),
    }
  })
}

/**
 * Begins the transaction of the copy, and creates the schema in it where there is none.
 * @throws ConfigError; StoreCopyError target_in_use, target_not_empty, target_outdated; StoreOpenError
 */
export function openPostgresTarget(url: string, options: PostgresOptions): Promise<CopyTarget> {
  return connecting(url, options, async (pool, client, name) => {
    await client.query('BEGIN')
    const version = await locking(createSchema(client, options.tables ?? []), 'target_in_use', name)
    if (version > 0) assertVersion(version, SCHEMA, 'target_outdated', `The ${name}`)
    await assertUnserved(client, 'target_in_use', name)
    // From here on no command writes, and no service announces itself or renews its lease.
    await locking(client.query('LOCK TABLE node, lane IN EXCLUSIVE MODE'), 'target_in_use', name)
    await assertUnserved(client, 'target_in_use', name, 0)
    const side = sideOf(client, pool)
    const tables = tablesWith(options.tables ?? [])
    await assertEmpty(side.connection, tables)
    const types = new Map<CopiedTable, Map<string, string>>()
    return {
      ...side,
      async insert(table, columns, rows) {
        const typeOf = types.get(table) ?? (await columnTypes(client, table))
        types.set(table, typeOf)
        const arrays = columns.map((column, i) => `$${i + 1}::${typeOf.get(column)}[]`)
        await side.query({
          name: `copy-${table.name}`,
          // In the order of the arrays: the triggers of the audit log accept its entries in no other.
          text: `INSERT INTO ${table.name} (${columns.join(', ')}) OVERRIDING SYSTEM VALUE SELECT * FROM unnest(${arrays.join(', ')})`,
          values: columns.map((column) => rows.map((row) => row[column])),
        })
      },
      async commit() {
        for (const text of [
          // Without statistics the first calls would be planned for empty tables.
          `ANALYZE ${tables.map((table) => table.name).join(', ')}`,
          `SELECT setval(pg_get_serial_sequence('capture', 'rowid'), coalesce(max(rowid), 1), max(rowid) IS NOT NULL) FROM capture`,
          'COMMIT',
        ])
          await side.query({ text })
      },
    }
  })
}

/** @param work gets one of the two connections of `pool` for itself */
async function connecting<T>(
  url: string,
  options: PostgresOptions,
  work: (pool: PostgresPool, client: PoolClient, name: string) => Promise<T>,
): Promise<T> {
  const access = accessOf(url, options)
  return opening(access.target, async () => {
    const pool = new PostgresPool(access, { size: CONNECTIONS, timeouts: null })
    let client: PoolClient | undefined
    try {
      client = await pool.acquire()
      await client.query(`SET lock_timeout = ${PATIENCE_MS}`)
      return await work(pool, client, describePostgres(access.target))
    } catch (error) {
      client?.release(true)
      await pool.end()
      throw error
    }
  })
}

function sideOf(client: PoolClient, pool: PostgresPool) {
  const query = (text: PostgresQuery) => client.query(text).catch(refuse)
  const connection = postgresConnection(query)
  return {
    connection,
    query,
    read: storeReader(connection, TABLES),
    password: passwordIn({ query }),
    columns: async (table: CopiedTable) => [...(await columnTypes(client, table)).keys()],
    async close() {
      // A transaction that is still open ends with its connection.
      client.release(true)
      await pool.end()
    },
  }
}

/** PostgreSQL types by column. Columns that it computes from others are left out: they cannot be written. */
async function columnTypes(client: ClientBase, { name }: CopiedTable): Promise<Map<string, string>> {
  const { rows } = await client
    .query<{ column: string; type: string }>(
      `SELECT attname AS column, format_type(atttypid, NULL) AS type FROM pg_attribute
       WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum`,
      [name],
    )
    .catch(refuse)
  return new Map(rows.map(({ column, type }) => [column, type]))
}

/** Waits until the lease of a service that was killed has ended. @throws StoreCopyError */
async function assertUnserved(
  sees: Pick<PostgresPool, 'query'>,
  code: 'source_in_use' | 'target_in_use',
  name: string,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  for (const untilMs = performance.now() + patienceMs; ; await sleep(RETRY_MS)) {
    const { rowCount } = await sees.query({
      text: 'SELECT 1 FROM node WHERE lease_until > clock_timestamp() LIMIT 1',
    })
    if (rowCount === 0) return
    if (performance.now() > untilMs)
      throw new StoreCopyError(code, `A Countersign service uses the ${name}. Stop all services on it first.`)
  }
}

/** @param work waits for locks @throws StoreCopyError when somebody else holds one for longer than PATIENCE_MS */
async function locking<T>(
  work: Promise<T>,
  code: 'source_in_use' | 'target_in_use',
  name: string,
): Promise<T> {
  return work.catch((error: unknown) => {
    throw isLockTimeout(error)
      ? new StoreCopyError(code, `The ${name} is being written. Stop what writes it first.`)
      : error
  })
}

function refuse(error: unknown): never {
  throw translatePostgres(error)
}
