/** Tests of how every store keeps the state of the OpenID provider. */
import { beforeEach, describe, expect, it } from 'vitest'
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
import { AT, bytes, captureSession } from '../../support/records.js'
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
  const writingSession = stores.writing(captureSessionWriter)
  const { write } = stores
  beforeEach(() => stores.insert({ tenants: ['a', 'b'] }))

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
      for (const one of [
        state('a'),
        state('b', { grantId }),
        state('c', { grantId }),
        state('d', { expiresAt: AT + 1 }),
        state('e', { expiresAt: AT + 1, blindIndex: bytes('eve') }),
      ])
        await writingState.put(one)
      expect(await writingState.delete(bytes('a'))).toBe(true)
      expect(await writingState.delete(bytes('a'))).toBe(false)
      await writingState.deleteGrant(grantId)
      await write((tx) => tx.eraseSubject(bytes('eve')))
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
      await writingClient.put(rows)
      expect(await writingClient.delete('ten_b', 'oic_a')).toBe(false)
      expect(await clients().ofTenant('ten_a')).toEqual([rows])
      expect(await writingClient.delete('ten_a', 'oic_a')).toBe(true)
      expect(await clients().byId('oic_a')).toBeUndefined()
    })
  })

  describe('a callback to an identity provider', () => {
    const due = async (now: number) =>
      (await callbacks().due(now, 10)).map(({ request }) => request.toString())

    it('is stored once for each request, and replaced only on purpose', async () => {
      expect(await writingCallback.insert(callback('one', { nextAt: null }))).toBe(true)
      expect(await writingCallback.insert(callback('one'))).toBe(false)
      expect(await due(AT)).toEqual([])
      await writingCallback.put(callback('one'))
      expect(await callbacks().due(AT, 10)).toEqual([callback('one')])
    })

    it('is due at its time, and not while its session is open', async () => {
      await writingSession.put(captureSession('open'))
      await writingSession.put(captureSession('over', { status: 'completed' }))
      for (const one of [
        callback('of an open session', { sessionId: 'cap_open' }),
        callback('of one that is over', { sessionId: 'cap_over' }),
        callback('later', { nextAt: AT + 1 }),
        callback('never', { nextAt: null }),
      ])
        await writingCallback.insert(one)
      expect(await due(AT - 1)).toEqual([])
      expect(await due(AT)).toEqual(['of one that is over'])
      expect(await due(AT + 1)).toEqual(['of one that is over', 'later'])
    })

    it('counts for a user while its session is open and its own time is not over', async () => {
      const blindIndex = bytes('ada')
      for (const [name, changes] of [
        ['open', { blindIndex }],
        ['over', { blindIndex, status: 'completed' }],
        ['of another', { blindIndex: bytes('bob') }],
      ] as const) {
        await writingSession.put(captureSession(name, changes))
        await writingCallback.insert(callback(name, { sessionId: `cap_${name}` }))
      }
      expect(await callbacks().countOpen(blindIndex, AT + 9)).toBe(1)
      expect(await callbacks().countOpen(blindIndex, AT + 10)).toBe(0)
    })

    it('is taken by one process only, and not after it was reported', async () => {
      await writingCallback.insert(callback('one'))
      const take = (attempts: number) => writingCallback.take(callback('one', { attempts }), AT + 5)
      expect([await take(0), await take(0)]).toEqual([true, false])
      expect(await callbacks().due(AT + 5, 10)).toEqual([callback('one', { attempts: 1, nextAt: AT + 5 })])
      await writingCallback.setNext(callback('one'), null)
      expect(await due(AT + 5)).toEqual(['one'])
      await writingCallback.setNext(callback('one', { attempts: 1 }), null)
      expect([await take(1), await due(AT + 9)]).toEqual([false, []])
    })

    it('goes with its user, its tenant and its time', async () => {
      for (const one of [
        callback('erased', { blindIndex: bytes('ada') }),
        callback('other tenant', { tenantId: 'ten_b' }),
        callback('expired', { expiresAt: AT }),
        callback('left'),
      ])
        await writingCallback.insert(one)
      await write((tx) => tx.eraseSubject(bytes('ada')))
      await write((tx) => tx.closeTenant('ten_b', AT))
      await write((tx) => tx.deleteExpired(AT))
      expect(await due(AT)).toEqual(['left'])
    })
  })
})
