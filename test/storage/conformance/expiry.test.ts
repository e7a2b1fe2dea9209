/** Tests of what every store deletes once it has expired, and of what it keeps. */

import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { accountReader, accountWriter } from '../../../src/admin/accounts/account-statements.js'
import { challengeReader, challengeWriter } from '../../../src/features/challenges/table/exports.js'
import { webhookReader, webhookWriter } from '../../../src/features/webhooks/webhook-tables.js'
import { RetentionJob } from '../../../src/jobs/retention.js'
import { DAY_MS, ManualClock } from '../../../src/lib/clock.js'
import type { StoreTransaction } from '../../../src/storage/store.js'
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
  const fill = (work: (tx: StoreTransaction) => Promise<void>) =>
    write(async (tx) => {
      for (const name of ['a', 'b']) await tx.insertTenant(tenant(name))
      await work(tx)
    })

  /** More rows than two transactions delete from one table. */
  const MANY = 600
  const insertMany = () =>
    fill(async (tx) => {
      await insertUser(tx, 'ada', NOW)
      await tx.statements(webhookWriter).insertEndpoint(endpoint('end'))
      for (let i = 0; i < MANY; i++) {
        await tx.insertCapture(capture(`${i}`, { seenAt: AT - DAY_MS + i }))
        await tx.insertIdempotencyRecord(keptResponse(`${i}`, { expiresAt: NOW - i, subjectId: null }))
        await tx
          .statements(webhookWriter)
          .insertDelivery(delivery(`${i}`, 'end', { ...DELIVERED, expiresAt: NOW - i }))
      }
      await tx.insertIdempotencyRecord(keptResponse('in force', { expiresAt: NOW + 1, subjectId: null }))
    })

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
      await fill(async (tx) => {
        for (const at of [NOW, NOW + 1]) {
          await tx.insertIdempotencyRecord(keptResponse(`until ${at - NOW}`, { expiresAt: at }))
          await tx.putErasure(erasure(`until ${at - NOW}`, { expiresAt: at }))
        }
      })
      await expire()
      // Asked for a time at which both were still valid.
      expect(await read().idempotencyRecord(bytes('until 0'), AT)).toBeUndefined()
      expect(await read().idempotencyRecord(bytes('until 1'), AT)).toBeDefined()
      expect(await read().erasure(bytes('until 0'), AT)).toBeUndefined()
      expect(await read().erasure(bytes('until 1'), AT)).toBeDefined()
    })

    it('deletes captures after a day, and keeps their users and references', async () => {
      await fill(async (tx) => {
        await insertUser(tx, 'ada', NOW)
        for (const seenAt of [AT, AT + 1]) {
          await tx.insertCapture(capture(`seen ${seenAt - AT}`, { seenAt }))
          await tx.insertCapture(capture(`digest ${seenAt - AT}`, { seenAt, sealed: Buffer.alloc(0) }))
        }
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
      await fill(async (tx) => {
        const ends = NOW - HOUR_MS
        for (const one of [
          challenge('gone', { expiresAt: ends }),
          challenge('used', { expiresAt: ends, usedAt: AT }),
          challenge('kept', { expiresAt: ends + 1 }),
        ])
          await tx.statements(challengeWriter).insert(one)
      })
      await expire()
      const there = ['gone', 'used', 'kept'].map(async (id) => (await challenges().find(id)) !== undefined)
      expect(await Promise.all(there)).toEqual([false, false, true])
    })

    it('deletes signing secrets that have ended, and never the current one', async () => {
      await fill(async (tx) => {
        await tx.insertSigningSecret(signingSecret('ended', { validUntil: NOW }))
        await tx.insertSigningSecret(signingSecret('ending', { validUntil: NOW + 1 }))
        await tx.insertSigningSecret(signingSecret('current'))
      })
      await expire()
      expect((await read().signingSecrets('ten_a', AT)).map(({ id }) => id)).toEqual(['current', 'ending'])
    })

    it('deletes login links and sessions when they expire', async () => {
      await fill(async (tx) => {
        for (const at of [NOW, NOW + 1]) {
          const hash = bytes(`until ${at - NOW}`)
          await tx.statements(accountWriter).insertLoginLink({ hash, tenantId: 'ten_a', expiresAt: at })
          await tx.statements(accountWriter).insertDashboardSession(session('', { hash, expiresAt: at }))
        }
      })
      await expire()
      const links = ['until 0', 'until 1'].map((hash) => writingAccount.takeLoginLink(bytes(hash), AT))
      expect((await Promise.all(links)).map((link) => link !== undefined)).toEqual([false, true])
      expect(await accounts().dashboardSession(bytes('until 0'), AT)).toBeUndefined()
      expect(await accounts().dashboardSession(bytes('until 1'), AT)).toBeDefined()
    })

    it('deletes deliveries, except those that wait for the return of a suspended tenant', async () => {
      await fill(async (tx) => {
        for (const name of ['a', 'b']) {
          const tenantId = `ten_${name}`
          await tx.statements(webhookWriter).insertEndpoint(endpoint(`end_${name}`, { tenantId }))
          const add = (id: string, changes: Parameters<typeof delivery>[2]) =>
            tx
              .statements(webhookWriter)
              .insertDelivery(delivery(`${name} ${id}`, `end_${name}`, { tenantId, ...changes }))
          await add('waiting', { expiresAt: NOW })
          await add('told', { ...DELIVERED, expiresAt: NOW })
          await add('later', { expiresAt: NOW + 1 })
        }
        await tx.setSuspended('ten_a', AT)
      })
      await expire()
      const left = async (tenantId: string) =>
        (await webhooks().deliveriesOf(tenantId, 10)).map(({ id }) => id).sort()
      expect(await left('ten_a')).toEqual(['a later', 'a waiting'])
      expect(await left('ten_b')).toEqual(['b later'])
    })

    it('never deletes tenants, users and keys because of their age', async () => {
      await fill((tx) => tx.insertSubject(subject('ada', { createdAt: 1 })))
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
