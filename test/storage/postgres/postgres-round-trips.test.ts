/** Counts how often a call waits for PostgreSQL: each time costs a round trip, and within a transaction also the time of other callers. */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { webhookWriter } from '../../../src/features/webhooks/webhook-tables.js'
import type { StoreTransaction } from '../../../src/storage/store.js'
import type { ApiClient } from '../../support/client.js'
import { base64, face } from '../../support/faces.js'
import { overPostgres } from '../../support/postgres.js'
import { RoundTripCounter, type Trips } from '../../support/round-trips.js'
import { startService, type TestService } from '../../support/service.js'

/**
 * Number of counted calls, of which the median counts: a call that leases rate-limit tokens makes more round trips, one that shares a group
 * with other work may make more or fewer.
 */
const TRIES = 5
const JOBS = 10

overPostgres(() => {
  let running: TestService
  let production: ApiClient
  let counter: RoundTripCounter
  const photos: Record<string, string> = {}
  let user: string
  beforeAll(async () => {
    for (const name of ['ada', 'joan'] as const) photos[name] = base64(await face(name))
    counter = new RoundTripCounter()
    running = await startService({ COUNTERSIGN_LOCKOUT_ATTEMPTS: '0' })
    production = await running.production(await running.tenant())
  })
  afterAll(async () => {
    counter?.stop()
    await running?.stop()
  })
  const usual = async (call: () => Promise<{ status: number }>, prepare = async () => {}): Promise<Trips> => {
    const all: Trips[] = []
    for (let i = 0; i < TRIES; i++) {
      await prepare()
      all.push(await counter.count(async () => expect((await call()).status).toBeLessThan(300)))
    }
    return {
      inSequence: median(all.map(({ inSequence }) => inSequence)),
      statements: median(all.map(({ statements }) => statements)),
    }
  }
  const anew = async () => {
    user = randomUUID()
  }
  const enrolled = async () => {
    await anew()
    await production.enroll({ user_id: user, image: photos.ada })
  }
  const withKey = () => ({ headers: { 'X-Svc-Idempotency-Key': randomUUID() } })

  /**
   * The round trips: authentication; claim and kept response of the idempotency key; the user; captures; the lock; reads; writes with
   * the commit.
   */
  it.each([
    ['approved', 'ada'],
    ['rejected', 'joan'],
  ])(
    'a verify that is %s makes seven round trips, one of them while the engine computes',
    async (_, image) => {
      const verify = () => production.verify({ user_id: user, image: photos[image], action: 'x' }, withKey())
      expect(await usual(verify, enrolled)).toMatchObject({ inSequence: 7 })
    },
  )

  it('a verify that is answered from its idempotency key makes three round trips', async () => {
    await enrolled()
    const key = withKey()
    const once = () => production.verify({ user_id: user, image: photos.ada, action: 'x' }, key)
    await once()
    expect(await usual(once)).toEqual({ inSequence: 3, statements: 4 })
  })

  it('an enrollment makes six round trips', async () => {
    const enrol = () => production.enroll({ user_id: user, image: photos.ada }, withKey())
    expect(await usual(enrol, anew)).toMatchObject({ inSequence: 6 })
  })

  it('an erasure makes five round trips', async () => {
    expect(await usual(() => production.erase(user), enrolled)).toMatchObject({ inSequence: 5 })
  })

  it('a health report makes two round trips', async () => {
    expect(await usual(() => production.health())).toEqual({ inSequence: 2, statements: 2 })
  })

  /** Runs transactions together. @param concernOf gives the serialization key of each; undefined for none */
  const sharing = (concernOf: (job: number) => string | undefined) => {
    const { store } = running.service.core
    const job = async (tx: StoreTransaction) => {
      await Promise.all([
        tx.subject(Buffer.from('nobody')),
        tx.statements(webhookWriter).endpointsOf('ten_nobody'),
      ])
      await tx.setSuspended('ten_nobody', null)
      await tx.setSuspended('ten_nobody', null)
    }
    return usual(async () => {
      await Promise.all(
        Array.from({ length: JOBS }, (_, i) =>
          store.transaction({ tenantId: 'ten_nobody', serializationKey: concernOf(i) }, job),
        ),
      )
      return { status: 200 }
    })
  }

  it('concurrent transactions of one group make as many round trips as one: lock, reads, and writes with the commit', async () => {
    const { inSequence } = await sharing((i) => `user ${i}`)
    // The first transaction may have written before the last one has read.
    expect([3, 4]).toContain(inSequence)
  })

  it('serial transactions of one group make one round trip each, besides those for lock and commit', async () => {
    expect(await sharing(() => undefined)).toMatchObject({ inSequence: JOBS + 2 })
  })
})

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!
}
