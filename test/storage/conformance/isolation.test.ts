/**
 * Tests that transactions are isolated in every store: a decision by what a transaction has read still holds when it writes, although
 * other transactions of this connection and another one run meanwhile.
 */

import { describe, expect, it } from 'vitest'
import { accountReader, accountWriter } from '../../../src/admin/accounts/account-statements.js'
import { webhookReader, webhookWriter } from '../../../src/features/webhooks/webhook-tables.js'
import type { StoreTransaction } from '../../../src/storage/store.js'
import {
  AT,
  bytes,
  capture,
  delivery,
  endpoint,
  hasCapture,
  newestCaptures,
  operator,
  signingSecret,
} from '../../support/records.js'
import { overStores } from '../../support/stores.js'

overStores((stores) => {
  const webhooks = () => stores.read().statements(webhookReader)
  const accounts = () => stores.read().statements(accountReader)
  const { read, atOnce } = stores
  const fill = () => stores.insert({ tenants: ['a'], subjects: ['ada'], endpoints: [endpoint('end')] })

  describe('a transaction is isolated and', () => {
    it('counts every failure of a user when 64 are counted at once', async () => {
      await fill()
      const counted = await atOnce(64, async (tx) => {
        const { failures } = (await tx.subject(bytes('ada')))!.subject
        await tx.setLockout('sub_ada', { failures: failures + 1, lockedUntil: null, disabledAt: null })
        return failures + 1
      })
      expect(counted.sort((a, b) => a - b)).toEqual(Array.from({ length: 64 }, (_, i) => i + 1))
      expect((await read().subject(bytes('ada')))?.subject.failures).toBe(64)
    })

    it('accepts a capture once', async () => {
      await fill()
      const taken = await atOnce(32, async (tx) => {
        await tx.subject(bytes('ada'))
        if (await hasCapture(tx, 'sub_ada', bytes('same'), 0)) return false
        await tx.insertCapture(capture('same'))
        return true
      })
      expect(taken.filter(Boolean)).toHaveLength(1)
      expect(await newestCaptures(read(), 'sub_ada', 0, 100)).toHaveLength(1)
    })

    it('creates the first keyring once', async () => {
      const made = await atOnce(16, async (tx, i) => {
        const [present] = await tx.keyrings()
        if (present) return present.masterKeyId
        await tx.putKeyring({ masterKeyId: `${i}`, sealed: bytes('s'), createdAt: AT, generation: 0 })
        return `${i}`
      })
      expect(new Set(made).size).toBe(1)
      expect((await read().keyrings()).map(({ masterKeyId }) => masterKeyId)).toEqual([made[0]])
    })

    it('keeps one operator when each transaction deletes another one unless it is the last', async () => {
      const all = Array.from({ length: 8 }, (_, i) => operator(`op-${i}`))
      await stores.insert({ people: all })
      await atOnce(8, async (tx, i) => {
        const others = (await tx.statements(accountWriter).people(null)).filter(({ id }) => id !== all[i]!.id)
        if (others.length > 0) await tx.statements(accountWriter).deletePerson(all[i]!.id)
      })
      expect(await accounts().people(null)).toHaveLength(1)
    })

    it('respects the limits of webhook endpoints and of waiting deliveries', async () => {
      await fill()
      await atOnce(12, async (tx, i) => {
        if ((await tx.statements(webhookWriter).endpointsOf('ten_a')).length < 4)
          await tx.statements(webhookWriter).insertEndpoint(endpoint(`${i}`))
      })
      expect(await webhooks().endpointsOf('ten_a')).toHaveLength(4)
      await atOnce(12, async (tx, i) => {
        if ((await tx.statements(webhookWriter).countPending('end')) < 5)
          await tx.statements(webhookWriter).insertDelivery(delivery(`${i}`, 'end'))
        else await tx.statements(webhookWriter).countDropped('end')
      })
      expect(await webhooks().countPending('end')).toBe(5)
      expect((await webhooks().endpoint('end'))?.dropped).toBe(7)
    })

    it('rotates a signing secret so that each rotation ends the one before', async () => {
      await fill()
      await stores.insert({ secrets: [signingSecret('kid_first')] })
      await atOnce(8, async (tx, i) => {
        const [current] = await tx.signingSecrets('ten_a', AT)
        await tx.setSigningSecretEnd(current!.id, AT + 1 + i)
        await tx.insertSigningSecret(signingSecret(`kid_${i}`))
      })
      const all = await read().signingSecrets('ten_a', AT)
      expect(all).toHaveLength(9)
      expect(all.filter(({ validUntil }) => validUntil === null)).toHaveLength(1)
    })

    it('gives a delivery to one sender', async () => {
      await fill()
      await stores.insert({ deliveries: [delivery('del', 'end')] })
      const taken = await atOnce(16, async (tx) => {
        const [due] = await tx.statements(webhookWriter).due(AT, 1)
        if (!due) return false
        const { status, attempts, lastOutcome, finishedAt } = due
        await tx.statements(webhookWriter).setProgress('del', {
          ...{ status, lastOutcome, finishedAt },
          ...{ attempts: attempts + 1, nextAttemptAt: AT + 1000 },
        })
        return true
      })
      expect(taken.filter(Boolean)).toHaveLength(1)
      expect((await webhooks().delivery('del'))?.attempts).toBe(1)
    })

    it('changes several users at once, in any order in which transactions name them', async () => {
      const [one, two] = [bytes('ada'), bytes('eve')]
      await fill()
      await stores.insert({ subjects: ['eve'] })
      const add = async (tx: StoreTransaction, blindIndex: Buffer) => {
        const { id, failures } = (await tx.subject(blindIndex))!.subject
        await tx.setLockout(id, { failures: failures + 1, lockedUntil: null, disabledAt: null })
      }
      await atOnce(32, async (tx, i) => {
        for (const blindIndex of i % 2 ? [one, two] : [two, one]) await add(tx, blindIndex)
      })
      for (const blindIndex of [one, two])
        expect((await read().subject(blindIndex))?.subject.failures).toBe(32)
    })
  })
})
