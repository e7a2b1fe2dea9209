/** A slow database uses up the deadline of a request: the caller gets 503 with Retry-After, at each statement at which it can end. */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { base64, face } from '../support/faces.js'
import { overPostgres } from '../support/postgres.js'
import { type Cluster, type ClusterTenant, makeTenant, startCluster } from './nodes.js'

const DEADLINE_MS = 3000

overPostgres(() => {
  let cluster: Cluster
  let tenant: ClusterTenant
  let holder: pg.Client
  beforeAll(async () => {
    cluster = await startCluster(1, { COUNTERSIGN_DEADLINE_MS: String(DEADLINE_MS) })
    tenant = await makeTenant(cluster)
    holder = new pg.Client(cluster.database.url)
    await holder.connect()
  })
  afterAll(async () => {
    await holder?.end()
    await cluster?.stop()
  })

  it.each(['api_key', 'lane'])(
    'a call gets 503 with Retry-After where the table %s is locked beyond the deadline',
    async (table) => {
      const image = base64(await face('ada'))
      await holder.query('BEGIN')
      await holder.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
      const answer = tenant.production[0]!.enroll({ user_id: `of ${table}`, image })
      await sleep(DEADLINE_MS + 500)
      await holder.query('ROLLBACK')
      const { status, body, headers } = await answer
      expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'store_unavailable', '1'])
      const user = await tenant.production[0]!.call('GET', `/v1/users/of%20${table}`)
      expect(user.body.code).toBe('reference_not_found')
    },
  )
})
