/** Tests with a primary and its hot standby: a store finds the primary, and a service continues when it changes. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPostgresStore } from '../../../src/features/postgres/store/postgres-store.js'
import { base64, face } from '../../support/faces.js'
import { overPostgres } from '../../support/postgres.js'
import { PostgresServer } from '../../support/postgres-server.js'
import { tenant } from '../../support/records.js'
import { serviceOfTest } from '../../support/service.js'
import { startStandby } from '../../support/standby.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const LIMIT_MS = 180_000
/** Requests on a connection to the lost server are refused; later ones are served. */
const MAX_REFUSED = 3

overPostgres(() => {
  const folder = temporaryFolder()
  let primary: PostgresServer
  let standby: PostgresServer

  const replicated = () =>
    expect
      .poll(() =>
        primary.query(
          'SELECT count(*)::int AS behind FROM pg_stat_replication WHERE replay_lsn >= pg_current_wal_lsn()',
        ),
      )
      .toEqual([{ behind: 1 }])

  beforeAll(async () => {
    primary = await PostgresServer.start()
    standby = await startStandby(primary, folder)
  }, LIMIT_MS)
  afterAll(async () => {
    await primary?.stop()
    await standby?.stop()
  })

  it('skips a standby for the primary behind it, and refuses a database that has only a standby', async () => {
    const store = await openPostgresStore(PostgresServer.urlOf('postgres', standby, primary))
    try {
      await store.transaction('installation', (tx) => tx.insertTenant(tenant('a')))
      expect((await store.read.tenants()).map(({ name }) => name)).toEqual(['a'])
    } finally {
      await store.close()
    }
    await expect(openPostgresStore(PostgresServer.urlOf('postgres', standby))).rejects.toThrow(
      'it can only be read: it is a standby',
    )
  })

  it(
    'a service without a primary refuses requests until the standby is promoted, and then continues without a restart',
    async () => {
      const ada = base64(await face('ada'))
      await primary.query('CREATE DATABASE service')
      const COUNTERSIGN_DATABASE = PostgresServer.urlOf('service', primary, standby)
      const running = await serviceOfTest({ COUNTERSIGN_DATABASE })
      const { sandbox } = await running.tenant()
      const enrol = (user: string) => sandbox.enroll({ user_id: user, image: ada })
      expect((await enrol('before')).status).toBe(201)
      await replicated()
      await primary.stop()
      const refused = await enrol('meanwhile')
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
      await standby.query('SELECT pg_promote()')
      const statuses: number[] = []
      do {
        statuses.push((await enrol('after')).status)
        if (statuses.at(-1) === 503) await sleep(100)
      } while (statuses.at(-1) === 503 && statuses.length <= MAX_REFUSED)
      expect(statuses.at(-1)).toBe(201)
      const verify = (user: string) => sandbox.verify({ user_id: user, image: ada, action: 'x' })
      for (const user of ['before', 'after']) expect((await verify(user)).body.verdict).toBe('approved')
      // A request that was refused had no effect.
      expect((await verify('meanwhile')).status).toBe(404)
    },
    LIMIT_MS,
  )
})
