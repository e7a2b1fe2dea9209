/**
 * Tests of the token buckets that services share through PostgreSQL: never more than a burst at once, and no less after a clock was set
 * back.
 */
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { PostgresCoordinator } from '../../../src/features/postgres/store/postgres-coordinator.js'
import { openPostgresStore } from '../../../src/features/postgres/store/postgres-store.js'
import { accessTo, overPostgres, testDatabase } from '../../support/postgres.js'

const BUCKET = { ratePerSecond: 5, burst: 10 }
const MOST = 100

overPostgres(() => {
  const database = testDatabase('all tests')
  let coordinator: PostgresCoordinator

  beforeAll(async () => {
    await (await openPostgresStore(database.url)).close()
    coordinator = new PostgresCoordinator(accessTo(database))
    database.closing({ close: () => coordinator.stop() })
    await coordinator.start()
  })
  afterEach(() => database.query('DELETE FROM bucket'))

  const shift = (interval: string) => database.query(`UPDATE bucket SET at = at + interval '${interval}'`)
  const lease = () => coordinator.leaseTokens('holder', BUCKET, MOST)

  describe('a shared token bucket', () => {
    it('grants its burst at first, and never more after any pause', async () => {
      expect((await lease()).granted).toBe(BUCKET.burst)
      await shift('-1 hour')
      const { granted, left } = await lease()
      expect([granted, left]).toEqual([BUCKET.burst, 0])
    })

    it('fills at its rate', async () => {
      await lease()
      await shift('-1 second')
      const { granted } = await lease()
      expect(granted).toBeGreaterThanOrEqual(BUCKET.ratePerSecond)
      expect(granted).toBeLessThanOrEqual(BUCKET.burst)
    })

    it('loses no tokens when its last time lies in the future', async () => {
      await coordinator.leaseTokens('holder', BUCKET, 4)
      await shift('1 hour')
      expect((await lease()).granted).toBe(BUCKET.burst - 4)
    })
  })
})
