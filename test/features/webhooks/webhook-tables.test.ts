/** Tests of webhooks in every store: endpoints, and the outbox of deliveries. */

import { describe, expect, it } from 'vitest'
import {
  type WebhookDeliveryRecord,
  webhookReader,
  webhookWriter,
} from '../../../src/features/webhooks/webhook-tables.js'
import { AT, bytes, DELIVERED, delivery, endpoint } from '../../support/records.js'
import { overStores } from '../../support/stores.js'

overStores((stores) => {
  const webhooks = () => stores.read().statements(webhookReader)
  const writing = stores.writing(webhookWriter)
  const { write, insert } = stores
  const ids = (found: Array<{ id: string }>) => found.map(({ id }) => id)
  /** Inserts two tenants with an endpoint each, and these deliveries for the first. */
  const fill = (...deliveries: WebhookDeliveryRecord[]) => {
    const endpoints = ['a', 'b'].map((name) => endpoint(`end_${name}`, { tenantId: `ten_${name}` }))
    return insert({ tenants: ['a', 'b'], endpoints, deliveries })
  }

  describe('endpoints', () => {
    it('are listed oldest first, and found by id', async () => {
      const full = endpoint('full', {
        environment: 'sandbox',
        events: 'user.enrolled,user.erased',
        createdAt: AT + 1,
        dropped: 3,
      })
      const endpoints = [full, endpoint('two'), endpoint('one'), endpoint('b', { tenantId: 'ten_b' })]
      await insert({ tenants: ['a', 'b'], endpoints })
      expect(ids(await webhooks().endpointsOf('ten_a'))).toEqual(['one', 'two', 'full'])
      expect(await webhooks().endpoint('full')).toEqual(full)
      expect(await webhooks().endpoint('unknown')).toBeUndefined()
      await expect(writing.insertEndpoint(endpoint('x', { tenantId: 'ten_nobody' }))).rejects.toThrow()
    })

    it('count events dropped because the queue was full, even when many count at once', async () => {
      await fill()
      await Promise.all(Array.from({ length: 16 }, () => writing.countDropped('end_a')))
      expect((await webhooks().endpoint('end_a'))?.dropped).toBe(16)
      expect((await webhooks().endpoint('end_b'))?.dropped).toBe(0)
    })

    it('are deleted with all their deliveries', async () => {
      await fill(delivery('mine', 'end_a'), delivery('theirs', 'end_b', { tenantId: 'ten_b' }))
      await writing.deleteEndpoint('end_a')
      expect(await webhooks().endpointsOf('ten_a')).toEqual([])
      expect(await webhooks().delivery('mine')).toBeUndefined()
      expect(await webhooks().delivery('theirs')).toBeDefined()
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
      expect(await webhooks().delivery('full')).toEqual(full)
      expect(await webhooks().delivery('bare')).toEqual(delivery('bare', 'end_a'))
      expect(await webhooks().delivery('unknown')).toBeUndefined()
      await expect(writing.insertDelivery(delivery('x', 'end_nobody'))).rejects.toThrow()
    })

    it('have a next attempt if and only if they are pending', async () => {
      await fill()
      const insert = (changes: Partial<WebhookDeliveryRecord>) =>
        writing.insertDelivery(delivery('x', 'end_a', changes))
      await expect(insert({ nextAttemptAt: null })).rejects.toThrow()
      await expect(insert({ status: 'failed' })).rejects.toThrow()
      expect(await webhooks().delivery('x')).toBeUndefined()
    })

    it('are listed newest first, page by page without gaps or repetitions, optionally of one status', async () => {
      const all = [1, 2, 2, 2, 3, 5].map((at, i) =>
        delivery(`d${i}`, 'end_a', { createdAt: AT + at, ...(i % 2 ? DELIVERED : {}) }),
      )
      await fill(...all.toReversed(), delivery('theirs', 'end_b', { tenantId: 'ten_b' }))
      const newest = ['d5', 'd4', 'd3', 'd2', 'd1', 'd0']
      expect(ids(await webhooks().deliveriesOf('ten_a', 10))).toEqual(newest)
      expect(ids(await webhooks().deliveriesOf('ten_a', 2))).toEqual(['d5', 'd4'])
      expect(ids(await webhooks().deliveriesOf('ten_a', 10, { status: 'delivered' }))).toEqual([
        ...['d5', 'd3', 'd1'],
      ])
      for (const limit of [1, 2, 4]) {
        const found: string[] = []
        let page = await webhooks().deliveriesOf('ten_a', limit)
        for (
          ;
          page.length > 0;
          page = await webhooks().deliveriesOf('ten_a', limit, { before: page.at(-1)! })
        )
          found.push(...ids(page))
        expect(found).toEqual(newest)
      }
      expect(ids(await webhooks().deliveriesOf('ten_a', 10, { status: 'pending', before: all[4]! }))).toEqual(
        ['d2', 'd0'],
      )
    })

    it('are counted by endpoint while they wait', async () => {
      await fill(delivery('one', 'end_a'), delivery('two', 'end_a'), delivery('told', 'end_a', DELIVERED))
      expect(await webhooks().countPending('end_a')).toBe(2)
      expect(await webhooks().countPending('end_b')).toBe(0)
    })

    it('store their progress', async () => {
      await fill(delivery('one', 'end_a'), delivery('two', 'end_a'))
      const failed = { status: 'failed', attempts: 9, nextAttemptAt: null } as const
      const progress = { ...failed, lastOutcome: 'timeout', finishedAt: AT + 5 }
      await writing.setProgress('one', progress)
      expect(await webhooks().delivery('one')).toEqual(delivery('one', 'end_a', progress))
      expect(await webhooks().delivery('two')).toEqual(delivery('two', 'end_a'))
    })

    it('are due again when another sender had taken them, and no others are', async () => {
      const later = { nextAttemptAt: AT + 500, attempts: 1 }
      await fill(
        delivery('mine', 'end_a', { ...later, takenBy: 'me' }),
        delivery('lost', 'end_a', { ...later, takenBy: 'somebody' }),
        delivery('waiting', 'end_a', later),
        delivery('told', 'end_a', DELIVERED),
      )
      await writing.release('me')
      const found = ['mine', 'lost', 'waiting', 'told'].map((id) => webhooks().delivery(id))
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
      await writing.setProgress('one', { ...waiting, attempts: 1, takenBy: 'you' })
      expect((await webhooks().delivery('one'))?.takenBy).toBe('you')
      await writing.setProgress('one', { ...waiting, attempts: 2 })
      expect((await webhooks().delivery('one'))?.takenBy).toBeNull()
    })

    it('lose their body on request', async () => {
      await fill(delivery('one', 'end_a', DELIVERED))
      await writing.forgetBody('one')
      expect(await webhooks().delivery('one')).toEqual(
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
      await writing.keepPending({ tenantId: 'ten_a', until: AT + 50 })
      const ends = ['short', 'long', 'told', 'theirs'].map(
        async (id) => (await webhooks().delivery(id))!.expiresAt - AT,
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
      const due = async (now: number, limit = 10) => ids(await webhooks().due(now, limit))
      expect(await due(AT)).toEqual([])
      expect(await due(AT + 1)).toEqual(['b first'])
      expect(await due(AT + 3)).toEqual(['b first', 'a first'])
      expect(await due(AT + 3, 1)).toEqual(['b first'])
    })

    it('are the first made of several that were due at once', async () => {
      await fill(...['2', '1', '3'].map((id) => delivery(id, 'end_a')))
      expect(ids(await webhooks().due(AT, 10))).toEqual(['1'])
    })

    it('include none of a suspended tenant until it is resumed', async () => {
      await fill(delivery('one', 'end_a'), delivery('two', 'end_b', { tenantId: 'ten_b' }))
      await write((tx) => tx.setSuspended('ten_a', AT))
      expect(ids(await webhooks().due(AT, 10))).toEqual(['two'])
      await write((tx) => tx.setSuspended('ten_a', null))
      expect(ids(await webhooks().due(AT, 10)).sort()).toEqual(['one', 'two'])
    })
  })
})
