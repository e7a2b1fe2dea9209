/** Tests of the scopes of a transaction in every store: what each excludes, and that writes under `rows` are right when they run at once. */

import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { accountReader, accountWriter } from '../../../src/admin/accounts/account-statements.js'
import type { SecondFactorRecord } from '../../../src/admin/accounts/account-tables.js'
import { challengeReader } from '../../../src/features/challenges/table/exports.js'
import { webhookReader, webhookWriter } from '../../../src/features/webhooks/webhook-tables.js'
import type { Scope, Store, StoreTransaction } from '../../../src/storage/store.js'
import { AT, bytes, challenge, delivery, endpoint, keptResponse, tenant } from '../../support/records.js'
import { overStores } from '../../support/stores.js'

const SCOPES: Array<[name: string, scope: Scope]> = [
  ['the whole installation', 'installation'],
  ['rows', 'rows'],
  ['a tenant', { tenantId: 'ten_a' }],
  ['a tenant and a key', { tenantId: 'ten_a', serializationKey: 'ada' }],
]
/** Longer than a transaction takes that nothing holds up. */
const NOTICEABLE_MS = 300

const factor: SecondFactorRecord = {
  id: 'operator',
  sealed: bytes('secret'),
  recovery: '["one"]',
  lastStep: null,
  enrolledAt: AT,
}

overStores((stores) => {
  const webhooks = () => stores.read().statements(webhookReader)
  const accounts = () => stores.read().statements(accountReader)
  const challenges = () => stores.read().statements(challengeReader)
  const writingAccount = stores.writing(accountWriter)
  const { read } = stores
  const names = async () => (await read().tenants()).map(({ name }) => name).sort()
  const insert = (name: string, scope: Scope, store: Store = stores.store) =>
    store.transaction(scope, (tx) => tx.insertTenant(tenant(name)))
  const atOnce = <T>(count: number, work: (tx: StoreTransaction, i: number) => Promise<T>) =>
    stores.atOnce(count, work, 'rows')

  describe.each(SCOPES)('a transaction with the scope of %s', (_, scope) => {
    it('resolves with the result of its work, whose writes are kept', async () => {
      const result = await stores.store.transaction(scope, async (tx) => {
        await tx.insertTenant(tenant('a'))
        return (await tx.tenantByName('a'))?.id
      })
      expect(result).toBe('ten_a')
      expect(await names()).toEqual(['a'])
    })

    it('writes nothing when it rejects, and does not affect others of its group', async () => {
      const thrown = new RangeError('after the write')
      const results = await Promise.allSettled([
        insert('before', scope),
        stores.store.transaction(scope, async (tx) => {
          await tx.insertTenant(tenant('failing'))
          throw thrown
        }),
        insert('after', scope),
      ])
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
      expect(results[1]).toMatchObject({ reason: thrown })
      expect(await names()).toEqual(['after', 'before'])
    })

    it('waits for a transaction of the whole installation, and holds one up', async () => {
      const store = await stores.open()
      for (const [first, second] of [
        [scope, 'installation'],
        ['installation', scope],
      ] as const) {
        const before = await names()
        const held = await stores.hold((tx) => tx.insertTenant(tenant('held')), { store, scope: first })
        let isDone = false
        const waiting = insert(`late-${before.length}`, second).then(() => {
          isDone = true
        })
        await sleep(NOTICEABLE_MS)
        expect(isDone).toBe(false)
        held.release()
        await Promise.all([held.done, waiting])
        await stores.execute(`DELETE FROM tenant WHERE name = 'held'`)
      }
      expect(await names()).toHaveLength(2)
    })
  })

  describe('under the scope of rows', () => {
    it('two connections delete the same expired rows, and neither fails', async () => {
      const many = Array.from({ length: 700 }, (_, i) => ({ id: `${i}`, expiresAt: AT + (i % 7) }))
      await stores.insert({
        tenants: ['a'],
        responses: many.map(({ id, expiresAt }) => keptResponse(id, { expiresAt, subjectId: null })),
        challenges: many.map(({ id, expiresAt }) => challenge(id, { expiresAt })),
      })
      const later = AT + 7_200_000
      const deleteAll = async (store: Store) => {
        const some = (tx: StoreTransaction) => tx.deleteExpired(later)
        while (await store.transaction('rows', some));
      }
      await Promise.all([stores.store, stores.store, await stores.open()].map(deleteAll))
      expect(await read().idempotencyRecord(bytes('3'), 0)).toBeUndefined()
      expect(await Promise.all([0, 350, 699].map((i) => challenges().find(`${i}`)))).toEqual([
        undefined,
        undefined,
        undefined,
      ])
    })

    it('a due delivery is taken once, and its attempt is counted', async () => {
      const rows = { endpoints: [endpoint('end')], deliveries: [delivery('del', 'end')] }
      await stores.insert({ tenants: ['a'], ...rows })
      const [due] = await webhooks().due(AT, 1)
      const taking = { id: due!.id, attempts: due!.attempts, now: AT, nextAttemptAt: AT + 1000 }
      const taken = await atOnce(16, (tx, i) =>
        tx.statements(webhookWriter).take({ ...taking, takenBy: `${i}` }),
      )
      expect(taken.filter(Boolean)).toHaveLength(1)
      const takenBy = `${taken.indexOf(true)}`
      expect(await webhooks().delivery('del')).toMatchObject({
        attempts: 1,
        nextAttemptAt: AT + 1000,
        takenBy,
      })
    })

    it('a delivery that is no longer due, or is to be sent from the beginning, is not taken as it was read', async () => {
      const deliveries = ['erased', 'again', 'gone'].map((id) => delivery(id, 'end', { attempts: 3 }))
      await stores.insert({ tenants: ['a'], endpoints: [endpoint('end')], deliveries })
      await stores.write(async (tx) => {
        await tx.statements(webhookWriter).setProgress('erased', {
          ...{ status: 'erased', attempts: 3, nextAttemptAt: null, lastOutcome: null, finishedAt: null },
        })
        await tx.statements(webhookWriter).setProgress('again', { ...delivery('again', 'end'), attempts: 0 })
      })
      await stores.execute(`DELETE FROM webhook_delivery WHERE id = 'gone'`)
      const taking = { attempts: 3, now: AT, nextAttemptAt: AT + 1000, takenBy: 'me' }
      for (const id of ['erased', 'again', 'gone'])
        expect(
          await stores.store.transaction('rows', (tx) =>
            tx.statements(webhookWriter).take({ id, ...taking }),
          ),
        ).toBe(false)
      expect(await webhooks().delivery('again')).toMatchObject({
        attempts: 0,
        takenBy: null,
      })
    })

    it.each([
      ['first', factor],
      ['later', { ...factor, lastStep: 57_000_000 }],
    ])('a %s code of a second factor is used once', async (_, before) => {
      await writingAccount.putSecondFactor(before)
      const used = await atOnce(16, (tx) =>
        tx
          .statements(accountWriter)
          .noteSecondFactorUse(before, { recovery: '["one"]', lastStep: 57_000_001 }),
      )
      expect(used.filter(Boolean)).toHaveLength(1)
      expect(await accounts().secondFactor('operator')).toEqual({
        ...before,
        lastStep: 57_000_001,
      })
    })

    it('a login link is found while it is valid, and is used up once', async () => {
      const link = { hash: bytes('link'), tenantId: 'ten_a', expiresAt: AT + 10 }
      await stores.insert({ tenants: ['a'], links: [link] })
      expect(await accounts().loginLink(bytes('link'), AT)).toEqual(link)
      expect(await accounts().loginLink(bytes('link'), AT + 10)).toBeUndefined()
      const taken = await atOnce(8, (tx) => tx.statements(accountWriter).takeLoginLink(bytes('link'), AT))
      expect(taken.filter((one) => one !== undefined)).toEqual([link])
      expect(await accounts().loginLink(bytes('link'), AT)).toBeUndefined()
    })
  })
})
