/** Opens the configured store. The driver of the other database is not loaded. */
import { join } from 'node:path'
import { type Config, isPostgres, sqliteFile } from '../config/config.js'
import { isThere } from '../config/is-there.js'
import { describePostgres, parsePostgresUrl } from '../config/postgres-url.js'
import { type OpenOptions, type Store, StoreOpenError } from './store.js'

type DatabaseConfig = Pick<Config, 'database' | 'databasePasswordFile'> & Partial<Pick<Config, 'dataDir'>>

/**
 * Opens the store, and creates the database where there is none.
 * @throws ConfigError; StoreOpenError; SchemaOutdatedError for the schema of an earlier version, unless `serving` or `migrating`
 */
export async function openStore(config: DatabaseConfig, options: OpenOptions = {}): Promise<Store> {
  if (!isPostgres(config)) {
    const { SqliteStore } = await import('./sqlite/sqlite-store.js')
    return SqliteStore.open(sqliteFile(config), options)
  }
  const { openPostgresStore } = await import('./postgres/postgres-store.js')
  return advised(config, () =>
    openPostgresStore(config.database, {
      ...postgresOptions(config),
      ...options,
    }),
  )
}

/** Whether the database exists. Creates nothing. @throws ConfigError; StoreOpenError when PostgreSQL cannot be reached */
export async function hasDatabase(config: DatabaseConfig): Promise<boolean> {
  if (!isPostgres(config)) return isThere(sqliteFile(config))
  return (await schemas(config)).found > 0
}

/**
 * Reads the schema of the database (`found`, 0 when there is none) and of this version (`own`).
 * @throws ConfigError; StoreOpenError for a database that is another application's, a newer version's, or cannot be read
 */
export async function schemas(config: DatabaseConfig): Promise<{ found: number; own: number }> {
  if (!isPostgres(config)) {
    const { sqliteSchemas } = await import('./sqlite/sqlite-store.js')
    return sqliteSchemas(sqliteFile(config))
  }
  const { postgresSchemas } = await import('./postgres/postgres-store.js')
  return advised(config, () => postgresSchemas(config.database, postgresOptions(config)))
}

function postgresOptions({ databasePasswordFile, dataDir }: DatabaseConfig) {
  return {
    passwordFile: databasePasswordFile,
    timelineFile: dataDir === undefined ? undefined : join(dataDir, 'postgres-timelines.json'),
  }
}

/** Adds advice on what to do to the message that PostgreSQL cannot be used. */
async function advised<T>(
  { database, databasePasswordFile }: DatabaseConfig,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof StoreOpenError)) throw error
    const { postgresRemedy } = await import('./postgres/postgres-advice.js')
    const remedy = postgresRemedy(error.cause, parsePostgresUrl(database), databasePasswordFile)
    if (!remedy) throw error
    throw new StoreOpenError(`${error.message.replace(/[.:\s]+$/, '')}. ${remedy}`, {
      cause: error.cause,
      isPassing: error.isPassing,
    })
  }
}

/**
 * Reads the ids of the master keys that open the database.
 * @returns an empty list for a database without keys, or with a schema that this version does not read
 * @throws as `schemas` does
 */
export async function masterKeysOf(config: DatabaseConfig): Promise<string[]> {
  const { found, own } = await schemas(config)
  if (found === 0 || found < own) return []
  if (!isPostgres(config)) {
    const { peekMasterKeys } = await import('./sqlite/sqlite-peek.js')
    return peekMasterKeys(sqliteFile(config))
  }
  const { postgresMasterKeys } = await import('./postgres/postgres-store.js')
  return advised(config, () =>
    postgresMasterKeys(config.database, { passwordFile: config.databasePasswordFile }),
  )
}

/**
 * Whether the database server waits for its disk; null for SQLite, where Countersign itself sees to that.
 * @throws ConfigError; StoreOpenError when PostgreSQL cannot be reached
 */
export async function waitsForDisk(config: DatabaseConfig): Promise<boolean | null> {
  if (!isPostgres(config)) return null
  const { waitsForDisk } = await import('./postgres/postgres-store.js')
  return advised(config, () => waitsForDisk(config.database, postgresOptions(config)))
}

/** Location of the database for messages, without a password. @throws ConfigError */
export function describeDatabase(config: DatabaseConfig): string {
  return isPostgres(config) ? describePostgres(parsePostgresUrl(config.database)) : sqliteFile(config)
}
