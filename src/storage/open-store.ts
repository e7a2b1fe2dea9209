/** The store that is configured; the driver of the other is not loaded. */
import { join } from 'node:path'
import { type Config, isPostgres, sqliteFile } from '../config/config.js'
import { isThere } from '../config/is-there.js'
import { describePostgres, parsePostgresUrl } from '../config/postgres-url.js'
import { type Store, StoreOpenError } from './store.js'

export interface OpenOptions {
  /** By a service: alone on a SQLite file, beside others on PostgreSQL. Commands work beside it. */
  serving?: boolean
  /** The schema of an earlier version may be brought up to date, as a service does at its start. */
  migrating?: boolean
}

type DatabaseConfig = Pick<Config, 'database' | 'databasePasswordFile'> & Partial<Pick<Config, 'dataDir'>>

/**
 * Makes the database where there is none.
 * @throws ConfigError; StoreOpenError; SchemaOutdatedError for the schema of an earlier version, unless `serving` or `migrating`
 */
export async function openStore(
  config: DatabaseConfig,
  { serving = false, migrating = false }: OpenOptions = {},
): Promise<Store> {
  if (!isPostgres(config)) {
    const { SqliteStore } = await import('./sqlite/sqlite-store.js')
    return SqliteStore.open(sqliteFile(config), { serving, migrating })
  }
  const { openPostgresStore } = await import('./postgres/postgres-store.js')
  return advised(config, () =>
    openPostgresStore(config.database, {
      ...postgresOptions(config),
      serving,
      migrating,
    }),
  )
}

/** Nothing is made. @throws ConfigError; StoreOpenError when PostgreSQL cannot be asked */
export async function hasDatabase(config: DatabaseConfig): Promise<boolean> {
  if (!isPostgres(config)) return isThere(sqliteFile(config))
  return (await schemas(config)).found > 0
}

/**
 * Only reads.
 * @returns the schema of the database, 0 where there is none, and the schema of this version
 * @throws ConfigError; StoreOpenError for what is no database of ours or of a newer version, or cannot be read
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

/** Whoever reads that PostgreSQL cannot be used is told what to do about it, too. */
async function advised<T>(
  { database, databasePasswordFile }: DatabaseConfig,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof StoreOpenError)) throw error
    const { postgresRemedy } = await import('./postgres/postgres-remedy.js')
    const remedy = postgresRemedy(error.cause, parsePostgresUrl(database), databasePasswordFile)
    if (!remedy) throw error
    throw new StoreOpenError(`${error.message.replace(/[.:\s]+$/, '')}. ${remedy}`, {
      cause: error.cause,
      isPassing: error.isPassing,
    })
  }
}

/**
 * Only reads.
 * @returns ids of the master keys that open the database; empty for one without keys, and of a schema that this version does not read
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

/** Where it is, for messages, without a password. @throws ConfigError */
export function describeDatabase(config: DatabaseConfig): string {
  return isPostgres(config) ? describePostgres(parsePostgresUrl(config.database)) : sqliteFile(config)
}
