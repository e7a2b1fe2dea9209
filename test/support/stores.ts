/** One suite over every store, each of whose tests has data of its own. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import Database from 'better-sqlite3'
import { afterAll, afterEach, beforeAll, beforeEach, describe } from 'vitest'
import { packageFile } from '../../src/package-root.js'
import { openPostgresStore } from '../../src/storage/postgres-store.js'
import { SqliteStore } from '../../src/storage/sqlite-store.js'
import type { Store } from '../../src/storage/store.js'
import { createDatabase, overPostgres } from './postgres.js'

/** Where the data of one store are. */
interface StorePlace {
  open(): Promise<Store>
  execute(statement: string): Promise<void>
  openingScript: string
  /** As before the first opening, or after it. */
  empty(): Promise<void>
  remove(): Promise<void>
}

export interface StoresUnderTest {
  readonly kind: 'sqlite' | 'postgres'
  /** Opened before each test, when there are no data; closed after it, as all are. */
  readonly store: Store
  /** Another one on the same data, as another process has it. */
  open(): Promise<Store>
  /** SQL past the store, as an operator's tool would send it. */
  execute(statement: string): Promise<void>
  /** JavaScript after which, in a process of its own, the built store stands open as `store`. */
  readonly openingScript: string
}

export function overStores(suite: (stores: StoresUnderTest) => void): void {
  describe('over sqlite', () => suite(storesAt('sqlite', sqlitePlace)))
  overPostgres(() => suite(storesAt('postgres', postgresPlace)))
}

function storesAt(kind: StoresUnderTest['kind'], makePlace: () => Promise<StorePlace>): StoresUnderTest {
  let place: StorePlace
  let store: Store
  const opened: Store[] = []
  const open = async () => {
    const another = await place.open()
    opened.push(another)
    return another
  }
  beforeAll(async () => {
    place = await makePlace()
  })
  beforeEach(async () => {
    store = await open()
  })
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close()
    await place.empty()
  })
  afterAll(() => place.remove())
  return {
    kind,
    get store() {
      return store
    },
    open,
    execute: (statement) => place.execute(statement),
    get openingScript() {
      return place.openingScript
    },
  }
}

/** The URL of a built module, as JavaScript. */
const builtModule = (name: string) =>
  JSON.stringify(pathToFileURL(packageFile('dist', 'src', 'storage', name)).href)

async function sqlitePlace(): Promise<StorePlace> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-store-'))
  const file = join(folder, 'countersign.db')
  return {
    open: async () => SqliteStore.open(file),
    async execute(statement) {
      const database = new Database(file, { timeout: 5000 })
      try {
        database.exec(statement)
      } finally {
        database.close()
      }
    },
    openingScript: `
      const { SqliteStore } = await import(${builtModule('sqlite-store.js')})
      const store = SqliteStore.open(${JSON.stringify(file)})`,
    async empty() {
      for (const suffix of ['', '-wal', '-shm']) await rm(`${file}${suffix}`, { force: true })
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** All but those that have rows from the beginning. */
const TABLES = `SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('lane', 'schema_version')`

async function postgresPlace(): Promise<StorePlace> {
  const database = await createDatabase()
  return {
    open: () => openPostgresStore(database.url),
    execute: async (statement) => void (await database.query(statement)),
    openingScript: `
      const { openPostgresStore } = await import(${builtModule('postgres-store.js')})
      const store = await openPostgresStore(${JSON.stringify(database.url)})`,
    async empty() {
      const tables = (await database.query(TABLES)).map(({ tablename }) => tablename)
      // Past the triggers that keep the audit log; a new database for every test would take ten times as long.
      await database.query(
        `SET session_replication_role = replica; ${tables.map((one) => `DELETE FROM ${one}`).join('; ')}`,
      )
    },
    remove: () => database.drop(),
  }
}
