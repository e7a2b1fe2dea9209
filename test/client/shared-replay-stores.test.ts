/** Tests of the stores of used verdicts that several processes share, against a real Redis and a real PostgreSQL. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import cluster from 'node:cluster'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { PostgresReplayStore, RedisReplayStore, type ReplayStore } from '../../clients/node/index.js'
import { packageFile } from '../../src/lib/package-root.js'
import { createDatabase, overPostgres, type TestDatabase } from '../support/postgres.js'
import { findPostgres } from '../support/postgres-server.js'
import { hasRedis, RedisClient, type RedisServer, startRedis } from './replay-stores/redis-server.js'

const inSeconds = (seconds: number) => Date.now() / 1000 + seconds

/** Checks what every store promises. */
async function keepsToTheRules(store: () => ReplayStore, name: string) {
  const until = inSeconds(600)
  expect(await store().consume(`${name} once`, until)).toBe(true)
  expect(await store().consume(`${name} once`, until)).toBe(false)
  expect(await store().consume(`${name} another`, until)).toBe(true)
  const atOnce = Array.from({ length: 20 }, () => store().consume(`${name} at once`, until))
  expect((await Promise.all(atOnce)).filter(Boolean)).toHaveLength(1)
  const aborted = store().consume(`${name} aborted`, until, AbortSignal.abort(new Error('stop')))
  await expect(aborted).rejects.toThrow('stop')
  expect(await store().consume(`${name} aborted`, until)).toBe(true)
}

let redis: RedisServer
let client: RedisClient
let database: TestDatabase
let pool: pg.Pool

beforeAll(async () => {
  if (hasRedis) {
    redis = await startRedis()
    client = await RedisClient.to(redis.port)
  }
  if (findPostgres()) {
    database = await createDatabase()
    pool = new pg.Pool({ connectionString: database.url, max: 4 })
    pool.on('error', () => {})
    await new PostgresReplayStore(pool).createTable()
  }
})
afterAll(async () => {
  client?.close()
  await redis?.stop()
  await pool?.end()
  await database?.drop()
})

describe.skipIf(!hasRedis)('a store in Redis', () => {
  it('takes a verdict once, whichever way the client sends commands', async () => {
    const call = { call: (command: string, ...args: string[]) => client.sendCommand([command, ...args]) }
    for (const [name, sender] of [
      ['node-redis', client],
      ['ioredis', { ...call, sendCommand: () => Promise.reject(new Error('other arguments')) }],
    ] as const)
      await keepsToTheRules(() => new RedisReplayStore(sender), name)
  })

  it('forgets a verdict when its JWT has expired', async () => {
    const store = new RedisReplayStore(client, 'mine:')
    await store.consume('long', inSeconds(600))
    expect(await client.sendCommand(['PTTL', 'mine:long'])).toBeGreaterThan(590_000)
    await store.consume('short', inSeconds(0.05))
    await expect.poll(() => store.consume('short', inSeconds(600))).toBe(true)
  })

  it('fails where Redis does not answer', async () => {
    const closed = await RedisClient.to(redis.port)
    closed.close()
    await expect(new RedisReplayStore(closed).consume('closed', inSeconds(60))).rejects.toThrow('closed')
  })
})

overPostgres(() => {
  it('takes a verdict once', async () => {
    await keepsToTheRules(() => new PostgresReplayStore(pool), 'pg')
  })

  it('deletes verdicts whose JWT has expired, once a minute', async () => {
    const store = new PostgresReplayStore(pool)
    for (const [jti, seconds] of [
      ['gone', -1],
      ['kept', 600],
      ['next', 600],
    ] as const)
      await store.consume(jti, inSeconds(seconds))
    const found = async () =>
      (await pool.query("SELECT jti FROM countersign_used_verdicts WHERE jti IN ('gone', 'kept')")).rows
    expect(await found()).toHaveLength(2)
    await new PostgresReplayStore(pool).consume('later', inSeconds(600))
    expect(await found()).toEqual([{ jti: 'kept' }])
  })

  it('uses a verdict up with the transaction of the action', async () => {
    const [first, second] = [await pool.connect(), new PostgresReplayStore(pool)]
    try {
      for (const [end, isLeft] of [
        ['ROLLBACK', true],
        ['COMMIT', false],
      ] as const) {
        await first.query('BEGIN')
        expect(await new PostgresReplayStore(first).consume(end, inSeconds(600))).toBe(true)
        // The other one waits for the end of the transaction.
        const other = second.consume(end, inSeconds(600))
        await first.query(end)
        expect(await other).toBe(isLeft)
      }
    } finally {
      first.release()
    }
  })

  it('takes a table in a schema, and no name that would need quotes', async () => {
    await pool.query('CREATE SCHEMA app')
    const store = new PostgresReplayStore(pool, 'app.used')
    await store.createTable()
    await store.createTable()
    expect(await store.consume('a', inSeconds(60))).toBe(true)
    expect(() => new PostgresReplayStore(pool, 'used; DROP TABLE users')).toThrow(TypeError)
  })
})

describe('the memory of one process', () => {
  afterEach(() => {
    vi.restoreAllMocks()
    vi.resetModules()
    Object.assign(cluster, { isWorker: false })
  })
  const fresh = async () => {
    vi.resetModules()
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    return { warn, ...(await import('../../clients/node/replay-store.js')) }
  }

  it('warns once, in a process of a cluster whose application gave no store', async () => {
    Object.assign(cluster, { isWorker: true })
    const { warn, DefaultReplayStore, MemoryReplayStore } = await fresh()
    new MemoryReplayStore().consume('a', inSeconds(60))
    expect(warn).not.toHaveBeenCalled()
    const store = new DefaultReplayStore()
    expect([store.consume('a', inSeconds(60)), store.consume('a', inSeconds(60))]).toEqual([true, false])
    expect(warn).toHaveBeenCalledOnce()
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('RedisReplayStore'), {
      code: 'COUNTERSIGN_REPLAY_STORE',
    })
  })

  it('says nothing in a process of its own', async () => {
    const { warn, DefaultReplayStore } = await fresh()
    new DefaultReplayStore().consume('a', inSeconds(60))
    expect(warn).not.toHaveBeenCalled()
  })
})

const drivers = ['-c', 'import asyncpg, psycopg, psycopg2, redis, redis.asyncio']
const python = ['python3', '/usr/bin/python3'].find((one) => spawnSync(one, drivers).status === 0)

describe.skipIf(!hasRedis || !findPostgres() || !python)('the stores for Python', () => {
  let running: ChildProcess
  let lines: AsyncIterator<string>
  let names: string[]

  const next = async () => String((await lines.next()).value)
  const consume = async (name: string, jti: string, until: number) => {
    running.stdin!.write(`${name}\t${jti}\t${until}\n`)
    return next()
  }

  beforeAll(async () => {
    const args = [packageFile('test', 'client', 'replay-stores', 'stores.py'), String(redis.port)]
    running = spawn(python!, ['-B', ...args, database.url, packageFile('clients', 'python')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    lines = createInterface({ input: running.stdout! })[Symbol.asyncIterator]()
    names = (await next()).split(',')
  })
  afterAll(async () => {
    const ended = new Promise((resolve) => running.once('close', resolve))
    running.stdin!.end()
    await ended
  })

  it('take a verdict once, over each driver', async () => {
    expect(names.length).toBeGreaterThanOrEqual(5)
    for (const name of names) {
      const until = inSeconds(600)
      expect([name, await consume(name, `${name} once`, until)]).toEqual([name, 'true'])
      expect([name, await consume(name, `${name} once`, until)]).toEqual([name, 'false'])
      const again = name.startsWith('redis') ? [await consume(name, `${name} short`, inSeconds(0.01))] : []
      expect(again).toEqual(again.map(() => 'true'))
    }
  })

  it('share what they remember with those for TypeScript', async () => {
    const until = inSeconds(600)
    for (const [name, store] of [
      ['redis', new RedisReplayStore(client)],
      ['asyncpg', new PostgresReplayStore(pool)],
    ] as const) {
      expect(await store.consume(`${name} shared`, until)).toBe(true)
      expect(await consume(name, `${name} shared`, until)).toBe('false')
    }
  })
})
