/** How often a call waits for PostgreSQL: each time costs the way there and back, and in a transaction keeps all others waiting. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { StoreTransaction } from '../../src/storage/store.js'
import type { ApiClient } from '../support/client.js'
import { base64, face } from '../support/faces.js'
import { overPostgres } from '../support/postgres.js'
import { RoundTripCounter, type Trips } from '../support/round-trips.js'
import { startService, type TestService } from '../support/service.js'

/** One that waits for a new lot of its rate, or shares the lane with what runs beside, counts more than others. */
const TRIES = 5

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
  const fewest = async (
    call: () => Promise<{ status: number }>,
    prepare = async () => {},
  ): Promise<Trips> => {
    const all: Trips[] = []
    for (let i = 0; i < TRIES; i++) {
      await prepare()
      all.push(await counter.count(async () => expect((await call()).status).toBeLessThan(300)))
    }
    return {
      inSequence: Math.min(...all.map(({ inSequence }) => inSequence)),
      statements: Math.min(...all.map(({ statements }) => statements)),
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

  /** Who calls; the claim of the key and what is kept for it; the user; captures, twice; the lane; reads; writes and commit. */
  it.each([
    ['approved', 'ada'],
    ['rejected', 'joan'],
  ])('a verify that is %s waits eight times, two of them while the engine computes', async (_, image) => {
    const verify = () => production.verify({ user_id: user, image: photos[image], action: 'x' }, withKey())
    expect(await fewest(verify, enrolled)).toMatchObject({ inSequence: 8 })
  })

  it('a verify that is told from its idempotency key waits three times', async () => {
    await enrolled()
    const key = withKey()
    const once = () => production.verify({ user_id: user, image: photos.ada, action: 'x' }, key)
    await once()
    expect(await fewest(once)).toEqual({ inSequence: 3, statements: 4 })
  })

  it('an enrolment waits six times', async () => {
    const enrol = () => production.enroll({ user_id: user, image: photos.ada }, withKey())
    expect(await fewest(enrol, anew)).toMatchObject({ inSequence: 6 })
  })

  it('an erasure waits five times', async () => {
    expect(await fewest(() => production.erase(user), enrolled)).toMatchObject({ inSequence: 5 })
  })

  it('a health report waits twice', async () => {
    expect(await fewest(() => production.health())).toEqual({ inSequence: 2, statements: 2 })
  })

  it('transactions that share a commit wait twice each: for what they read, and for what they wrote', async () => {
    const { store } = running.service.ledger
    const JOBS = 10
    const group = async () => {
      const reading = async (tx: StoreTransaction) => {
        await Promise.all([tx.subject(Buffer.from('nobody')), tx.auditHead('ten_nobody')])
        await tx.setSuspended('ten_nobody', null)
        await tx.setSuspended('ten_nobody', null)
      }
      await Promise.all(Array.from({ length: JOBS }, () => store.transaction(reading)))
      return { status: 200 }
    }
    // The lane before, and the commit after.
    expect(await fewest(group)).toMatchObject({ inSequence: 2 * JOBS + 2 })
  })
})
