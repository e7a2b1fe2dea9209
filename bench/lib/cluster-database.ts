/** The PostgreSQL database of a cluster: started for the run, or given; and one whose disk is slow. */
import { execFileSync } from 'node:child_process'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { packageFile } from '../../src/lib/package-root.js'
import { PostgresServer } from '../../test/support/postgres-server.js'
import { onCleanUp } from './clean-up.js'
import { median } from './statistics.js'
import { temporaryDir } from './temporary-dir.js'

/** Settings of a database in operation: the tests' own server does not wait for its disk. */
const SETTINGS = { fsync: 'on', full_page_writes: 'on' }
const SAMPLES = 40
const INSUFFICIENT_PRIVILEGE = '42501'

export interface ClusterDatabase {
  url: string
  /** Description for the report. */
  description: string
}

/** @param given URL of an empty database; undefined for a server of the run's own */
export async function openDatabase(given: string | undefined): Promise<ClusterDatabase> {
  const url = given ?? (await startServer())
  const version = await withClient(url, async (client) => {
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version')
    return rows[0]!.server_version
  })
  const how = given ? 'as given' : 'started for the run on this machine'
  return { url, description: `PostgreSQL ${version}, ${how}` }
}

/**
 * Returns a database whose every sync takes `delayMs` longer: a server of its own, with a library that waits. If the
 * server is given, or there is no C compiler, PostgreSQL's commit_delay is used: the first transaction that waits for
 * the log sleeps so long, and transactions that arrive meanwhile are flushed with it, unlike on a disk. Only
 * superusers may set it.
 */
export async function openSlowDatabase(given: string | undefined, delayMs: number): Promise<ClusterDatabase> {
  const library = given ? null : await compileLibrary()
  if (library)
    return {
      url: await withEnvironment({ LD_PRELOAD: library, SLOW_SYNC_US: String(delayMs * 1000) }, startServer),
      description: `a server whose fsync and fdatasync take ${delayMs} ms longer`,
    }
  const url = given ?? (await startServer())
  const options = `-c commit_delay=${delayMs * 1000} -c commit_siblings=0`
  const slow = `${url}${url.includes('?') ? '&' : '?'}options=${encodeURIComponent(options)}`
  try {
    await withClient(slow, async () => {})
    return { url: slow, description: `commit_delay of ${delayMs} ms, which is kinder than a disk` }
  } catch (error) {
    if ((error as { code?: string }).code !== INSUFFICIENT_PRIVILEGE) throw error
    return { url, description: 'the disk as it is: the role may not set commit_delay' }
  }
}

/** Median duration of a single commit, in milliseconds. */
export function measureCommitMs({ url }: ClusterDatabase): Promise<number> {
  return withClient(url, async (client) => {
    const samples: number[] = []
    for (let i = 0; i < SAMPLES; i++) {
      const began = performance.now()
      // This is the smallest write that has to reach the disk.
      await client.query("SELECT pg_logical_emit_message(true, 'bench', '')")
      samples.push(performance.now() - began)
    }
    return median(samples)
  })
}

/** Numbers of rows that the nodes have saved for the dashboard. */
export interface SavedByDashboard {
  /** Rows of counts by tenant, minute and hour. */
  traffic: number
  /** Entries of the request log. */
  requests: number
}

export function countSaved({ url }: ClusterDatabase): Promise<SavedByDashboard> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<SavedByDashboard>(
      'SELECT (SELECT count(*) FROM traffic)::int AS traffic, (SELECT count(*) FROM request_log)::int AS requests',
    )
    return rows[0]!
  })
}

/** @returns URL of an empty database */
async function startServer(): Promise<string> {
  const server = await PostgresServer.start(SETTINGS)
  onCleanUp(() => server.stop())
  await withClient(`${server.url}/postgres`, (client) => client.query('CREATE DATABASE bench'))
  return `${server.url}/bench`
}

/** Returns the library's path, or null without a C compiler. */
async function compileLibrary(): Promise<string | null> {
  const folder = await temporaryDir()
  // The server may run as another user.
  await chmod(folder, 0o755)
  const library = join(folder, 'slow-sync.so')
  const source = packageFile('bench', 'lib', 'slow-sync.c')
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, source, '-ldl'], { stdio: 'pipe' })
    return library
  } catch {
    return null
  }
}

/** Sets environment variables that processes inherit while `work` runs. */
async function withEnvironment<T>(variables: Record<string, string>, work: () => Promise<T>): Promise<T> {
  const { env } = process
  process.env = { ...env, ...variables }
  try {
    return await work()
  } finally {
    process.env = env
  }
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
