/** The kinds of databases that a store can be kept in. SQLite is the core's; a feature may bring another. */
import { type Config, sqliteFile } from '../config/config.js'
import { isThere } from '../config/is-there.js'
import type { Inspection, OpenOptions, Store } from './store.js'

export type DatabaseConfig = Pick<Config, 'database' | 'databasePasswordFile'> &
  Partial<Pick<Config, 'dataDir'>>

/** The configured database, which is opened as a store, or asked without that. */
export interface Database {
  /** Its location for messages, without a password. @throws ConfigError */
  describe(): string
  /** Creates nothing. @throws ConfigError; StoreOpenError when its server cannot be reached */
  exists(): Promise<boolean>
  /** @throws ConfigError; StoreOpenError for a database that is another application's, a newer version's, or cannot be read */
  inspect(): Promise<Inspection>
  /**
   * Whether its server waits for its disk; null where Countersign itself sees to that.
   * @throws ConfigError; StoreOpenError when the server cannot be reached
   */
  waitsForDisk(): Promise<boolean | null>
  /**
   * Opens the store, and creates the database where there is none.
   * @throws ConfigError; StoreOpenError; SchemaOutdatedError for the schema of an earlier version, unless `serving` or `migrating`
   */
  open(options: OpenOptions): Promise<Store>
}

/** Its driver is loaded when a database is asked. */
export interface DatabaseKind {
  readonly name: string
  /** Whether the configured address is that of such a database. */
  fits(config: Pick<Config, 'database'>): boolean
  /** The schema version that this code works with. */
  schema(): Promise<number>
  at(config: DatabaseConfig): Database
}

export const SQLITE: DatabaseKind = {
  name: 'SQLite',
  fits: ({ database }) => database.startsWith('sqlite:'),
  schema: async () => (await import('./sqlite/sqlite-migrations.js')).SCHEMA_VERSION,
  at: (config) => ({
    describe: () => sqliteFile(config),
    exists: async () => isThere(sqliteFile(config)),
    inspect: async () => (await import('./sqlite/sqlite-store.js')).inspectSqlite(sqliteFile(config)),
    waitsForDisk: async () => null,
    open: async (options) =>
      (await import('./sqlite/sqlite-store.js')).SqliteStore.open(sqliteFile(config), options),
  }),
}
