/** Tests with two primaries after a failover without fencing: the newer one is used, and the older one is refused. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgresStore } from '../../../src/features/postgres/store/postgres-store.js'
import { OlderPrimaryError, Timelines } from '../../../src/features/postgres/store/postgres-timeline.js'
import { overPostgres } from '../../support/postgres.js'
import { PostgresServer } from '../../support/postgres-server.js'
import { tenant } from '../../support/records.js'
import { startStandby } from '../../support/standby.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const LIMIT_MS = 180_000
const PATIENCE = { timeout: 60_000, interval: 50 }

describe('the memory of timelines', () => {
  const folder = temporaryFolder()

  it('refuses a lower timeline of the same cluster, even after a restart, and none of another cluster', () => {
    const file = join(folder, 'made', 'timelines.json')
    new Timelines({ file, isWriting: true }).admit({ system: 'a', timeline: 3 })
    const next = new Timelines({ file, isWriting: false })
    expect(() => next.admit({ system: 'a', timeline: 2 })).toThrow(OlderPrimaryError)
    expect(() => next.admit({ system: 'a', timeline: 3 })).not.toThrow()
    expect(() => next.admit({ system: 'b', timeline: 1 })).not.toThrow()
    next.admit({ system: 'a', timeline: 9 })
    const third = new Timelines({ file, isWriting: false })
    expect(() => third.admit({ system: 'a', timeline: 3 })).not.toThrow()
  })
})

overPostgres(() => {
  const folder = temporaryFolder()
  let old: PostgresServer
  let promoted: PostgresServer

  beforeAll(async () => {
    old = await PostgresServer.start()
    promoted = await startStandby(old, folder)
  }, LIMIT_MS)
  afterAll(async () => {
    await old?.stop()
    await promoted?.stop()
  })

  const urlOf = (...servers: [PostgresServer, ...PostgresServer[]]) =>
    PostgresServer.urlOf('postgres', ...servers)
  const tenantsOf = async (server: PostgresServer) =>
    (await server.query('SELECT name FROM tenant ORDER BY name')).map(({ name }) => name)
  const insert = (store: Awaited<ReturnType<typeof openPostgresStore>>, name: string) =>
    store.transaction('installation', (tx) => tx.insertTenant(tenant(name)))

  it(
    'a service changes to the promoted primary while the old one still answers, and never back',
    async () => {
      const timelineFile = join(folder, 'timelines.json')
      const store = await openPostgresStore(urlOf(old, promoted), { serving: true, timelineFile })
      try {
        await insert(store, 'before')
        await expect
          .poll(
            () => old.query('SELECT FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_lsn()'),
            PATIENCE,
          )
          .toHaveLength(1)
        await promoted.query('SELECT pg_promote()')
        let count = 0
        const lands = async () => {
          const name = `during-${++count}`
          await insert(store, name)
          return (await tenantsOf(promoted)).includes(name)
        }
        await expect.poll(lands, PATIENCE).toBe(true)
        const left = await tenantsOf(old)
        await insert(store, 'later')
        expect(await tenantsOf(promoted)).toContain('later')
        expect(await tenantsOf(old)).toEqual(left)
        expect((await store.read.tenants()).map(({ name }) => name)).toContain('later')
      } finally {
        await store.close()
      }
      // The old primary is first in the list, and answers.
      const restarted = await openPostgresStore(urlOf(old, promoted), { serving: true })
      try {
        await insert(restarted, 'restarted')
      } finally {
        await restarted.close()
      }
      expect(await tenantsOf(promoted)).toContain('restarted')
      expect(await tenantsOf(old)).not.toContain('restarted')
      // The new primary cannot be reached. The timeline is remembered from before the start.
      await expect(openPostgresStore(urlOf(old), { serving: true, timelineFile })).rejects.toThrow(
        /it is an older primary.*its timeline is 1, and 2 was seen.*Fence it off/,
      )
    },
    LIMIT_MS,
  )
})
