/** A PostgreSQL database as one end of a copy. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase, PoolClient } from 'pg'
import { describePostgres } from '../../config/postgres-url.js'
import { COPIED_TABLES, type CopiedTable, TablePages } from '../copied-tables.js'
import { type CopyOrigin, type CopySource, type CopyTarget, StoreCopyError } from '../copy-side.js'
import { storeReader } from '../statements.js'
import { postgresConnection } from './postgres-connection.js'
import { PostgresEpochs } from './postgres-epochs.js'
import { isLockTimeout, translatePostgres } from './postgres-errors.js'
import { migrate, SCHEMA, schemaVersion } from './postgres-migrations.js'
import { PostgresPool } from './postgres-pool.js'
import { keepOperatorPassword, operatorPassword } from './postgres-shared.js'
import { accessOf, opening, type PostgresOptions } from './postgres-store.js'

/** "CSGM": with the table of the lane, which tells schemas apart, the name of the lock of whoever copies into a schema. */
const COPY_LOCK = 0x4353474d
/** What was killed may seem to be there for a while. */
const PATIENCE_MS = 5000
const RETRY_MS = 200
/** The lane under this lock is written by nobody, and so is nothing else that is copied. */
const LOCK_ALL_PARTITIONS = 'LOCK TABLE lane IN EXCLUSIVE MODE'
/** One connection has the transaction, one looks past it. */
const CONNECTIONS = 2

/**
 * Until it is closed nobody writes it: commands fail, and services cannot be started.
 * @throws ConfigError; StoreCopyError; StoreOpenError
 */
export function openPostgresSource(url: string, options: PostgresOptions): Promise<CopySource> {
  return connecting(url, options, async (pool, client, name) => {
    const version = await schemaVersion(client)
    if (version === 0) throw new StoreCopyError('source_missing', `There are no tables in the ${name}.`)
    assertVersion(version, 'source_outdated', name)
    await assertUnserved(pool, 'source_in_use', name)
    await client.query(`BEGIN ISOLATION LEVEL REPEATABLE READ; SET LOCAL lock_timeout = ${PATIENCE_MS}`)
    // Before the first look, which makes what is seen from then on.
    await client.query(LOCK_ALL_PARTITIONS).catch((error: unknown) => {
      throw isLockTimeout(error)
        ? new StoreCopyError('source_in_use', `The ${name} is being written. Stop what writes it first.`)
        : error
    })
    return {
      ...sideOf(pool, client),
      epochs: new PostgresEpochs(pool),
      // What has begun to serve meanwhile has written nothing yet, but waits for it.
      assertStill: () => assertUnserved(pool, 'source_in_use', name),
      async close() {
        await client.query('ROLLBACK').catch(() => {})
        client.release()
        await pool.end()
      },
    }
  })
}

/** Makes the schema where there is none. @throws ConfigError; StoreCopyError; StoreOpenError */
export function openPostgresTarget(url: string, options: PostgresOptions): Promise<CopyTarget> {
  return connecting(url, options, async (pool, client, name) => {
    const version = await schemaVersion(client, { isCopying: true })
    if (version === 0) await migrate(client)
    else assertVersion(version, 'target_outdated', name)
    await takeLock(client, name)
    const side = sideOf(pool, client)
    const types = new Map<string, Map<string, string>>()
    return {
      ...side,
      async state() {
        const mark = await unfinishedMark(client)
        if (mark !== null) return { kind: 'unfinished', mark }
        return { kind: (await isEmpty(side.tables)) ? 'empty' : 'taken' }
      },
      async begin({ mark, command }: CopyOrigin) {
        await assertUnserved(pool, 'target_in_use', name)
        await transaction(client, async () => {
          await client.query(LOCK_ALL_PARTITIONS)
          await client.query('CREATE TABLE unfinished_copy (mark text NOT NULL, command text NOT NULL)')
          await client.query('INSERT INTO unfinished_copy (mark, command) VALUES ($1, $2)', [mark, command])
          // A service that had opened the schema before may have begun to fill it.
          if (!(await isEmpty(side.tables)))
            throw new StoreCopyError('target_in_use', `Something else writes the ${name}.`)
        })
      },
      async insert(table, columns, rows) {
        const typeOf = types.get(table.name) ?? (await columnTypes(client, table))
        types.set(table.name, typeOf)
        const arrays = columns.map((column, i) => `$${i + 1}::${typeOf.get(column)}[]`)
        await client
          .query({
            name: `copy-${table.name}`,
            // In the order of the arrays: an audit log takes its entries in no other.
            text: `INSERT INTO ${table.name} (${columns.join(', ')}) OVERRIDING SYSTEM VALUE SELECT * FROM unnest(${arrays.join(', ')})`,
            values: columns.map((column) => rows.map((row) => row[column])),
          })
          .catch(refuse)
      },
      async empty() {
        await transaction(client, async () => {
          await client.query('ALTER TABLE audit DISABLE TRIGGER USER')
          await client.query(`TRUNCATE ${COPIED_TABLES.map((table) => table.name).join(', ')}`)
          await client.query('ALTER TABLE audit ENABLE TRIGGER USER')
        })
      },
      async finish() {
        await assertUnserved(pool, 'target_in_use', name)
        // Else the first calls would be planned for empty tables.
        await client.query(`ANALYZE ${COPIED_TABLES.map((table) => table.name).join(', ')}`).catch(refuse)
        await transaction(client, async () => {
          await client.query(
            `SELECT setval(pg_get_serial_sequence('capture', 'rowid'), coalesce(max(rowid), 1), max(rowid) IS NOT NULL) FROM capture`,
          )
          await client.query('DROP TABLE unfinished_copy')
        })
      },
      async close() {
        // The lock ends with the connection.
        client.release(true)
        await pool.end()
      },
    }
  })
}

/** @param work has the first of two connections */
async function connecting<T>(
  url: string,
  options: PostgresOptions,
  work: (pool: PostgresPool, client: PoolClient, name: string) => Promise<T>,
): Promise<T> {
  const access = accessOf(url, options)
  return opening(access.target, async () => {
    const pool = new PostgresPool(access, { size: CONNECTIONS, isLongRunning: true })
    let client: PoolClient | undefined
    try {
      client = await pool.acquire()
      return await work(pool, client, describePostgres(access.target))
    } catch (error) {
      client?.release(true)
      await pool.end()
      throw error
    }
  })
}

function sideOf(pool: PostgresPool, client: ClientBase) {
  const connection = postgresConnection((query) => client.query(query).catch(refuse))
  return {
    tables: new TablePages(connection),
    read: storeReader(connection),
    password: {
      operatorPassword: () => operatorPassword(pool),
      keepOperatorPassword: (hash: string, how?: { replace?: boolean }) =>
        keepOperatorPassword(pool, hash, how),
    },
    columns: async (table: CopiedTable) => [...(await columnTypes(client, table)).keys()],
  }
}

/** Columns that PostgreSQL computes from others are left out: they cannot be written. */
async function columnTypes(client: ClientBase, { name }: CopiedTable): Promise<Map<string, string>> {
  const { rows } = await client
    .query<{ column: string; type: string }>(
      `SELECT attname AS column, format_type(atttypid, NULL) AS type FROM pg_attribute
       WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum`,
      [name],
    )
    .catch(refuse)
  return new Map(rows.map(({ column, type }) => [column, type]))
}

async function isEmpty(tables: TablePages): Promise<boolean> {
  for (const table of COPIED_TABLES) if (await tables.hasRows(table)) return false
  return true
}

/** Null where no copy was begun. */
async function unfinishedMark(client: ClientBase): Promise<string | null> {
  const begun = await client
    .query(`SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'unfinished_copy'`)
    .catch(refuse)
  if (begun.rowCount === 0) return null
  const { rows } = await client.query<{ mark: string }>('SELECT mark FROM unfinished_copy').catch(refuse)
  return rows[0]!.mark
}

/** On a connection apart from what is copied: as of now. The lease of a service that was killed is waited for. @throws StoreCopyError */
async function assertUnserved(
  pool: PostgresPool,
  code: 'source_in_use' | 'target_in_use',
  name: string,
): Promise<void> {
  for (const untilMs = performance.now() + PATIENCE_MS; ; await sleep(RETRY_MS)) {
    const { rowCount } = await pool.query({
      text: 'SELECT 1 FROM node WHERE lease_until > clock_timestamp() LIMIT 1',
    })
    if (rowCount === 0) return
    if (performance.now() > untilMs)
      throw new StoreCopyError(code, `A Countersign serves from the ${name}. Stop all that do first.`)
  }
}

/** @throws StoreCopyError */
async function takeLock(client: ClientBase, name: string): Promise<void> {
  for (const untilMs = performance.now() + PATIENCE_MS; ; await sleep(RETRY_MS)) {
    const { rows } = await client.query<{ isTaken: boolean }>(
      `SELECT pg_try_advisory_lock(${COPY_LOCK}, 'lane'::regclass::oid::int) AS "isTaken"`,
    )
    if (rows[0]!.isTaken) return
    if (performance.now() > untilMs)
      throw new StoreCopyError('target_in_use', `Another migrate-store writes the ${name}.`)
  }
}

function assertVersion(version: number, code: 'source_outdated' | 'target_outdated', name: string): void {
  if (version !== SCHEMA)
    throw new StoreCopyError(
      code,
      `The ${name} has schema ${version}, this Countersign schema ${SCHEMA}: bring it up to date with \`countersign migrate\` first.`,
    )
}

async function transaction(client: ClientBase, work: () => Promise<void>): Promise<void> {
  try {
    await client.query('BEGIN')
    await work()
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    return refuse(error)
  }
}

function refuse(error: unknown): never {
  throw error instanceof StoreCopyError ? error : translatePostgres(error)
}
