/** Stops `countersign serve` while its database is unreachable: it ends in order, within its shutdown time. */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { TcpProxy } from '../chaos/tcp-proxy.js'
import { Installation, type RunningServer } from '../faults/installation.js'
import { apiClient } from '../support/client.js'
import { createDatabase, overPostgres, type TestDatabase } from '../support/postgres.js'

const DEADLINE_MS = 2000
/** TimeoutStopSec of our unit: what is left then is killed. */
const GIVEN_MS = 20_000
const CALLERS = 8

/** Fate of the connections to the database. */
const LOSSES = {
  'cut, and made anew': (proxy: TcpProxy) => proxy.cut(),
  'cut, and refused': (proxy: TcpProxy) => proxy.refuse(),
  'lost without a word': (proxy: TcpProxy) => proxy.blackHole(),
  'held up': (proxy: TcpProxy) => proxy.hang(),
  deaf: (proxy: TcpProxy) => proxy.swallow(),
}
/** Each case has the time from the loss to the signal: too short for the loss to be noticed, or long enough. */
const CASES: Array<[processes: number, loss: keyof typeof LOSSES, afterMs: number]> = [
  [1, 'cut, and made anew', 0],
  [1, 'cut, and refused', 4000],
  [1, 'lost without a word', 0],
  [1, 'lost without a word', 4000],
  [1, 'held up', 0],
  [1, 'deaf', 0],
  [2, 'lost without a word', 0],
]

overPostgres(() => {
  let database: TestDatabase
  let proxy: TcpProxy
  let installation: Installation
  let sandboxKey: string
  beforeAll(async () => {
    database = await createDatabase()
    const through = await TcpProxy.before(database.url)
    proxy = through.proxy
    installation = await Installation.create({
      env: {
        COUNTERSIGN_DATABASE: through.url,
        COUNTERSIGN_MASTER_KEY: randomBytes(32).toString('base64'),
        COUNTERSIGN_DEADLINE_MS: String(DEADLINE_MS),
        COUNTERSIGN_SANDBOX_RATE_LIMIT: '100000',
      },
    })
    sandboxKey = JSON.parse(await installation.run('tenant', 'create', 'acme', '--json')).sandbox_key
  })
  afterAll(async () => {
    await installation?.dispose()
    await proxy?.close()
    await database?.drop()
  })

  /** Writes all the time, until nobody answers. */
  async function call(server: RunningServer, stop: AbortSignal): Promise<void> {
    const client = apiClient(`${server.sandbox}/v1`, sandboxKey)
    while (!stop.aborted)
      await client
        .call('POST', '/v1/challenges', { user_id: 'ada+match', action: 'login' })
        .catch(() => sleep(50))
  }

  it.each(CASES)(
    'a service that stops while its database is lost exits 0 with all processes (%i), with connections %s for %i ms',
    async (processes, loss, afterMs) => {
      const server = await installation.serve({ env: { COUNTERSIGN_PROCESSES: String(processes) } })
      const stop = new AbortController()
      const calls = Array.from({ length: CALLERS }, () => call(server, stop.signal))
      await sleep(500)
      LOSSES[loss](proxy)
      await sleep(afterMs)
      const late = new AbortController()
      const end = await Promise.race([server.stop(), sleep(GIVEN_MS, 'not in time', { signal: late.signal })])
      late.abort()
      stop.abort()
      if (end === 'not in time') await server.kill()
      await Promise.all(calls)
      proxy.heal()
      expect(end).toBe(0)
    },
  )
})
