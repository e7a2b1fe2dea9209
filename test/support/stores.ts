/** One suite over every store, each of whose tests has data of its own. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import Database from 'better-sqlite3'
import { afterAll, afterEach, beforeAll, beforeEach, describe } from 'vitest'
import { tablesOf } from '../../src/features/index.js'
import { openPostgresStore } from '../../src/features/postgres/store/postgres-store.js'
import { packageFile } from '../../src/lib/package-root.js'
import type { Connection } from '../../src/storage/connection.js'
import { SqliteStore } from '../../src/storage/sqlite/sqlite-store.js'
import type { OpenOptions, Scope, Store, StoreReader, StoreTransaction } from '../../src/storage/store.js'
import { createDatabase, isOnPostgres, overPostgres } from './postgres.js'
import { insertRows, type Rows } from './records.js'

/** Where the data of one store are. */
interface StorePlace {
  open(options?: OpenOptions): Promise<Store>
  execute(statement: string): Promise<void>
  tamper(statement: string): Promise<void>
  openingScript: string
  /** Empties the store, so that it can be opened as if for the first time. */
  empty(): Promise<void>
  remove(): Promise<void>
}

export interface StoresUnderTest {
  readonly kind: 'sqlite' | 'postgres'
  /** A store without data, which is opened before each test and closed after it. */
  readonly store: Store
  read(): StoreReader
  /** Runs the work in a transaction of the installation. */
  write<T>(work: (tx: StoreTransaction) => Promise<T>): Promise<T>
  /** The statements of a writer, each in a transaction of its own. */
  writing<W extends object>(writer: (database: Connection) => W): W
  /** Runs the same work many times at once, in turns over two connections. @param scope default: the installation */
  atOnce<T>(count: number, work: (tx: StoreTransaction, i: number) => Promise<T>, scope?: Scope): Promise<T[]>
  /** Begins a transaction that has done this work, and stays open until it is released. @param store default: this one @param scope default: the installation */
  hold(
    work: (tx: StoreTransaction) => Promise<void>,
    on?: { store?: Store; scope?: Scope },
  ): Promise<{ release(): void; done: Promise<void> }>
  /** Inserts these rows in one transaction. */
  insert(rows: Rows): Promise<void>
  /** Opens another store on the same data, as another process would. It is closed after the test. @param options default: with the tables of all features */
  open(options?: OpenOptions): Promise<Store>
  /** Runs SQL without the store, as an operator's tool would. */
  execute(statement: string): Promise<void>
  /** Runs SQL with the triggers off, as the owner of the data can. */
  tamper(statement: string): Promise<void>
  /** JavaScript for a separate process that opens the built store as `store`. */
  readonly openingScript: string
}

type Statements = Record<string | symbol, (...parameters: unknown[]) => Promise<unknown>>

export function overStores(suite: (stores: StoresUnderTest) => void): void {
  describe('over sqlite', () => suite(storesAt('sqlite', sqlitePlace)))
  overPostgres(() => suite(storesAt('postgres', postgresPlace)))
}

/** The store of the project that runs: SQLite, or PostgreSQL in the project that runs the contract over it. */
export function storeOfProject(): StoresUnderTest {
  return isOnPostgres() ? storesAt('postgres', postgresPlace) : storesAt('sqlite', sqlitePlace)
}

function storesAt(kind: StoresUnderTest['kind'], makePlace: () => Promise<StorePlace>): StoresUnderTest {
  let place: StorePlace
  let store: Store
  const opened: Store[] = []
  const open = async (options?: OpenOptions) => {
    const another = await place.open(options)
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
  const write: StoresUnderTest['write'] = (work) => store.transaction('installation', work)
  return {
    kind,
    get store() {
      return store
    },
    read: () => store.read,
    write,
    writing: (writer) =>
      new Proxy({} as ReturnType<typeof writer>, {
        get:
          (_, name) =>
          (...parameters: unknown[]) =>
            write((tx) => (tx.statements(writer) as unknown as Statements)[name]!(...parameters)) as never,
      }),
    async atOnce(count, work, scope = 'installation') {
      const both = [store, await open()]
      const each = Array.from({ length: count }, (_, i) => i)
      return Promise.all(each.map((i) => both[i % 2]!.transaction(scope, (tx) => work(tx, i))))
    },
    async hold(work, { store: holder = store, scope = 'installation' } = {}) {
      const [entered, released] = [deferred(), deferred()]
      const done = holder.transaction(scope, async (tx) => {
        await work(tx)
        entered.resolve()
        await released.promise
      })
      await entered.promise
      return { release: released.resolve, done }
    },
    insert: (rows) => write((tx) => insertRows(tx, rows)),
    open,
    execute: (statement) => place.execute(statement),
    tamper: (statement) => place.tamper(statement),
    get openingScript() {
      return place.openingScript
    },
  }
}

function deferred() {
  let resolve = () => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

/** The URL of a built module, as JavaScript. */
const builtModule = (name: string) => JSON.stringify(pathToFileURL(packageFile('dist', 'src', name)).href)

const WITHOUT_TRIGGERS = ['audit_no_update', 'audit_no_delete', 'audit_in_order']
  .map((trigger) => `DROP TRIGGER IF EXISTS ${trigger}`)
  .join('; ')

async function sqlitePlace(): Promise<StorePlace> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-store-'))
  const file = join(folder, 'countersign.db')
  const execute = async (statement: string) => {
    const database = new Database(file, { timeout: 5000 })
    try {
      database.exec(statement)
    } finally {
      database.close()
    }
  }
  return {
    open: async (options = { tables: tablesOf() }) => SqliteStore.open(file, options),
    execute,
    tamper: (statement) => execute(`${WITHOUT_TRIGGERS}; ${statement}`),
    openingScript: `
      const { SqliteStore } = await import(${builtModule('storage/sqlite/sqlite-store.js')})
      const store = SqliteStore.open(${JSON.stringify(file)})`,
    async empty() {
      for (const suffix of ['', '-wal', '-shm']) await rm(`${file}${suffix}`, { force: true })
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** All but those that have rows from the beginning. */
const TABLES = `SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('lane', 'duty', 'schema_version')`

async function postgresPlace(): Promise<StorePlace> {
  const database = await createDatabase()
  const execute = async (statement: string) => void (await database.query(statement))
  const tamper = (statement: string) => execute(`SET session_replication_role = replica; ${statement}`)
  return {
    open: (options = { tables: tablesOf() }) => openPostgresStore(database.url, options),
    execute,
    tamper,
    openingScript: `
      const { openPostgresStore } = await import(${builtModule('features/postgres/store/postgres-store.js')})
      const store = await openPostgresStore(${JSON.stringify(database.url)})`,
    async empty() {
      const tables = (await database.query(TABLES)).map(({ tablename }) => tablename)
      // A new database for every test would take ten times as long.
      await tamper(tables.map((one) => `DELETE FROM ${one}`).join('; '))
    },
    remove: () => database.drop(),
  }
}
