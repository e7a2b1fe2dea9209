/** Tests of how every store keeps the state of the OpenID provider. */
import { describe, expect, it } from 'vitest'
import { captureSessionWriter } from '../../../src/features/capture-sessions/capture-tables.js'
import {
  type CallbackRecord,
  callbackReader,
  callbackWriter,
  type OpenIdStateRecord,
  openIdClientReader,
  openIdClientWriter,
  openIdStateReader,
  openIdStateWriter,
} from '../../../src/features/openid/openid-tables.js'
import { AT, bytes, captureSession, tenant } from '../../support/records.js'
import { overStores } from '../../support/stores.js'

const state = (name: string, fields: Partial<OpenIdStateRecord> = {}): OpenIdStateRecord => ({
  ...{ lookup: bytes(name), grantId: null, blindIndex: null, sealed: bytes(`sealed ${name}`) },
  ...{ expiresAt: AT, usedAt: null, ...fields },
})

const callback = (name: string, fields: Partial<CallbackRecord> = {}): CallbackRecord => ({
  ...{ request: bytes(name), tenantId: 'ten_a', sessionId: null, sealed: bytes(`sealed ${name}`) },
  ...{ blindIndex: null, attempts: 0, nextAt: AT, expiresAt: AT + 10, ...fields },
})

overStores((stores) => {
  const states = () => stores.read().statements(openIdStateReader)
  const clients = () => stores.read().statements(openIdClientReader)
  const callbacks = () => stores.read().statements(callbackReader)
  const writingState = stores.writing(openIdStateWriter)
  const writingClient = stores.writing(openIdClientWriter)
  const writingCallback = stores.writing(callbackWriter)
  const { write } = stores

  describe('the state of the OpenID provider', () => {
    it('is found by its name, and replaced by a later one', async () => {
      await writingState.put(state('session'))
      const later = state('session', { blindIndex: bytes('ada'), sealed: bytes('later') })
      await writingState.put(later)
      expect(await states().find(bytes('session'))).toEqual(later)
      expect(await states().find(bytes('other'))).toBeUndefined()
    })

    it('is used once', async () => {
      await writingState.put(state('code'))
      expect(await writingState.use(bytes('code'), AT + 1)).toBe(true)
      expect(await writingState.use(bytes('code'), AT + 2)).toBe(false)
      expect((await states().find(bytes('code')))?.usedAt).toBe(AT + 1)
    })

    it('is deleted by its name, with its grant or its user, and when its time is over', async () => {
      const grantId = bytes('grant')
      await write(async (tx) => {
        await tx.statements(openIdStateWriter).put(state('a'))
        await tx.statements(openIdStateWriter).put(state('b', { grantId }))
        await tx.statements(openIdStateWriter).put(state('c', { grantId }))
        await tx.statements(openIdStateWriter).put(state('d', { expiresAt: AT + 1 }))
        const eve = state('e', { expiresAt: AT + 1, blindIndex: bytes('eve') })
        await tx.statements(openIdStateWriter).put(eve)
        expect(await tx.statements(openIdStateWriter).delete(bytes('a'))).toBe(true)
        expect(await tx.statements(openIdStateWriter).delete(bytes('a'))).toBe(false)
        await tx.statements(openIdStateWriter).deleteGrant(grantId)
        await tx.eraseSubject(bytes('eve'))
      })
      const left = async () => {
        const found = await Promise.all([...'abcde'].map((name) => states().find(bytes(name))))
        return found.flatMap((one) => (one ? String(one.lookup) : []))
      }
      expect(await left()).toEqual(['d'])
      await write((tx) => tx.deleteExpired(AT + 1))
      expect(await left()).toEqual([])
    })
  })

  describe('an application of the OpenID provider', () => {
    const client = { id: 'oic_a', tenantId: 'ten_a', environment: 'sandbox', keyId: 'key_a' } as const

    it('is removed only by its own tenant', async () => {
      const rows = { ...client, sealed: bytes('sealed'), createdAt: AT }
      await write(async (tx) => {
        await tx.insertTenant(tenant('a'))
        await tx.statements(openIdClientWriter).put(rows)
        expect(await tx.statements(openIdClientWriter).delete('ten_b', 'oic_a')).toBe(false)
      })
      expect(await clients().ofTenant('ten_a')).toEqual([rows])
      expect(await writingClient.delete('ten_a', 'oic_a')).toBe(true)
      expect(await clients().byId('oic_a')).toBeUndefined()
    })
  })

  describe('a callback to an identity provider', () => {
    const due = async (now: number) =>
      (await callbacks().due(now, 10)).map(({ request }) => request.toString())

    it('is stored once for each request, and replaced only on purpose', async () => {
      await write(async (tx) => {
        await tx.insertTenant(tenant('a'))
        expect(await tx.statements(callbackWriter).insert(callback('one', { nextAt: null }))).toBe(true)
        expect(await tx.statements(callbackWriter).insert(callback('one'))).toBe(false)
      })
      expect(await due(AT)).toEqual([])
      await writingCallback.put(callback('one'))
      expect(await callbacks().due(AT, 10)).toEqual([callback('one')])
    })

    it('is due at its time, and not while its session is open', async () => {
      await write(async (tx) => {
        await tx.insertTenant(tenant('a'))
        await tx.statements(captureSessionWriter).put(captureSession('open'))
        await tx.statements(captureSessionWriter).put(captureSession('over', { status: 'completed' }))
        await tx.statements(callbackWriter).insert(callback('of an open session', { sessionId: 'cap_open' }))
        await tx.statements(callbackWriter).insert(callback('of one that is over', { sessionId: 'cap_over' }))
        await tx.statements(callbackWriter).insert(callback('later', { nextAt: AT + 1 }))
        await tx.statements(callbackWriter).insert(callback('never', { nextAt: null }))
      })
      expect(await due(AT - 1)).toEqual([])
      expect(await due(AT)).toEqual(['of one that is over'])
      expect(await due(AT + 1)).toEqual(['of one that is over', 'later'])
    })

    it('counts for a user while its session is open and its own time is not over', async () => {
      const blindIndex = bytes('ada')
      await write(async (tx) => {
        await tx.insertTenant(tenant('a'))
        for (const [name, changes] of [
          ['open', { blindIndex }],
          ['over', { blindIndex, status: 'completed' }],
          ['of another', { blindIndex: bytes('bob') }],
        ] as const) {
          await tx.statements(captureSessionWriter).put(captureSession(name, changes))
          await tx.statements(callbackWriter).insert(callback(name, { sessionId: `cap_${name}` }))
        }
      })
      expect(await callbacks().countOpen(blindIndex, AT + 9)).toBe(1)
      expect(await callbacks().countOpen(blindIndex, AT + 10)).toBe(0)
    })

    it('is taken by one process only, and not after it was reported', async () => {
      await write(async (tx) => {
        await tx.insertTenant(tenant('a'))
        await tx.statements(callbackWriter).insert(callback('one'))
      })
      const take = (attempts: number) => writingCallback.take(callback('one', { attempts }), AT + 5)
      expect([await take(0), await take(0)]).toEqual([true, false])
      expect(await callbacks().due(AT + 5, 10)).toEqual([callback('one', { attempts: 1, nextAt: AT + 5 })])
      await writingCallback.setNext(callback('one'), null)
      expect(await due(AT + 5)).toEqual(['one'])
      await writingCallback.setNext(callback('one', { attempts: 1 }), null)
      expect([await take(1), await due(AT + 9)]).toEqual([false, []])
    })

    it('goes with its user, its tenant and its time', async () => {
      await write(async (tx) => {
        await tx.insertTenant(tenant('a'))
        await tx.insertTenant(tenant('b'))
        await tx.statements(callbackWriter).insert(callback('erased', { blindIndex: bytes('ada') }))
        await tx.statements(callbackWriter).insert(callback('other tenant', { tenantId: 'ten_b' }))
        await tx.statements(callbackWriter).insert(callback('expired', { expiresAt: AT }))
        await tx.statements(callbackWriter).insert(callback('left'))
      })
      await write((tx) => tx.eraseSubject(bytes('ada')))
      await write((tx) => tx.closeTenant('ten_b', AT))
      await write((tx) => tx.deleteExpired(AT))
      expect(await due(AT)).toEqual(['left'])
    })
  })
})
