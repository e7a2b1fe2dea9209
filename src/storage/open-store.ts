/** The store that is configured; the driver of the other is not loaded. */
import { type Config, isPostgres, sqliteFile } from '../config.js'
import type { Store } from './store.js'

export interface OpenOptions {
  /** By the service, which claims a database that several could reach; commands work beside it. */
  serving?: boolean
}

/** @throws ConfigError; StoreOpenError */
export async function openStore(
  config: Pick<Config, 'database' | 'databasePasswordFile'>,
  { serving = false }: OpenOptions = {},
): Promise<Store> {
  if (!isPostgres(config)) {
    const { SqliteStore } = await import('./sqlite-store.js')
    return SqliteStore.open(sqliteFile(config))
  }
  const { openPostgresStore } = await import('./postgres-store.js')
  return openPostgresStore(config.database, { passwordFile: config.databasePasswordFile, serving })
}
