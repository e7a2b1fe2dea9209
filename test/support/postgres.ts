/** Databases in the run's PostgreSQL, for the tests that want one. */
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { json } from 'node:stream/consumers'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, inject } from 'vitest'
import { parsePostgresUrl } from '../../src/features/postgres/postgres-url.js'
import { Hosts } from '../../src/features/postgres/store/postgres-hosts.js'
import type { PostgresAnswer } from './postgres-on-demand.js'
import { findPostgres } from './postgres-server.js'
import { OVER_POSTGRES } from './skippable.js'

export interface TestDatabase {
  /** Address with the name and password of a superuser. */
  readonly url: string
  /** Runs a statement over a separate connection, as another program would. Rows are objects by column. */
  query(statement: string, values?: unknown[]): Promise<Array<Record<string, unknown>>>
  /** Drops the database and closes every connection to it. */
  drop(): Promise<void>
}

/**
 * Tables that exist only in PostgreSQL and are not copied: what services agree on while they run, the epochs under which they wrap data
 * keys, and the operator's password, which SQLite leaves to a file and which is copied separately.
 */
export const TABLES_OF_POSTGRES: readonly string[] = [
  ...['schema_version', 'lane', 'duty', 'node', 'epoch', 'claim', 'bucket', 'operator_password'],
]

/** Shows as skipped where no server can be had. */
export function overPostgres(suite: () => void): void {
  describe.skipIf(!findPostgres())(OVER_POSTGRES, suite)
}

/** Whether this is the project in which services keep their data in PostgreSQL. */
export function isOnPostgres(): boolean {
  return process.env.COUNTERSIGN_TEST_STORE === 'postgres'
}

/** Whether this is that project on a machine that lacks a server, where every test shows as skipped. */
export function isSkipped(): boolean {
  return isOnPostgres() && !findPostgres()
}

/** An empty one. */
export async function createDatabase(): Promise<TestDatabase> {
  const server = await serverUrl()
  const name = `test_${randomBytes(8).toString('hex')}`
  // Where nothing waits for the disk, copying files takes an eighth of copying through the log.
  await query(`${server}/postgres`, `CREATE DATABASE ${name} STRATEGY FILE_COPY`)
  const url = `${server}/${name}`
  return {
    url,
    query: (statement, values) => query(url, statement, values),
    drop: async () => void (await query(`${server}/postgres`, `DROP DATABASE ${name} WITH (FORCE)`)),
  }
}

/**
 * A database of its own for each test, or one for all tests of a suite. What tests open on it is closed before it is dropped, the last first.
 */
export function testDatabase(of: 'each test' | 'all tests' = 'each test') {
  const [before, after] = of === 'each test' ? [beforeEach, afterEach] : [beforeAll, afterAll]
  const opened: Array<() => unknown> = []
  let database: TestDatabase | undefined
  before(async () => {
    database = await createDatabase()
  })
  after(async () => {
    for (const close of opened.splice(0).reverse()) await close()
    await database?.drop()
  })
  return {
    get url() {
      return database!.url
    },
    query: ((...given) => database!.query(...given)) as TestDatabase['query'],
    /** @returns what was opened */
    closing<T extends { close(): unknown }>(one: T): T {
      opened.push(() => one.close())
      return one
    },
  }
}

/** How a pool or a coordinator reaches a database. */
export function accessTo({ url }: Pick<TestDatabase, 'url'>) {
  const target = parsePostgresUrl(url)
  return { target, hosts: new Hosts(target.hosts), passwordFile: undefined }
}

let asked: Promise<string> | null = null

/** Once a worker. */
function serverUrl(): Promise<string> {
  asked ??= ask()
  return asked
}

async function ask(): Promise<string> {
  const answer = (await json(connect(inject('postgresPort'), '127.0.0.1'))) as PostgresAnswer
  if ('error' in answer) throw new Error(answer.error)
  return answer.url
}

async function query(
  url: string,
  statement: string,
  values?: unknown[],
): Promise<Array<Record<string, unknown>>> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(statement, values)).rows
  } finally {
    await client.end()
  }
}
