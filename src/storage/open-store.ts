/** The store that is configured; the driver of the other is not loaded. */
import { existsSync } from 'node:fs'
import { describePostgres, parsePostgresUrl } from '../config/postgres-url.js'
import { type Config, isPostgres, sqliteFile } from '../config.js'
import { type Store, StoreOpenError } from './store.js'

export interface OpenOptions {
  /** By a service: alone on a SQLite file, beside others on PostgreSQL. Commands work beside it. */
  serving?: boolean
}

type DatabaseConfig = Pick<Config, 'database' | 'databasePasswordFile'>

/** @throws ConfigError; StoreOpenError */
export async function openStore(
  config: DatabaseConfig,
  { serving = false }: OpenOptions = {},
): Promise<Store> {
  if (!isPostgres(config)) {
    const { SqliteStore } = await import('./sqlite-store.js')
    return SqliteStore.open(sqliteFile(config), { serving })
  }
  const { openPostgresStore } = await import('./postgres-store.js')
  return advised(config, () =>
    openPostgresStore(config.database, { passwordFile: config.databasePasswordFile, serving }),
  )
}

/** Nothing is made. @throws ConfigError; StoreOpenError when PostgreSQL cannot be asked */
export async function hasDatabase(config: DatabaseConfig): Promise<boolean> {
  if (!isPostgres(config)) return existsSync(sqliteFile(config))
  const { hasPostgresSchema } = await import('./postgres-store.js')
  return advised(config, () =>
    hasPostgresSchema(config.database, { passwordFile: config.databasePasswordFile }),
  )
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
    const { postgresRemedy } = await import('./postgres-remedy.js')
    const remedy = postgresRemedy(error.cause, parsePostgresUrl(database), databasePasswordFile)
    if (!remedy) throw error
    throw new StoreOpenError(`${error.message.replace(/[.:\s]+$/, '')}. ${remedy}`, {
      cause: error.cause,
      isPassing: error.isPassing,
    })
  }
}

/** Where it is, for messages, without a password. @throws ConfigError */
export function describeDatabase(config: DatabaseConfig): string {
  return isPostgres(config) ? describePostgres(parsePostgresUrl(config.database)) : sqliteFile(config)
}
