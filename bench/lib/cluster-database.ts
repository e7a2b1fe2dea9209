/** The one PostgreSQL of a cluster: started for the run, or given; and one whose disk is slow. */
import pg from 'pg'
import { PostgresServer } from '../../test/support/postgres-server.js'
import { onCleanUp } from './clean-up.js'
import { median } from './statistics.js'

/** As a database in operation has them: the tests' own server waits for no disk. */
const SETTINGS = { fsync: 'on', full_page_writes: 'on' }
const SAMPLES = 40

export interface ClusterDatabase {
  url: string
  /** Of the server, for people. */
  description: string
}

/** @param given an empty database; undefined for a server of the run's own */
export async function openDatabase(given: string | undefined): Promise<ClusterDatabase> {
  if (given) return { url: given, description: await describe(given, 'as given') }
  const server = await PostgresServer.start(SETTINGS)
  onCleanUp(() => server.stop())
  const url = `${server.url}/bench`
  await withClient(`${server.url}/postgres`, (client) => client.query('CREATE DATABASE bench'))
  return { url, description: await describe(url, 'started for the run on this machine') }
}

/**
 * The same database, for connections whose commits wait so much longer for the disk: PostgreSQL's own commit_delay, which the
 * one who flushes the log sleeps under the lock that others wait for, as they would for a slower disk.
 * @returns null where the role may not ask for it, which superusers may
 */
export async function withSlowSync({ url }: ClusterDatabase, delayMs: number): Promise<string | null> {
  const options = `-c commit_delay=${delayMs * 1000} -c commit_siblings=0`
  const slow = `${url}${url.includes('?') ? '&' : '?'}options=${encodeURIComponent(options)}`
  return withClient(slow, () => Promise.resolve(slow)).catch((error: unknown) => {
    if ((error as { code?: string }).code === INSUFFICIENT_PRIVILEGE) return null
    throw error
  })
}

const INSUFFICIENT_PRIVILEGE = '42501'

/** What one commit alone takes, in milliseconds, at the median. */
export function measureCommitMs(url: string): Promise<number> {
  return withClient(url, async (client) => {
    const samples: number[] = []
    for (let i = 0; i < SAMPLES; i++) {
      const began = performance.now()
      // The least that has to be on disk.
      await client.query("SELECT pg_logical_emit_message(true, 'bench', '')")
      samples.push(performance.now() - began)
    }
    return median(samples)
  })
}

async function describe(url: string, how: string): Promise<string> {
  const version = await withClient(url, async (client) => {
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version')
    return rows[0]!.server_version
  })
  return `PostgreSQL ${version}, ${how}`
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
