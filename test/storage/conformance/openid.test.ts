/** Tests of how every store keeps the state of the OpenID provider. */
import { describe, expect, it } from 'vitest'
import type { OpenIdCallbackRecord, OpenIdStateRecord } from '../../../src/storage/records.js'
import type { StoreTransaction } from '../../../src/storage/store.js'
import { AT, bytes, captureSession, tenant, verdictKey } from '../../support/records.js'
import { overStores } from '../../support/stores.js'

const state = (name: string, fields: Partial<OpenIdStateRecord> = {}): OpenIdStateRecord => ({
  ...{ lookup: bytes(name), grantId: null, blindIndex: null, sealed: bytes(`sealed ${name}`) },
  ...{ expiresAt: AT, usedAt: null, ...fields },
})

const callback = (name: string, fields: Partial<OpenIdCallbackRecord> = {}): OpenIdCallbackRecord => ({
  ...{ request: bytes(name), tenantId: 'ten_a', sessionId: null, sealed: bytes(`sealed ${name}`) },
  ...{ blindIndex: null, attempts: 0, nextAt: AT, expiresAt: AT + 10, ...fields },
})

overStores((stores) => {
  const read = () => stores.store.read
  const write = <T>(work: (tx: StoreTransaction) => Promise<T>) =>
    stores.store.transaction('installation', work)

  describe('the state of the OpenID provider', () => {
    it('is found by its name, and replaced by a later one', async () => {
      await write((tx) => tx.putOpenIdState(state('session')))
      const later = state('session', { blindIndex: bytes('ada'), sealed: bytes('later') })
      await write((tx) => tx.putOpenIdState(later))
      expect(await read().openIdState(bytes('session'))).toEqual(later)
      expect(await read().openIdState(bytes('other'))).toBeUndefined()
    })

    it('is used once', async () => {
      await write((tx) => tx.putOpenIdState(state('code')))
      expect(await write((tx) => tx.useOpenIdState(bytes('code'), AT + 1))).toBe(true)
      expect(await write((tx) => tx.useOpenIdState(bytes('code'), AT + 2))).toBe(false)
      expect((await read().openIdState(bytes('code')))?.usedAt).toBe(AT + 1)
    })

    it('is deleted by its name, with its grant or its user, and when its time is over', async () => {
      const grantId = bytes('grant')
      await write(async (tx) => {
        await tx.putOpenIdState(state('a'))
        await tx.putOpenIdState(state('b', { grantId }))
        await tx.putOpenIdState(state('c', { grantId }))
        await tx.putOpenIdState(state('d', { expiresAt: AT + 1 }))
        await tx.putOpenIdState(state('e', { expiresAt: AT + 1, blindIndex: bytes('eve') }))
        expect(await tx.deleteOpenIdState(bytes('a'))).toBe(true)
        expect(await tx.deleteOpenIdState(bytes('a'))).toBe(false)
        await tx.deleteOpenIdGrant(grantId)
        await tx.eraseSubject(bytes('eve'))
      })
      const left = async () =>
        (await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => read().openIdState(bytes(name))))).map(
          (found) => found !== undefined,
        )
      expect(await left()).toEqual([false, false, false, true, false])
      await write((tx) => tx.deleteExpired(AT + 1))
      expect(await left()).toEqual([false, false, false, false, false])
    })
  })

  describe('a key of the OpenID provider', () => {
    it('is removed with the others of its environment, and with no other', async () => {
      await write(async (tx) => {
        await tx.insertOpenIdKey({ ...verdictKey('oik_a'), environment: 'sandbox' })
        await tx.insertOpenIdKey({ ...verdictKey('oik_b'), environment: 'production' })
        await tx.deleteOpenIdKeys('sandbox')
      })
      expect((await read().openIdKeys()).map(({ id }) => id)).toEqual(['oik_b'])
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

  describe('a callback to an identity provider', () => {
    const due = async (now: number) =>
      (await read().dueOpenIdCallbacks(now, 10)).map(({ request }) => request.toString())

    it('is stored once for each request, and replaced only on purpose', async () => {
      await write(async (tx) => {
        await tx.insertTenant(tenant('a'))
        expect(await tx.insertOpenIdCallback(callback('one', { nextAt: null }))).toBe(true)
        expect(await tx.insertOpenIdCallback(callback('one'))).toBe(false)
      })
      expect(await due(AT)).toEqual([])
      await write((tx) => tx.putOpenIdCallback(callback('one')))
      expect(await read().dueOpenIdCallbacks(AT, 10)).toEqual([callback('one')])
    })

    it('is due at its time, and not while its session is open', async () => {
      await write(async (tx) => {
        await tx.insertTenant(tenant('a'))
        await tx.putCaptureSession(captureSession('open'))
        await tx.putCaptureSession(captureSession('over', { status: 'completed' }))
        await tx.insertOpenIdCallback(callback('of an open session', { sessionId: 'cap_open' }))
        await tx.insertOpenIdCallback(callback('of one that is over', { sessionId: 'cap_over' }))
        await tx.insertOpenIdCallback(callback('later', { nextAt: AT + 1 }))
        await tx.insertOpenIdCallback(callback('never', { nextAt: null }))
      })
      expect(await due(AT - 1)).toEqual([])
      expect(await due(AT)).toEqual(['of one that is over'])
      expect(await due(AT + 1)).toEqual(['of one that is over', 'later'])
    })

    it('counts for a user while its session is open and its own time is not over', async () => {
      const blindIndex = bytes('ada')
      await write(async (tx) => {
        await tx.insertTenant(tenant('a'))
        await tx.putCaptureSession(captureSession('open', { blindIndex }))
        await tx.putCaptureSession(captureSession('over', { blindIndex, status: 'completed' }))
        await tx.putCaptureSession(captureSession('of another', { blindIndex: bytes('bob') }))
        for (const name of ['open', 'over', 'of another'])
          await tx.insertOpenIdCallback(callback(name, { sessionId: `cap_${name}` }))
      })
      expect(await read().openCallbacksOf(blindIndex, AT + 9)).toBe(1)
      expect(await read().openCallbacksOf(blindIndex, AT + 10)).toBe(0)
    })

    it('is taken by one process only, and not after it was reported', async () => {
      await write(async (tx) => {
        await tx.insertTenant(tenant('a'))
        await tx.insertOpenIdCallback(callback('one'))
      })
      const take = (attempts: number) =>
        write((tx) => tx.takeOpenIdCallback(callback('one', { attempts }), AT + 5))
      expect([await take(0), await take(0)]).toEqual([true, false])
      expect(await read().dueOpenIdCallbacks(AT + 5, 10)).toEqual([
        callback('one', { attempts: 1, nextAt: AT + 5 }),
      ])
      await write((tx) => tx.setOpenIdCallbackNext(callback('one'), null))
      expect(await due(AT + 5)).toEqual(['one'])
      await write((tx) => tx.setOpenIdCallbackNext(callback('one', { attempts: 1 }), null))
      expect([await take(1), await due(AT + 9)]).toEqual([false, []])
    })

    it('goes with its user, its tenant and its time', async () => {
      await write(async (tx) => {
        await tx.insertTenant(tenant('a'))
        await tx.insertTenant(tenant('b'))
        await tx.insertOpenIdCallback(callback('erased', { blindIndex: bytes('ada') }))
        await tx.insertOpenIdCallback(callback('other tenant', { tenantId: 'ten_b' }))
        await tx.insertOpenIdCallback(callback('expired', { expiresAt: AT }))
        await tx.insertOpenIdCallback(callback('left'))
      })
      await write((tx) => tx.eraseSubject(bytes('ada')))
      await write((tx) => tx.closeTenant('ten_b', AT))
      await write((tx) => tx.deleteExpired(AT))
      expect(await due(AT)).toEqual(['left'])
    })
  })
})
