/** Tests of webhooks in every store: endpoints, and the outbox of deliveries. */

import { describe, expect, it } from 'vitest'
import {
  type WebhookDeliveryRecord,
  webhookReader,
  webhookWriter,
} from '../../../src/features/webhooks/webhook-tables.js'
import type { StoreTransaction } from '../../../src/storage/store.js'
import { AT, bytes, DELIVERED, delivery, endpoint, tenant } from '../../support/records.js'
import { overStores } from '../../support/stores.js'

overStores((stores) => {
  const read = () => stores.store.read
  const write = <T>(work: (tx: StoreTransaction) => Promise<T>) =>
    stores.store.transaction('installation', work)
  const ids = (found: Array<{ id: string }>) => found.map(({ id }) => id)
  /** Inserts two tenants with an endpoint each, and these deliveries for the first. */
  const fill = (...deliveries: WebhookDeliveryRecord[]) =>
    write(async (tx) => {
      for (const name of ['a', 'b']) {
        await tx.insertTenant(tenant(name))
        await tx
          .statements(webhookWriter)
          .insertEndpoint(endpoint(`end_${name}`, { tenantId: `ten_${name}` }))
      }
      for (const one of deliveries) await tx.statements(webhookWriter).insertDelivery(one)
    })

  describe('endpoints', () => {
    it('are listed oldest first, and found by id', async () => {
      const full = endpoint('full', {
        environment: 'sandbox',
        events: 'user.enrolled,user.erased',
        createdAt: AT + 1,
        dropped: 3,
      })
      await write(async (tx) => {
        for (const name of ['a', 'b']) await tx.insertTenant(tenant(name))
        for (const one of [full, endpoint('two'), endpoint('one'), endpoint('b', { tenantId: 'ten_b' })])
          await tx.statements(webhookWriter).insertEndpoint(one)
      })
      expect(ids(await read().statements(webhookReader).endpointsOf('ten_a'))).toEqual(['one', 'two', 'full'])
      expect(await read().statements(webhookReader).endpoint('full')).toEqual(full)
      expect(await read().statements(webhookReader).endpoint('unknown')).toBeUndefined()
      await expect(
        write((tx) => tx.statements(webhookWriter).insertEndpoint(endpoint('x', { tenantId: 'ten_nobody' }))),
      ).rejects.toThrow()
    })

    it('count events dropped because the queue was full, even when many count at once', async () => {
      await fill()
      await Promise.all(
        Array.from({ length: 16 }, () => write((tx) => tx.statements(webhookWriter).countDropped('end_a'))),
      )
      expect((await read().statements(webhookReader).endpoint('end_a'))?.dropped).toBe(16)
      expect((await read().statements(webhookReader).endpoint('end_b'))?.dropped).toBe(0)
    })

    it('are deleted with all their deliveries', async () => {
      await fill(delivery('mine', 'end_a'), delivery('theirs', 'end_b', { tenantId: 'ten_b' }))
      await write((tx) => tx.statements(webhookWriter).deleteEndpoint('end_a'))
      expect(await read().statements(webhookReader).endpointsOf('ten_a')).toEqual([])
      expect(await read().statements(webhookReader).delivery('mine')).toBeUndefined()
      expect(await read().statements(webhookReader).delivery('theirs')).toBeDefined()
    })
  })

  describe('deliveries', () => {
    it('are returned as they were written, and cannot exist without their endpoint', async () => {
      const full = delivery('full', 'end_a', {
        ...DELIVERED,
        blindIndex: bytes('ada'),
        subjectId: 'sub_ada',
        attempts: 7,
        lastOutcome: '204',
      })
      await fill(full, delivery('bare', 'end_a'))
      expect(await read().statements(webhookReader).delivery('full')).toEqual(full)
      expect(await read().statements(webhookReader).delivery('bare')).toEqual(delivery('bare', 'end_a'))
      expect(await read().statements(webhookReader).delivery('unknown')).toBeUndefined()
      await expect(
        write((tx) => tx.statements(webhookWriter).insertDelivery(delivery('x', 'end_nobody'))),
      ).rejects.toThrow()
    })

    it('have a next attempt if and only if they are pending', async () => {
      await fill()
      const insert = (changes: Partial<WebhookDeliveryRecord>) =>
        write((tx) => tx.statements(webhookWriter).insertDelivery(delivery('x', 'end_a', changes)))
      await expect(insert({ nextAttemptAt: null })).rejects.toThrow()
      await expect(insert({ status: 'failed' })).rejects.toThrow()
      expect(await read().statements(webhookReader).delivery('x')).toBeUndefined()
    })

    it('are listed newest first, page by page without gaps or repetitions, optionally of one status', async () => {
      const all = [1, 2, 2, 2, 3, 5].map((at, i) =>
        delivery(`d${i}`, 'end_a', { createdAt: AT + at, ...(i % 2 ? DELIVERED : {}) }),
      )
      await fill(...all.toReversed(), delivery('theirs', 'end_b', { tenantId: 'ten_b' }))
      const newest = ['d5', 'd4', 'd3', 'd2', 'd1', 'd0']
      expect(ids(await read().statements(webhookReader).deliveriesOf('ten_a', 10))).toEqual(newest)
      expect(ids(await read().statements(webhookReader).deliveriesOf('ten_a', 2))).toEqual(['d5', 'd4'])
      expect(
        ids(await read().statements(webhookReader).deliveriesOf('ten_a', 10, { status: 'delivered' })),
      ).toEqual([...['d5', 'd3', 'd1']])
      for (const limit of [1, 2, 4]) {
        const found: string[] = []
        let page = await read().statements(webhookReader).deliveriesOf('ten_a', limit)
        for (
          ;
          page.length > 0;
          page = await read()
            .statements(webhookReader)
            .deliveriesOf('ten_a', limit, { before: page.at(-1)! })
        )
          found.push(...ids(page))
        expect(found).toEqual(newest)
      }
      expect(
        ids(
          await read()
            .statements(webhookReader)
            .deliveriesOf('ten_a', 10, { status: 'pending', before: all[4]! }),
        ),
      ).toEqual(['d2', 'd0'])
    })

    it('are counted by endpoint while they wait', async () => {
      await fill(delivery('one', 'end_a'), delivery('two', 'end_a'), delivery('told', 'end_a', DELIVERED))
      expect(await read().statements(webhookReader).countPending('end_a')).toBe(2)
      expect(await read().statements(webhookReader).countPending('end_b')).toBe(0)
    })

    it('store their progress', async () => {
      await fill(delivery('one', 'end_a'), delivery('two', 'end_a'))
      const failed = { status: 'failed', attempts: 9, nextAttemptAt: null } as const
      const progress = { ...failed, lastOutcome: 'timeout', finishedAt: AT + 5 }
      await write((tx) => tx.statements(webhookWriter).setProgress('one', progress))
      expect(await read().statements(webhookReader).delivery('one')).toEqual(
        delivery('one', 'end_a', progress),
      )
      expect(await read().statements(webhookReader).delivery('two')).toEqual(delivery('two', 'end_a'))
    })

    it('are due again when another sender had taken them, and no others are', async () => {
      const later = { nextAttemptAt: AT + 500, attempts: 1 }
      await fill(
        delivery('mine', 'end_a', { ...later, takenBy: 'me' }),
        delivery('lost', 'end_a', { ...later, takenBy: 'somebody' }),
        delivery('waiting', 'end_a', later),
        delivery('told', 'end_a', DELIVERED),
      )
      await write((tx) => tx.statements(webhookWriter).release('me'))
      const found = ['mine', 'lost', 'waiting', 'told'].map((id) =>
        read().statements(webhookReader).delivery(id),
      )
      expect(await Promise.all(found)).toEqual([
        delivery('mine', 'end_a', { ...later, takenBy: 'me' }),
        delivery('lost', 'end_a', { ...later, nextAttemptAt: AT }),
        delivery('waiting', 'end_a', later),
        delivery('told', 'end_a', DELIVERED),
      ])
    })

    it('are released by progress, unless it names a sender', async () => {
      await fill(delivery('one', 'end_a', { takenBy: 'me' }))
      const waiting = {
        status: 'pending',
        nextAttemptAt: AT + 1,
        lastOutcome: '503',
        finishedAt: null,
      } as const
      await write((tx) =>
        tx.statements(webhookWriter).setProgress('one', { ...waiting, attempts: 1, takenBy: 'you' }),
      )
      expect((await read().statements(webhookReader).delivery('one'))?.takenBy).toBe('you')
      await write((tx) => tx.statements(webhookWriter).setProgress('one', { ...waiting, attempts: 2 }))
      expect((await read().statements(webhookReader).delivery('one'))?.takenBy).toBeNull()
    })

    it('lose their body on request', async () => {
      await fill(delivery('one', 'end_a', DELIVERED))
      await write((tx) => tx.statements(webhookWriter).forgetBody('one'))
      expect(await read().statements(webhookReader).delivery('one')).toEqual(
        delivery('one', 'end_a', { ...DELIVERED, sealed: null }),
      )
    })

    it('are kept longer while they wait, and never shorter', async () => {
      await fill(
        delivery('short', 'end_a', { expiresAt: AT + 10 }),
        delivery('long', 'end_a', { expiresAt: AT + 100 }),
        delivery('told', 'end_a', { ...DELIVERED, expiresAt: AT + 10 }),
        delivery('theirs', 'end_b', { tenantId: 'ten_b', expiresAt: AT + 10 }),
      )
      await write((tx) => tx.statements(webhookWriter).keepPending('ten_a', AT + 50))
      const ends = ['short', 'long', 'told', 'theirs'].map(
        async (id) => (await read().statements(webhookReader).delivery(id))!.expiresAt - AT,
      )
      expect(await Promise.all(ends)).toEqual([50, 100, 10, 10])
    })
  })

  describe('due deliveries', () => {
    it('are the longest waiting one of each endpoint, the longest due first', async () => {
      await fill(
        delivery('a later', 'end_a', { nextAttemptAt: AT + 3 }),
        delivery('a first', 'end_a', { nextAttemptAt: AT + 2 }),
        delivery('b first', 'end_b', { tenantId: 'ten_b', nextAttemptAt: AT + 1 }),
        delivery('b told', 'end_b', { tenantId: 'ten_b', ...DELIVERED }),
      )
      const due = async (now: number, limit = 10) =>
        ids(await read().statements(webhookReader).due(now, limit))
      expect(await due(AT)).toEqual([])
      expect(await due(AT + 1)).toEqual(['b first'])
      expect(await due(AT + 3)).toEqual(['b first', 'a first'])
      expect(await due(AT + 3, 1)).toEqual(['b first'])
    })

    it('are the first made of several that were due at once', async () => {
      await fill(...['2', '1', '3'].map((id) => delivery(id, 'end_a')))
      expect(ids(await read().statements(webhookReader).due(AT, 10))).toEqual(['1'])
    })

    it('include none of a suspended tenant until it is resumed', async () => {
      await fill(delivery('one', 'end_a'), delivery('two', 'end_b', { tenantId: 'ten_b' }))
      await write((tx) => tx.setSuspended('ten_a', AT))
      expect(ids(await read().statements(webhookReader).due(AT, 10))).toEqual(['two'])
      await write((tx) => tx.setSuspended('ten_a', null))
      expect(ids(await read().statements(webhookReader).due(AT, 10)).sort()).toEqual(['one', 'two'])
    })
  })
})
