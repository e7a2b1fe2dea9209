/** Tests of the console's accounts in every store: people, links and sessions. */
import { describe, expect, it } from 'vitest'
import { accountReader, accountWriter } from '../../../src/admin/accounts/account-statements.js'
import type { StoreTransaction } from '../../../src/storage/store.js'
import { AT, bytes, operator, session } from '../../support/records.js'
import { overStores } from '../../support/stores.js'

overStores((stores) => {
  const accounts = () => stores.read().statements(accountReader)
  const writing = stores.writing(accountWriter)
  const accountsIn = (tx: StoreTransaction) => tx.statements(accountWriter)
  const { write, insert } = stores
  const ofOperator = (hash: string, personId: string | null) => session(hash, { tenantId: null, personId })

  describe('operators', () => {
    it('are found by id and by name, and are listed by name', async () => {
      const signedIn = operator('carl', { role: 'viewer', lastSignInAt: AT, lastSignInBy: 'oidc' })
      await insert({ people: ['bea', signedIn, 'anna'] })
      expect(await accounts().personById('op_carl')).toEqual(signedIn)
      expect(await accounts().personByName('carl')).toEqual(signedIn)
      expect(await accounts().personById('carl')).toBeUndefined()
      expect(await accounts().personByName('op_carl')).toBeUndefined()
      expect((await accounts().people(null)).map(({ name }) => name)).toEqual(['anna', 'bea', 'carl'])
    })

    it('are replaced by id and keep their last sign-in; none can take the name of another', async () => {
      await writing.putPerson(operator('anna'))
      await writing.setLastSignIn(AT, 'password', 'op_anna')
      await writing.putPerson(operator('anna', { role: 'viewer', passwordHash: 'another' }))
      expect(await accounts().people(null)).toEqual([
        operator('anna', {
          ...{ role: 'viewer', passwordHash: 'another' },
          ...{ lastSignInAt: AT, lastSignInBy: 'password' },
        }),
      ])
      await expect(writing.putPerson(operator('anna', { id: 'op_other' }))).rejects.toThrow()
      expect(await accounts().personById('op_other')).toBeUndefined()
    })

    it('are deleted with their sessions', async () => {
      const sessions = ['anna', 'bea'].map((name) => ofOperator(name, `op_${name}`))
      await insert({
        tenants: ['a'],
        people: ['anna', 'bea'],
        sessions: [...sessions, session('of a tenant')],
      })
      await writing.deletePerson('op_anna')
      expect(await accounts().people(null)).toEqual([operator('bea')])
      expect(await accounts().dashboardSession(bytes('anna'), AT)).toBeUndefined()
      expect(await accounts().dashboardSession(bytes('bea'), AT)).toBeDefined()
      expect(await accounts().dashboardSession(bytes('of a tenant'), AT)).toBeDefined()
    })
  })

  describe('sessions', () => {
    it('last until they expire (exclusive), and are deleted one by one or for an operator', async () => {
      const password = session('by password', { tenantId: null })
      const ofAnna = ['one', 'two'].map((hash) => ofOperator(hash, 'op_anna'))
      const sessions = [password, session('of a tenant'), ...ofAnna]
      await insert({ tenants: ['a'], people: ['anna'], sessions })
      const there = async (hash: string, now = AT) => accounts().dashboardSession(bytes(hash), now)
      expect(await there('by password', AT + 9)).toEqual(password)
      expect(await there('by password', AT + 10)).toBeUndefined()
      expect(await there('unknown')).toBeUndefined()
      await writing.deleteDashboardSession(bytes('of a tenant'))
      expect(await there('of a tenant')).toBeUndefined()
      await writing.deletePersonSessions('op_anna')
      expect([await there('one'), await there('two')]).toEqual([undefined, undefined])
      expect(await there('by password')).toEqual(password)
    })

    it('are renewed and confirmed while they exist, and listed until they end, newest first', async () => {
      const before = session('before', {
        ...{ endsAt: null, createdAt: null, lastUsedAt: null, authenticatedAt: null },
        ...{ method: null, address: null, browser: null },
      })
      const sessions = [session('old', { createdAt: AT - 5 }), ofOperator('new', null), before]
      await insert({ tenants: ['a'], sessions })
      const kept = { expiresAt: AT + 15, lastUsedAt: AT + 1 }
      for (const hash of ['old', 'gone']) await writing.keepDashboardSession({ hash: bytes(hash), ...kept })
      const times = { authenticatedAt: AT + 2, secondFactorAt: AT + 1 }
      await writing.setSessionAuthenticated({ hash: bytes('new'), ...times })
      const hashes = async (now: number) =>
        (await accounts().dashboardSessions(now)).map(({ hash }) => `${hash}`)
      expect(await hashes(AT)).toEqual(['new', 'old', 'before'])
      expect(await hashes(AT + 10)).toEqual(['old'])
      expect(await accounts().dashboardSession(bytes('old'), AT)).toEqual(
        session('old', { createdAt: AT - 5, ...kept }),
      )
      expect(await accounts().dashboardSession(bytes('new'), AT)).toMatchObject(times)
      expect(await accounts().dashboardSession(bytes('gone'), AT)).toBeUndefined()
    })

    it('are deleted for a tenant with its links, and separately for the operator without a name, with the number returned', async () => {
      const one = { hash: bytes('one'), tenantId: 'ten_a', expiresAt: AT + 10 }
      const links = [one, { ...one, hash: bytes('two') }]
      const ofTenants = [session('of a'), session('of b', { tenantId: 'ten_b' })]
      const ofOperators = [ofOperator('unnamed', null), ofOperator('of anna', 'op_anna')]
      const sessions = [...ofTenants, ...ofOperators]
      await insert({ tenants: ['a', 'b'], people: ['anna'], sessions, links })
      const left = async () => (await accounts().dashboardSessions(AT)).map(({ hash }) => `${hash}`).sort()
      expect(await writing.deleteTenantSignIns('ten_a')).toEqual({ sessions: 1, links: 2 })
      expect(await writing.takeLoginLink(bytes('one'), AT)).toBeUndefined()
      expect(await left()).toEqual(['of anna', 'of b', 'unnamed'])
      expect(await writing.deletePersonSessions(null, bytes('unnamed'))).toBe(0)
      expect(await writing.deletePersonSessions(null)).toBe(1)
      expect(await left()).toEqual(['of anna', 'of b'])
      expect(await writing.deleteDashboardSession(bytes('of b'))).toBe(true)
      expect(await writing.deleteDashboardSession(bytes('of b'))).toBe(false)
    })

    it('cannot exist without their person', async () => {
      const insert = (changes: Parameters<typeof session>[1]) =>
        writing.insertDashboardSession(session('s', changes))
      await expect(insert({ tenantId: 'ten_nobody' })).rejects.toThrow()
      await expect(insert({ tenantId: null, personId: 'op_nobody' })).rejects.toThrow()
      expect(await accounts().dashboardSession(bytes('s'), AT)).toBeUndefined()
    })
  })

  describe('a person of a tenant', () => {
    const pia = operator('pia', { id: 'per_pia', tenantId: 'ten_a', passwordHash: null, origin: 'provider' })

    it('is found by id and name, separately from operators and people of other tenants', async () => {
      const ben = operator('ben', { id: 'per_ben', tenantId: 'ten_b' })
      const now = { ...pia, role: 'viewer', passwordHash: 'chosen', origin: 'invited' } as const
      await insert({ tenants: ['a', 'b'], people: [pia, ben, 'olga', now] })
      await writing.setLastSignIn(AT + 3, 'oidc', 'per_pia')
      const signedIn = { ...now, lastSignInAt: AT + 3, lastSignInBy: 'oidc' }
      expect(await accounts().people('ten_a')).toEqual([signedIn])
      expect(await accounts().people('ten_b')).toEqual([ben])
      expect(await accounts().people(null)).toEqual([operator('olga')])
      expect((await accounts().everyone()).map(({ name }) => name)).toEqual(['olga', 'ben', 'pia'])
      expect(await accounts().personByName('pia')).toEqual(signedIn)
      expect(await accounts().personById('per_pia')).toEqual(signedIn)
    })

    it('has sessions that name the tenant, and is deleted with them, its links and its second factor', async () => {
      const link = { hash: bytes('link'), tenantId: 'ten_a', personId: 'per_pia', expiresAt: AT + 10 }
      const all = async () => (await accounts().dashboardSessions(AT)).map(({ hash }) => `${hash}`).sort()
      const own = ['one', 'two'].map((hash) => session(hash, { personId: 'per_pia' }))
      await insert({ tenants: ['a', 'b'], people: [pia], sessions: [...own, session('of the tenant')] })
      for (const hash of ['link', 'used']) await writing.insertPersonLink({ ...link, hash: bytes(hash) }, AT)
      expect(await accounts().dashboardSession(bytes('one'), AT)).toEqual(
        session('one', { personId: 'per_pia' }),
      )
      const used = { ...link, hash: bytes('used') }
      expect(await accounts().personLink(bytes('used'), AT)).toEqual(used)
      expect(await accounts().personLink(bytes('used'), AT + 1_000_000_000)).toBeUndefined()
      expect(await writing.takePersonLink(bytes('used'), AT)).toEqual(used)
      expect(await writing.takePersonLink(bytes('used'), AT)).toBeUndefined()
      await writing.deletePersonSessions(null)
      expect(await all()).toEqual(['of the tenant', 'one', 'two'])
      expect(await writing.deletePersonSessions('per_pia', bytes('two'))).toBe(1)
      expect(await all()).toEqual(['of the tenant', 'two'])
      await writing.deletePerson('per_pia')
      expect(await all()).toEqual(['of the tenant'])
      expect(await writing.takePersonLink(bytes('link'), AT)).toBeUndefined()
      expect(await accounts().personByName('pia')).toBeUndefined()
    })

    it('is signed out with the tenant, and deleted with it', async () => {
      await insert({ tenants: ['a'], people: [pia], sessions: [session('one', { personId: 'per_pia' })] })
      await writing.insertPersonLink(
        { hash: bytes('link'), tenantId: 'ten_a', personId: 'per_pia', expiresAt: AT + 10 },
        AT,
      )
      expect(await writing.deleteTenantSignIns('ten_a')).toEqual({ sessions: 1, links: 1 })
      await writing.insertDashboardSession(session('two', { personId: 'per_pia' }))
      const factor = { sealed: bytes('sealed'), recovery: '[]', lastStep: null, enrolledAt: AT }
      for (const id of ['per_pia', 'operator']) await writing.putSecondFactor({ ...factor, id })
      await write((tx) => tx.closeTenant('ten_a', AT))
      expect((await accounts().secondFactors()).map(({ id }) => id)).toEqual(['operator'])
      expect(await accounts().dashboardSessions(AT)).toEqual([])
      expect(await accounts().people('ten_a')).toEqual([])
    })
  })

  describe('a login link', () => {
    const link = { hash: bytes('link'), tenantId: 'ten_a', expiresAt: AT + 10 }

    it('can be used once, until it expires (exclusive)', async () => {
      await insert({ tenants: ['a'], links: [link, { ...link, hash: bytes('late') }] })
      const take = (hash: string, now: number) => writing.takeLoginLink(bytes(hash), now)
      expect(await take('link', AT + 9)).toEqual(link)
      expect(await take('link', AT + 9)).toBeUndefined()
      expect(await take('late', AT + 10)).toBeUndefined()
      expect(await take('unknown', AT)).toBeUndefined()
    })

    it('is given to one of many that use it at once, even over two connections', async () => {
      await insert({ tenants: ['a'], links: [link] })
      const taken = await stores.atOnce(16, (tx) => accountsIn(tx).takeLoginLink(bytes('link'), AT))
      expect(taken.filter((one) => one !== undefined)).toEqual([link])
    })
  })
})
