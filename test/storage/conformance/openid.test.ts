/** Tests of how every store keeps the state of the OpenID provider. */
import { describe, expect, it } from 'vitest'
import type { OpenIdStateRecord } from '../../../src/storage/records.js'
import type { StoreTransaction } from '../../../src/storage/store.js'
import { AT, bytes, tenant } from '../../support/records.js'
import { overStores } from '../../support/stores.js'

const state = (name: string, fields: Partial<OpenIdStateRecord> = {}): OpenIdStateRecord => ({
  ...{ lookup: bytes(name), uid: null, grantId: null, sealed: bytes(`sealed ${name}`) },
  ...{ expiresAt: AT, usedAt: null, ...fields },
})

overStores((stores) => {
  const read = () => stores.store.read
  const write = <T>(work: (tx: StoreTransaction) => Promise<T>) =>
    stores.store.transaction('installation', work)

  describe('the state of the OpenID provider', () => {
    it('is found by either of its names, and replaced by a later one', async () => {
      await write((tx) => tx.putOpenIdState(state('session', { uid: bytes('uid') })))
      const later = state('session', { uid: bytes('uid'), sealed: bytes('later') })
      await write((tx) => tx.putOpenIdState(later))
      expect(await read().openIdState(bytes('session'))).toEqual(later)
      expect(await read().openIdStateByUid(bytes('uid'))).toEqual(later)
      expect(await read().openIdState(bytes('other'))).toBeUndefined()
    })

    it('is used once', async () => {
      await write((tx) => tx.putOpenIdState(state('code')))
      expect(await write((tx) => tx.useOpenIdState(bytes('code'), AT + 1))).toBe(true)
      expect(await write((tx) => tx.useOpenIdState(bytes('code'), AT + 2))).toBe(false)
      expect((await read().openIdState(bytes('code')))?.usedAt).toBe(AT + 1)
    })

    it('is deleted by its name, with its grant, and when its time is over', async () => {
      const grantId = bytes('grant')
      await write(async (tx) => {
        await tx.putOpenIdState(state('a'))
        await tx.putOpenIdState(state('b', { grantId }))
        await tx.putOpenIdState(state('c', { grantId }))
        await tx.putOpenIdState(state('d', { expiresAt: AT + 1 }))
        await tx.deleteOpenIdState(bytes('a'))
        await tx.deleteOpenIdGrant(grantId)
      })
      const left = async () =>
        (await Promise.all(['a', 'b', 'c', 'd'].map((name) => read().openIdState(bytes(name))))).map(
          (found) => found !== undefined,
        )
      expect(await left()).toEqual([false, false, false, true])
      await write((tx) => tx.deleteExpired(AT + 1, 0, { hour: 0, minute: 0 }))
      expect(await left()).toEqual([false, false, false, false])
    })
  })

  describe('an application of the OpenID provider', () => {
    const client = { id: 'oic_a', tenantId: 'ten_a', environment: 'sandbox', keyId: 'key_a' } as const

    it('is removed only by its own tenant', async () => {
      const rows = { ...client, sealed: bytes('sealed'), createdAt: AT }
      await write(async (tx) => {
        await tx.insertTenant(tenant('a'))
        await tx.putOpenIdClient(rows)
        expect(await tx.deleteOpenIdClient('ten_b', 'oic_a')).toBe(false)
      })
      expect(await read().openIdClients('ten_a')).toEqual([rows])
      expect(await write((tx) => tx.deleteOpenIdClient('ten_a', 'oic_a'))).toBe(true)
      expect(await read().openIdClient('oic_a')).toBeUndefined()
    })
  })
})
