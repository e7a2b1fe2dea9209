/** Tests of what every store deletes once it has expired, and of what it keeps. */

import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { accountReader, accountWriter } from '../../../src/admin/accounts/account-statements.js'
import { challengeReader } from '../../../src/features/challenges/table/exports.js'
import { webhookReader } from '../../../src/features/webhooks/webhook-tables.js'
import { RetentionJob } from '../../../src/jobs/retention.js'
import { DAY_MS, ManualClock } from '../../../src/lib/clock.js'
import {
  AT,
  bytes,
  capture,
  challenge,
  DELIVERED,
  delivery,
  endpoint,
  erasure,
  hasCapture,
  insertUser,
  keptResponse,
  newestCaptures,
  session,
  signingSecret,
  subject,
  tenant,
} from '../../support/records.js'
import { overStores } from '../../support/stores.js'

const HOUR_MS = 3_600_000
const NOW = AT + 1000

overStores((stores) => {
  const webhooks = () => stores.read().statements(webhookReader)
  const accounts = () => stores.read().statements(accountReader)
  const challenges = () => stores.read().statements(challengeReader)
  const writingAccount = stores.writing(accountWriter)
  const { read, write, insert } = stores
  const expire = (now = NOW) => write((tx) => tx.deleteExpired(now))
  const tenants = ['a', 'b']
  const insertAda = () =>
    write(async (tx) => {
      for (const name of tenants) await tx.insertTenant(tenant(name))
      await insertUser(tx, 'ada', NOW)
    })

  /** More rows than two transactions delete from one table. */
  const MANY = 600
  const insertMany = async () => {
    const many = Array.from({ length: MANY }, (_, i) => i)
    const expiring = many.map((i) => keptResponse(`${i}`, { expiresAt: NOW - i, subjectId: null }))
    await insertAda()
    await insert({
      endpoints: [endpoint('end')],
      captures: many.map((i) => capture(`${i}`, { seenAt: AT - DAY_MS + i })),
      responses: [...expiring, keptResponse('in force', { expiresAt: NOW + 1, subjectId: null })],
      deliveries: many.map((i) => delivery(`${i}`, 'end', { ...DELIVERED, expiresAt: NOW - i })),
    })
  }

  describe('expiry', () => {
    it('deletes a limited number of rows at a time, and reports whether there may be more', async () => {
      await insertMany()
      const deliveries = async () => (await webhooks().deliveriesOf('ten_a', MANY)).length
      const left = [await deliveries()]
      while (await expire()) left.push(await deliveries())
      expect(left.length).toBeGreaterThan(2)
      expect(left).toEqual(left.toSorted((a, b) => b - a))
      expect(await deliveries()).toBe(0)
      expect((await newestCaptures(read(), 'sub_ada', 0, MANY)).map(({ seenAt }) => seenAt)).toEqual([NOW])
      for (let i = 0; i < MANY; i++) expect(await read().idempotencyRecord(bytes(`${i}`), 0)).toBeUndefined()
      expect(await read().idempotencyRecord(bytes('in force'), AT)).toBeDefined()
    })

    it('is completed by the retention job, with other transactions in between', async () => {
      await insertMany()
      const clock = new ManualClock(NOW)
      const leaderLease = { current: () => ({ id: 'ours', signal: new AbortController().signal }) }
      const keeping = new RetentionJob(stores.store, clock, pino({ level: 'silent' }), leaderLease, {
        sandboxRetentionMs: 30 * DAY_MS,
      })
      const told: string[] = []
      const kept = keeping.run().then(() => told.push('all is deleted'))
      await insert({ tenants: ['between'] }).then(() => told.push('a tenant'))
      await kept
      expect(told).toEqual(['a tenant', 'all is deleted'])
      expect(await expire()).toBe(false)
      expect(await read().idempotencyRecord(bytes('0'), 0)).toBeUndefined()
    })

    it('deletes kept responses and erasure receipts when they expire', async () => {
      const ends = [NOW, NOW + 1]
      await insert({
        tenants,
        responses: ends.map((at) => keptResponse(`until ${at - NOW}`, { expiresAt: at })),
        erasures: ends.map((at) => erasure(`until ${at - NOW}`, { expiresAt: at })),
      })
      await expire()
      // Asked for a time at which both were still valid.
      expect(await read().idempotencyRecord(bytes('until 0'), AT)).toBeUndefined()
      expect(await read().idempotencyRecord(bytes('until 1'), AT)).toBeDefined()
      expect(await read().erasure(bytes('until 0'), AT)).toBeUndefined()
      expect(await read().erasure(bytes('until 1'), AT)).toBeDefined()
    })

    it('deletes captures after a day, and keeps their users and references', async () => {
      await insertAda()
      await insert({
        captures: [AT, AT + 1].flatMap((seenAt) => [
          capture(`seen ${seenAt - AT}`, { seenAt }),
          capture(`digest ${seenAt - AT}`, { seenAt, sealed: Buffer.alloc(0) }),
        ]),
      })
      await expire(AT + DAY_MS)
      const left = (await newestCaptures(read(), 'sub_ada', 0, 10)).map(({ digest }) => digest.toString())
      expect(left).toEqual(['capture of ada', 'seen 1'])
      const digests = ['digest 0', 'digest 1'].map((digest) =>
        hasCapture(read(), 'sub_ada', bytes(digest), 0),
      )
      expect(await Promise.all(digests)).toEqual([false, true])
      expect((await read().subject(bytes('ada')))?.reference).not.toBeNull()
    })

    it('deletes challenges one hour after their end, used or not', async () => {
      const ends = NOW - HOUR_MS
      await insert({
        tenants,
        challenges: [
          challenge('gone', { expiresAt: ends }),
          challenge('used', { expiresAt: ends, usedAt: AT }),
          challenge('kept', { expiresAt: ends + 1 }),
        ],
      })
      await expire()
      const there = ['gone', 'used', 'kept'].map(async (id) => (await challenges().find(id)) !== undefined)
      expect(await Promise.all(there)).toEqual([false, false, true])
    })

    it('deletes signing secrets that have ended, and never the current one', async () => {
      const ended = signingSecret('ended', { validUntil: NOW })
      const ending = signingSecret('ending', { validUntil: NOW + 1 })
      await insert({ tenants, secrets: [ended, ending, signingSecret('current')] })
      await expire()
      expect((await read().signingSecrets('ten_a', AT)).map(({ id }) => id)).toEqual(['current', 'ending'])
    })

    it('deletes login links and sessions when they expire', async () => {
      const ends = [NOW, NOW + 1].map((at) => ({ hash: bytes(`until ${at - NOW}`), expiresAt: at }))
      await insert({
        tenants,
        links: ends.map((end) => ({ ...end, tenantId: 'ten_a' })),
        sessions: ends.map((end) => session('', end)),
      })
      await expire()
      const links = ['until 0', 'until 1'].map((hash) => writingAccount.takeLoginLink(bytes(hash), AT))
      expect((await Promise.all(links)).map((link) => link !== undefined)).toEqual([false, true])
      expect(await accounts().dashboardSession(bytes('until 0'), AT)).toBeUndefined()
      expect(await accounts().dashboardSession(bytes('until 1'), AT)).toBeDefined()
    })

    it('deletes deliveries, except those that wait for the return of a suspended tenant', async () => {
      const ofTenant = (name: string) => ({ name, tenantId: `ten_${name}`, end: `end_${name}` })
      await insert({
        tenants,
        endpoints: tenants.map(ofTenant).map(({ tenantId, end }) => endpoint(end, { tenantId })),
        deliveries: tenants
          .map(ofTenant)
          .flatMap(({ name, tenantId, end }) => [
            delivery(`${name} waiting`, end, { tenantId, expiresAt: NOW }),
            delivery(`${name} told`, end, { tenantId, ...DELIVERED, expiresAt: NOW }),
            delivery(`${name} later`, end, { tenantId, expiresAt: NOW + 1 }),
          ]),
      })
      await write((tx) => tx.setSuspended('ten_a', AT))
      await expire()
      const left = async (tenantId: string) =>
        (await webhooks().deliveriesOf(tenantId, 10)).map(({ id }) => id).sort()
      expect(await left('ten_a')).toEqual(['a later', 'a waiting'])
      expect(await left('ten_b')).toEqual(['b later'])
    })

    it('never deletes tenants, users and keys because of their age', async () => {
      await insert({ tenants, subjects: [subject('ada', { createdAt: 1 })] })
      await write((tx) =>
        tx.putKeyring({ masterKeyId: 'id', sealed: bytes('s'), createdAt: 1, generation: 0 }),
      )
      await write((tx) => tx.deleteExpired(NOW))
      expect(await read().tenants()).toHaveLength(2)
      expect(await read().subject(bytes('ada'))).toBeDefined()
      expect(await read().keyrings()).toHaveLength(1)
    })
  })
})
