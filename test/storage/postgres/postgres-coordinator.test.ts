import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { PostgresCoordinator } from '../../../src/features/postgres/store/postgres-coordinator.js'
import { openPostgresStore } from '../../../src/features/postgres/store/postgres-store.js'
import { systemClock } from '../../../src/lib/clock.js'
import { StoreUnavailableError } from '../../../src/storage/store.js'
import { SharedRateLimiter } from '../../../src/tenants/shared-rate-limiter.js'
import { accessTo, overPostgres, testDatabase } from '../../support/postgres.js'

const SCOPE = Buffer.from('scope')
const PAYLOAD = Buffer.from('payload')
const BUCKET = { ratePerSecond: 5, burst: 10 }

overPostgres(() => {
  const database = testDatabase('all tests')
  const coordinators: PostgresCoordinator[] = []
  /** Makes a coordinator as a service has it. */
  const coordinator = async () => {
    const made = new PostgresCoordinator(accessTo(database))
    coordinators.push(made)
    await made.start()
    return made
  }
  beforeAll(async () => (await openPostgresStore(database.url)).close())
  afterEach(async () => {
    for (const one of coordinators.splice(0)) await one.stop()
    await database.query('DELETE FROM claim')
    await database.query('DELETE FROM bucket')
  })

  const held = async () => (await database.query('SELECT node FROM claim')).map(({ node }) => node)

  it('renews a lease without scanning the table of lock partitions, which has many dead rows during a dump', async () => {
    const reads = async () =>
      (
        await database.query(
          `SELECT idx_scan::int AS one, seq_scan::int AS all FROM pg_stat_user_tables WHERE relname = 'lane'`,
        )
      )[0] as { one: number; all: number }
    const others = () =>
      database.query(
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
         AND backend_type = 'client backend'`,
      )
    // The names of other services are the last rows that they read.
    await expect.poll(others).toEqual([])
    const before = await reads()
    await coordinator()
    await expect.poll(async () => (await reads()).one).toBeGreaterThan(before.one)
    expect((await reads()).all).toBe(before.all)
  })

  describe('a claim', () => {
    it('is held by one service at a time, and reports to others for which payload', async () => {
      const services = await Promise.all([coordinator(), coordinator(), coordinator()])
      const asked = Array.from({ length: 30 }, (_, i) => services[i % 3]!.claim(SCOPE, PAYLOAD))
      const claims = await Promise.all(asked)
      expect(claims.filter((claim) => 'release' in claim)).toHaveLength(1)
      for (const claim of claims)
        if ('holderHash' in claim) expect(Buffer.compare(claim.holderHash, PAYLOAD)).toBe(0)
    })

    it('is free again once it is released', async () => {
      const [one, other] = await Promise.all([coordinator(), coordinator()])
      const claim = await one.claim(SCOPE, PAYLOAD)
      if ('release' in claim) claim.release()
      await expect.poll(held).toEqual([])
      expect(await other.claim(SCOPE, PAYLOAD)).toHaveProperty('release')
    })

    it('is kept while its service lives, and can be taken once the lease of a killed service has ended', async () => {
      const [living, other] = await Promise.all([coordinator(), coordinator()])
      await living.claim(SCOPE, PAYLOAD)
      await database.query("INSERT INTO node VALUES ('killed', clock_timestamp() + interval '1 s')")
      await database.query("INSERT INTO claim VALUES ($1, $2, 'killed', 'token')", [
        Buffer.from('of the killed'),
        PAYLOAD,
      ])
      expect(await other.claim(Buffer.from('of the killed'), PAYLOAD)).toHaveProperty('holderHash')
      await expect.poll(() => other.claim(Buffer.from('of the killed'), PAYLOAD)).toHaveProperty('release')
      expect(await other.claim(SCOPE, PAYLOAD)).toHaveProperty('holderHash')
    })

    it('is released by the next heartbeat when the database has granted it and its service does not know', async () => {
      const [living, other] = await Promise.all([coordinator(), coordinator()])
      await living.claim(SCOPE, PAYLOAD)
      const [id] = await held()
      // The state after a statement whose answer was lost.
      const lost = Buffer.from('lost')
      await database.query("INSERT INTO claim VALUES ($1, $2, $3, 'of nobody')", [lost, PAYLOAD, id])
      await expect.poll(() => other.claim(lost, PAYLOAD)).toHaveProperty('release')
      expect(await other.claim(SCOPE, PAYLOAD)).toHaveProperty('holderHash')
    })

    it('reports when it becomes free if its service has died', async () => {
      const other = await coordinator()
      await database.query("INSERT INTO node VALUES ('busy', clock_timestamp() + interval '1 h')")
      await database.query("INSERT INTO claim VALUES ($1, $2, 'busy', 'token')", [SCOPE, PAYLOAD])
      const claim = await other.claim(SCOPE, PAYLOAD)
      await database.query("DELETE FROM node WHERE id = 'busy'")
      const { leaseSeconds } = claim as { leaseSeconds: number }
      expect(leaseSeconds).toBeGreaterThan(3000)
      expect(leaseSeconds).toBeLessThanOrEqual(3600)
    })

    it('is free at once when its service stops', async () => {
      const [one, other] = await Promise.all([coordinator(), coordinator()])
      await one.claim(SCOPE, PAYLOAD)
      coordinators.splice(coordinators.indexOf(one), 1)
      await one.stop()
      expect(await other.claim(SCOPE, PAYLOAD)).toHaveProperty('release')
    })

    it('is refused to a service that could not renew its lease for too long', async () => {
      const one = await coordinator()
      await database.query('ALTER TABLE node RENAME TO node_away')
      try {
        await expect
          .poll(() => one.claim(SCOPE, PAYLOAD).catch((error) => error), { interval: 200 })
          .toBeInstanceOf(StoreUnavailableError)
      } finally {
        await database.query('ALTER TABLE node_away RENAME TO node')
      }
      const anew = () => one.claim(Buffer.from('anew'), PAYLOAD).catch((error) => error)
      await expect.poll(anew).toHaveProperty('release')
    })
  })

  describe('a shared token bucket', () => {
    const shift = (interval: string) => database.query(`UPDATE bucket SET at = at + interval '${interval}'`)
    const lease = (one: PostgresCoordinator, most = 100) => one.leaseTokens('holder', BUCKET, most)

    it('grants its burst at first, and never more after any pause', async () => {
      const one = await coordinator()
      expect((await lease(one)).granted).toBe(BUCKET.burst)
      await shift('-1 hour')
      const { granted, left } = await lease(one)
      expect([granted, left]).toEqual([BUCKET.burst, 0])
    })

    it('fills at its rate', async () => {
      const one = await coordinator()
      await lease(one)
      await shift('-1 second')
      const { granted } = await lease(one)
      expect(granted).toBeGreaterThanOrEqual(BUCKET.ratePerSecond)
      expect(granted).toBeLessThanOrEqual(BUCKET.burst)
    })

    it('loses no tokens when its last time lies in the future', async () => {
      const one = await coordinator()
      await lease(one, 4)
      await shift('1 hour')
      expect((await lease(one)).granted).toBe(BUCKET.burst - 4)
    })
  })

  describe('a rate limit shared by three services', () => {
    it('admits as many requests as the contract allows, and no more', async () => {
      const services = await Promise.all([coordinator(), coordinator(), coordinator()])
      const limiters = services.map((one) => new SharedRateLimiter(one, systemClock))
      // So slow that the bucket does not fill during the test.
      const contract = { ratePerSecond: 0.001, burst: 50 }
      const asked = Array.from({ length: 200 }, (_, i) => limiters[i % 3]!.take('tenant', contract))
      const decisions = await Promise.all(asked)
      expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(50)
      const refused = decisions.find(({ allowed }) => !allowed)!
      expect(refused.remaining).toBe(0)
      expect(refused.retryAfterSeconds).toBeGreaterThan(900)
    })

    it('leaves at most one batch of tokens unused in each service', async () => {
      const services = await Promise.all([coordinator(), coordinator(), coordinator()])
      const limiters = services.map((one) => new SharedRateLimiter(one, systemClock))
      // A batch has five tokens.
      const contract = { ratePerSecond: 100, burst: 50 }
      for (const limiter of limiters)
        expect(await limiter.take('other', contract)).toMatchObject({ allowed: true })
      const [{ tokens }] = (await database.query("SELECT tokens FROM bucket WHERE holder = 'other'")) as [
        { tokens: number },
      ]
      expect(tokens).toBeGreaterThanOrEqual(50 - 3 * 5)
    })

    it('admits fewer requests on all services when one service was charged', async () => {
      const services = await Promise.all([coordinator(), coordinator()])
      const limiters = services.map((one) => new SharedRateLimiter(one, systemClock))
      const contract = { ratePerSecond: 0.001, burst: 50 }
      expect(await limiters[0]!.take('charged', contract)).toMatchObject({ allowed: true })
      limiters[0]!.charge('charged', contract, 30)
      let admitted = 1
      for (let i = 0; i < 40; i++) if ((await limiters[i % 2]!.take('charged', contract)).allowed) admitted++
      expect(admitted).toBe(20)
    })

    it('fills up by the clock of the database', async () => {
      const one = new SharedRateLimiter(await coordinator(), systemClock)
      const contract = { ratePerSecond: 10, burst: 1 }
      expect(await one.take('tenant', contract)).toMatchObject({ allowed: true, remaining: 0 })
      await database.query("UPDATE bucket SET at = at - interval '1 s'")
      expect(await one.take('tenant', contract)).toMatchObject({ allowed: true })
    })
  })
})
