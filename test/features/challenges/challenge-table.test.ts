/** Tests of how every store keeps challenges: as they were written, and used once. */
import { describe, expect, it } from 'vitest'
import { challengeReader, challengeWriter } from '../../../src/features/challenges/table/exports.js'
import type { StoreTransaction } from '../../../src/storage/store.js'
import { AT, bytes, challenge, tenant } from '../../support/records.js'
import { overStores } from '../../support/stores.js'

overStores((stores) => {
  const write = <T>(work: (tx: StoreTransaction) => Promise<T>) =>
    stores.store.transaction('installation', work)

  describe('a challenge', () => {
    it('is returned as it was written, and can be used once', async () => {
      await write(async (tx) => {
        await tx.insertTenant(tenant('a'))
        await tx.statements(challengeWriter).insert(challenge('cha', { display: bytes('display') }))
      })
      expect(await stores.store.read.statements(challengeReader).find('cha')).toEqual(
        challenge('cha', { display: bytes('display') }),
      )
      const use = (id: string, at: number) => write((tx) => tx.statements(challengeWriter).use(id, at))
      expect(await use('cha', AT + 1)).toBe(true)
      expect(await use('cha', AT + 2)).toBe(false)
      expect(await stores.store.read.statements(challengeReader).find('cha')).toEqual(
        challenge('cha', { display: bytes('display'), usedAt: AT + 1 }),
      )
      expect(await use('unknown', AT)).toBe(false)
      expect(await stores.store.read.statements(challengeReader).find('unknown')).toBeUndefined()
    })

    it('is used by one of many that try at once, even over two connections', async () => {
      await write(async (tx) => {
        await tx.insertTenant(tenant('a'))
        await tx.statements(challengeWriter).insert(challenge('cha'))
      })
      const both = [stores.store, await stores.open()]
      const used = await Promise.all(
        Array.from({ length: 32 }, (_, i) =>
          both[i % 2]!.transaction('installation', (tx) => tx.statements(challengeWriter).use('cha', AT + i)),
        ),
      )
      expect(used.filter(Boolean)).toHaveLength(1)
    })
  })
})
