import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { expect, it } from 'vitest'
import {
  inspectPostgres,
  openPostgresStore,
  type PostgresOptions,
} from '../../../src/features/postgres/store/postgres-store.js'
import {
  SchemaOutdatedError,
  StoreOpenError,
  type StoreTransaction,
  StoreUnavailableError,
} from '../../../src/storage/store.js'
import { TcpProxy } from '../../chaos/tcp-proxy.js'
import { poll } from '../../support/command.js'
import { overPostgres, testDatabase } from '../../support/postgres.js'
import { freePort } from '../../support/postgres-server.js'
import { tenant } from '../../support/records.js'

const database = testDatabase()

const openStore = async (url: string, options?: PostgresOptions) =>
  database.closing(await openPostgresStore(url, options))

const adding = (name: string) => (tx: StoreTransaction) => tx.insertTenant(tenant(name))

/** The same URL with other hosts, each `host:port`. */
const by = (...hosts: string[]) => database.url.replace(/@[^/]+/, `@${hosts.join(',')}`)
const refusal = async (opening: Promise<unknown>) => {
  const error = await opening.then(
    () => null,
    (reason: unknown) => reason,
  )
  expect([StoreOpenError.name, SchemaOutdatedError.name]).toContain((error as Error).name)
  return (error as Error).message
}

const proxyOf = async () => database.closing((await TcpProxy.before(database.url)).proxy)

/** A store that reaches its server through a proxy. */
async function openBehindProxy(options?: PostgresOptions) {
  const proxy = await proxyOf()
  return { proxy, store: await openStore(by(proxy.address), options) }
}

overPostgres(() => {
  it('is created by one of many processes that start at once, for all of them', async () => {
    expect((await inspectPostgres(database.url)).found).toBe(0)
    const stores = await Promise.all(Array.from({ length: 6 }, () => openStore(database.url)))
    await stores[0]!.transaction('installation', adding('a'))
    expect((await stores[5]!.read.tenants()).map(({ name }) => name)).toEqual(['a'])
    const { found, own } = await inspectPostgres(database.url)
    expect(found).toBe(own)
  })

  it('is written by several services and commands, even after all have lost their connections', async () => {
    const writers = [
      await openStore(database.url, { serving: true }),
      await openStore(database.url, { serving: true }),
      await openStore(database.url),
    ]
    const write = (round: string) =>
      Promise.all(writers.map((store, i) => store.transaction('installation', adding(`${round}${i}`))))
    await write('a')
    await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'countersign' AND datname = current_database()`,
    )
    await write('b')
    for (const { read } of writers) expect(await read.tenants()).toHaveLength(6)
  })

  it('resolves a transaction when only the answer to its commit is lost', async () => {
    const { proxy, store } = await openBehindProxy({ serving: true })
    proxy.loseCommits('done and cut', 1)
    await store.transaction('installation', adding('a'))
    expect(proxy.counts.lostCommits).toBe(1)
    expect((await store.read.tenants()).map(({ name }) => name)).toEqual(['a'])
  })

  it('rejects a transaction without effect when its commit is lost', async () => {
    const { proxy, store } = await openBehindProxy({ serving: true })
    proxy.loseCommits('cut before', 1)
    await expect(store.transaction('installation', adding('a'))).rejects.toBeInstanceOf(StoreUnavailableError)
    expect(await store.read.tenants()).toEqual([])
    await store.transaction('installation', adding('a'))
    expect((await store.read.tenants()).length).toBe(1)
  })

  /** Less than the timeout of a statement: a dead connection is detected before. */
  const FOUND_OUT_MS = 7500

  it('finds out that a commit has happened whose connection does not answer any more', async () => {
    const { proxy, store } = await openBehindProxy()
    proxy.loseCommits('done in silence', 1)
    await store.transaction('installation', adding('a'), performance.now() + FOUND_OUT_MS)
    expect((await store.read.tenants()).length).toBe(1)
  })

  it('releases the lock partition of a commit that the server never received', async () => {
    const { proxy, store } = await openBehindProxy()
    proxy.loseCommits('never sent', 1)
    const lost = store.transaction('installation', adding('a'))
    await expect(lost).rejects.toBeInstanceOf(StoreUnavailableError)
    await store.transaction('installation', adding('b'), performance.now() + FOUND_OUT_MS)
    expect((await store.read.tenants()).map(({ name }) => name)).toEqual(['b'])
  })

  it('keeps a silent connection while the server is working for it', async () => {
    const store = await openStore(database.url)
    const other = new pg.Client(database.url)
    await other.connect()
    await other.query('BEGIN')
    await other.query('SELECT FROM lane FOR UPDATE')
    const waiter = async () => {
      const waitsForLock = () =>
        database.query(
          "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        )
      return (await poll(waitsForLock, (rows) => rows.length > 0))[0]!.pid
    }
    const waiting = store.transaction('installation', adding('a'), performance.now() + 60_000)
    const before = await waiter()
    await other.query('SELECT pg_sleep(3)')
    expect(await waiter()).toBe(before)
    await other.end()
    await waiting
  })

  it('rejects transactions that wait for a silent server at their deadline, without any effect', async () => {
    const { proxy, store } = await openBehindProxy()
    proxy.swallow()
    const first = store
      .transaction('installation', adding('a'), performance.now() + FOUND_OUT_MS)
      .catch(() => 'first')
    await new Promise(setImmediate)
    let hasRun = false
    const second = store
      .transaction(
        'installation',
        async () => {
          hasRun = true
        },
        performance.now() + 300,
      )
      .catch(() => 'second')
    expect(await Promise.race([first, second])).toBe('second')
    proxy.heal()
    proxy.cut()
    await first
    await store.assertWritable(performance.now() + FOUND_OUT_MS)
    expect(hasRun).toBe(false)
  })

  /** Transactions of one tenant share a group. */
  const TENANT = { tenantId: 'ten_a' }

  it('rejects only the group whose connection is lost in the middle of it', async () => {
    const { proxy, store } = await openBehindProxy()
    const group = [
      store.transaction(TENANT, adding('a')),
      store.transaction(TENANT, async (tx) => {
        await tx.tenants()
        proxy.cut()
        await tx.insertTenant(tenant('b'))
      }),
      store.transaction(TENANT, adding('c')),
    ]
    for (const one of await Promise.allSettled(group))
      expect((one as PromiseRejectedResult).reason).toBeInstanceOf(StoreUnavailableError)
    expect(await store.isHealthy()).toBe(true)
    expect(await store.read.tenants()).toEqual([])
  })

  it('is unhealthy while the server is out of reach, and recovers without a restart', async () => {
    const { proxy, store } = await openBehindProxy()
    proxy.refuse()
    expect(await store.isHealthy()).toBe(false)
    await expect(store.transaction('installation', adding('a'))).rejects.toBeInstanceOf(StoreUnavailableError)
    await expect(store.read.tenants()).rejects.toBeInstanceOf(StoreUnavailableError)
    proxy.heal()
    expect(await store.isHealthy()).toBe(true)
    await store.transaction('installation', adding('a'))
  })

  it('tries the hosts one after the other until it finds one that can be written', async () => {
    const dead = `127.0.0.1:${await freePort()}`
    const store = await openStore(by(dead, new URL(database.url).host))
    await store.transaction('installation', adding('a'))
    expect(await refusal(openPostgresStore(by(dead)))).toMatch(/ECONNREFUSED/)
  })

  it('changes to another host when the current one is gone', async () => {
    const [first, second] = [await proxyOf(), await proxyOf()]
    const store = await openStore(by(first.address, second.address))
    first.refuse()
    await store.transaction('installation', adding('a'))
    expect((await store.read.tenants()).length).toBe(1)
  })

  it('stays with a host all of whose connections are in use', async () => {
    const [first, second] = [await proxyOf(), await proxyOf()]
    const store = await openStore(`${by(first.address, second.address)}?connect_timeout=1`)
    // Every host is asked once for its timeline at the start.
    const asked = second.counts.connections
    const other = new pg.Client(database.url)
    await other.connect()
    await other.query('BEGIN')
    await other.query('LOCK TABLE tenant IN ACCESS EXCLUSIVE MODE')
    const reads = Array.from({ length: 9 }, () => store.read.tenants())
    // One read more than there are connections.
    await expect(reads.at(-1)).rejects.toBeInstanceOf(StoreUnavailableError)
    await other.end()
    await Promise.all(reads.slice(0, -1))
    await store.read.tenants()
    expect(second.counts.connections).toBe(asked)
  })

  it('reads the password from a file for every connection', async () => {
    const file = join(tmpdir(), `countersign-password-${process.pid}`)
    const [, password = ''] = /:([^:@/]*)@/.exec(database.url)!
    const url = database.url.replace(`:${password}@`, '@')
    try {
      writeFileSync(file, 'another one')
      expect(await refusal(openPostgresStore(url, { passwordFile: file }))).toMatch(/password/)
      writeFileSync(file, `${password}\n`)
      await openStore(url, { passwordFile: file })
    } finally {
      rmSync(file)
    }
    expect(await refusal(openPostgresStore(url, { passwordFile: file }))).toMatch(/ENOENT/)
    expect(await refusal(openPostgresStore(url))).toMatch(/password/)
  })

  it('commits synchronously even where role or database turn that off', async () => {
    const name = new URL(database.url).pathname.slice(1)
    await database.query(`ALTER DATABASE "${name}" SET synchronous_commit = off`)
    const store = await openStore(database.url)
    await database.query(
      `CREATE FUNCTION told() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN NEW.name := current_setting('synchronous_commit'); RETURN NEW; END $$`,
    )
    await database.query('CREATE TRIGGER told BEFORE INSERT ON tenant FOR EACH ROW EXECUTE FUNCTION told()')
    await store.transaction('installation', adding('a'))
    expect((await store.read.tenants()).map((one) => one.name)).toEqual(['on'])
  })

  it.each<[string, RegExp, ...string[]]>([
    [
      'of CockroachDB',
      /it is CockroachDB CCL v24\.1\.0 .*only PostgreSQL itself/,
      `CREATE FUNCTION public.version() RETURNS text LANGUAGE sql AS $$ SELECT 'CockroachDB CCL v24.1.0 (x86_64-pc-linux-gnu)' $$`,
      'ALTER DATABASE "%" SET search_path = public, pg_catalog',
    ],
    [
      'of YugabyteDB',
      /it is PostgreSQL 15\.2-YB.*only PostgreSQL itself/,
      `CREATE FUNCTION public.version() RETURNS text LANGUAGE sql AS $$ SELECT 'PostgreSQL 15.2-YB-2.25.2.0-b0 on x86_64' $$`,
      'ALTER DATABASE "%" SET search_path = public, pg_catalog',
    ],
    [
      'behind a pooler that gives several connections one session',
      /PgBouncer: pool_mode = session/,
      `ALTER DATABASE "%" SET countersign.session = 'ours'`,
    ],
    [
      'that can only be read',
      /can only be read/,
      'ALTER DATABASE "%" SET default_transaction_read_only = on',
    ],
    ['with tables of somebody else', /belongs to another application/, 'CREATE TABLE theirs (id int)'],
    [
      "with a schema_version of somebody else's",
      /belongs to another application/,
      'CREATE TABLE schema_version (version_rank int)',
      'INSERT INTO schema_version VALUES (3)',
    ],
  ])('refuses a database %s', async (_what, message, ...statements) => {
    const name = new URL(database.url).pathname.slice(1)
    for (const statement of statements) await database.query(statement.replace('%', name))
    expect(await refusal(openPostgresStore(database.url))).toMatch(message)
  })

  it('refuses the schema of a newer version, and leaves it as it is', async () => {
    const store = await openStore(database.url)
    await store.close()
    await database.query('UPDATE schema_version SET version = 999')
    await database.query('UPDATE lane SET compatible_from = 998')
    expect(await refusal(openPostgresStore(database.url))).toMatch(/schema 999, made by a newer Countersign/)
    expect(await database.query('SELECT version FROM schema_version')).toEqual([{ version: '999' }])
  })

  it('refuses the schema of a build between two releases, also to a service, and leaves it as it is', async () => {
    const store = await openStore(database.url)
    await store.close()
    await database.query('UPDATE schema_version SET version = 1')
    for (const options of [{}, { serving: true }, { migrating: true }])
      expect(await refusal(openPostgresStore(database.url, options))).toMatch(
        /it has schema 1, made by a build between two releases, .*Go on with the build that made it/,
      )
    expect(await database.query('SELECT version FROM schema_version')).toEqual([{ version: '1' }])
  })

  it('leaves backups to the tools of PostgreSQL', async () => {
    const store = await openStore(database.url)
    expect(store.makesBackups).toBe(false)
    expect(store.size().database).toBeGreaterThan(1_000_000)
    expect(await store.check()).toEqual([])
  })
})
