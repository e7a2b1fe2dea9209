/** Tests of tenants, their keys and their signing secrets in every store. */

import { describe, expect, it } from 'vitest'
import { accountReader, accountWriter } from '../../../src/admin/accounts/account-statements.js'
import { challengeReader } from '../../../src/features/challenges/table/exports.js'
import { webhookReader } from '../../../src/features/webhooks/webhook-tables.js'
import {
  AT,
  apiKey,
  auditEntry,
  bytes,
  challenge,
  delivery,
  endpoint,
  session,
  signingSecret,
  subject,
  tenant,
} from '../../support/records.js'
import { overStores } from '../../support/stores.js'

overStores((stores) => {
  const webhooks = () => stores.read().statements(webhookReader)
  const accounts = () => stores.read().statements(accountReader)
  const challenges = () => stores.read().statements(challengeReader)
  const writingAccount = stores.writing(accountWriter)
  const { read, write, insert } = stores

  describe('tenants', () => {
    it('are returned as they were written, by id and by name, and as undefined when there are none', async () => {
      const full = tenant('full', {
        ratePerSecond: 0.5,
        burst: 40,
        fmr: 1e-6,
        requireLiveness: 'both',
        productionIssuedAt: AT + 1,
        productionRevealedAt: AT + 2,
        suspendedAt: AT + 3,
        deletedAt: AT + 4,
      })
      await insert({ tenants: [full, 'bare'] })
      expect(await read().tenantById('ten_full')).toEqual(full)
      expect(await read().tenantByName('full')).toEqual(full)
      expect(await read().tenantByName('bare')).toEqual(tenant('bare'))
      expect(await read().tenantById('full')).toBeUndefined()
      expect(await read().tenantByName('ten_full')).toBeUndefined()
    })

    it('are listed oldest first, and by id when they were created at the same time', async () => {
      const [b, d] = [tenant('b', { createdAt: AT + 1 }), tenant('d', { createdAt: AT - 1 })]
      await insert({ tenants: ['c', b, 'a', d] })
      expect((await read().tenants()).map(({ name }) => name)).toEqual(['d', 'a', 'c', 'b'])
    })

    it('have unique ids and names', async () => {
      await insert({ tenants: ['a'] })
      await expect(write((tx) => tx.insertTenant(tenant('a', { id: 'ten_other' })))).rejects.toThrow()
      await expect(write((tx) => tx.insertTenant(tenant('a', { name: 'other' })))).rejects.toThrow()
      expect(await read().tenants()).toEqual([tenant('a')])
    })

    it('keep everything but their contract when it is changed', async () => {
      const before = tenant('a', { productionIssuedAt: AT })
      const contract = {
        ratePerSecond: 2.5,
        burst: 7,
        fmr: 1e-4,
        requireLiveness: 'passive',
        replaceVerdictMinutes: 10,
      } as const
      await insert({ tenants: [before, 'b'] })
      await write((tx) => tx.setContract('ten_a', contract))
      expect(await read().tenantById('ten_a')).toEqual({ ...before, ...contract })
      expect(await read().tenantById('ten_b')).toEqual(tenant('b'))
      await write((tx) => tx.setContract('ten_a', tenant('a')))
      expect(await read().tenantById('ten_a')).toEqual(before)
    })

    it('have their first production key issued once, and revealed as often as it is set', async () => {
      await insert({ tenants: ['a', 'b'] })
      await write(async (tx) => {
        for (const at of [AT + 1, AT + 2]) await tx.setProductionIssued('ten_a', at)
        for (const at of [AT + 3, AT + 4]) await tx.setProductionRevealed('ten_a', at)
      })
      expect(await read().tenantById('ten_a')).toMatchObject({
        productionIssuedAt: AT + 1,
        productionRevealedAt: AT + 4,
      })
      expect(await read().tenantById('ten_b')).toEqual(tenant('b'))
    })

    it('are suspended, and resumed by null', async () => {
      await insert({ tenants: ['a'] })
      await write((tx) => tx.setSuspended('ten_a', AT))
      expect(await read().tenantById('ten_a')).toEqual(tenant('a', { suspendedAt: AT }))
      await write((tx) => tx.setSuspended('ten_a', null))
      expect(await read().tenantById('ten_a')).toEqual(tenant('a'))
    })

    it('keep the time from which their verifies are compared, each its own', async () => {
      await insert({ tenants: ['a', 'b'] })
      await write((tx) => tx.setDriftSince('ten_a', AT))
      expect(await read().tenantById('ten_a')).toEqual(tenant('a', { driftSince: AT }))
      expect(await read().tenantById('ten_b')).toEqual(tenant('b'))
    })

    it('are not created by a change of an unknown id', async () => {
      await write(async (tx) => {
        await tx.setSuspended('ten_nobody', AT)
        await tx.setProductionIssued('ten_nobody', AT)
        await tx.closeTenant('ten_nobody', AT)
      })
      expect(await read().tenants()).toEqual([])
    })
  })

  describe('a closed tenant', () => {
    it('keeps its row and its audit log; its keys end, and secrets, links, sessions, webhooks and challenges are deleted', async () => {
      await insert({
        people: ['olga'],
        tenants: ['a', 'b'],
        keys: [apiKey('revoked', { revokedAt: AT - 5 })],
        sessions: [session('op', { tenantId: null, personId: 'op_olga' })],
      })
      for (const name of ['a', 'b']) {
        const tenantId = `ten_${name}`
        await insert({
          keys: [apiKey(`key_${name}`, { tenantId })],
          secrets: [
            signingSecret(`old_${name}`, { tenantId, validUntil: AT + 100 }),
            signingSecret(`kid_${name}`, { tenantId }),
          ],
          links: [{ hash: bytes(`link ${name}`), tenantId, expiresAt: AT + 10 }],
          sessions: [session(`session ${name}`, { tenantId })],
          endpoints: [endpoint(`end_${name}`, { tenantId })],
          deliveries: [delivery(`del_${name}`, `end_${name}`, { tenantId })],
          challenges: [challenge(`cha_${name}`, { tenantId })],
          entries: [auditEntry(1, { tenantId })],
        })
      }
      await write((tx) => tx.closeTenant('ten_a', AT + 1))
      expect(await read().tenantById('ten_a')).toEqual(tenant('a', { deletedAt: AT + 1 }))
      expect(await read().auditEntries('ten_a', 0, 10)).toEqual([auditEntry(1)])
      const ends = (await read().apiKeys('ten_a')).map(({ id, revokedAt }) => [id, revokedAt])
      expect(Object.fromEntries(ends)).toEqual({ key_a: AT + 1, revoked: AT - 5 })

      const left = async (name: string) => ({
        secrets: (await read().signingSecrets(`ten_${name}`, AT)).length,
        session: (await accounts().dashboardSession(bytes(`session ${name}`), AT)) !== undefined,
        endpoints: (await webhooks().endpointsOf(`ten_${name}`)).length,
        delivery: (await webhooks().delivery(`del_${name}`)) !== undefined,
        challenge: (await challenges().find(`cha_${name}`)) !== undefined,
        link: (await writingAccount.takeLoginLink(bytes(`link ${name}`), AT)) !== undefined,
      })
      const gone = { session: false, delivery: false, challenge: false, link: false }
      expect(await left('a')).toEqual({ secrets: 0, endpoints: 0, ...gone })
      const there = { session: true, delivery: true, challenge: true, link: true }
      expect(await left('b')).toEqual({ secrets: 2, endpoints: 1, ...there })
      expect((await read().apiKeys('ten_b'))[0]).toEqual(apiKey('key_b', { tenantId: 'ten_b' }))
      expect(await accounts().dashboardSession(bytes('op'), AT)).toBeDefined()
    })

    it('accepts no user any more, even from transactions that had begun', async () => {
      await write(async (tx) => {
        await tx.insertTenant(tenant('a'))
        await tx.closeTenant('ten_a', AT)
      })
      await expect(write((tx) => tx.insertSubject(subject()))).rejects.toThrow()
      expect(await read().subject(bytes('ada'))).toBeUndefined()
    })
  })

  describe('keys of a tenant', () => {
    it('are found by their hash, with the tenant, and listed newest first', async () => {
      const old = apiKey('old', { createdAt: AT - 1, validUntil: AT + 50, revokedAt: AT + 40 })
      await insert({
        tenants: ['a', 'b'],
        keys: [apiKey('k1'), apiKey('k2'), old, apiKey('other', { tenantId: 'ten_b', type: 'production' })],
      })
      const found = { key: old, tenant: tenant('a') }
      expect(await read().apiKeyByHash(bytes('hash of old'), AT)).toEqual({ ...found, secrets: [] })
      expect(await read().apiKeyByHash(bytes('hash of nothing'), AT)).toBeUndefined()
      expect((await read().apiKeys('ten_a')).map(({ id }) => id)).toEqual(['k2', 'k1', 'old'])
      expect(await read().apiKeys('ten_nobody')).toEqual([])
    })

    it('have unique hashes, and cannot exist without their tenant', async () => {
      await insert({ tenants: ['a'], keys: [apiKey('k1')] })
      const add = (key: ReturnType<typeof apiKey>) => write((tx) => tx.insertApiKey(key))
      await expect(add(apiKey('k2', { hash: bytes('hash of k1') }))).rejects.toThrow()
      await expect(add(apiKey('k3', { tenantId: 'ten_nobody' }))).rejects.toThrow()
      expect(await read().apiKeys('ten_a')).toEqual([apiKey('k1')])
    })

    it('end with a grace period or at once, and never later than before', async () => {
      await insert({
        tenants: ['a'],
        keys: [
          apiKey('forever'),
          apiKey('soon', { validUntil: AT + 50 }),
          apiKey('other', { type: 'production' }),
        ],
      })
      const end = (how: { revokedAt: number } | { validUntil: number }) =>
        write((tx) => tx.endApiKeys('ten_a', 'sandbox', null, how))
      const key = async (id: string) => (await read().apiKeyByHash(bytes(`hash of ${id}`), AT))!.key
      expect(await end({ validUntil: AT + 100 })).toBe(1)
      expect(await key('forever')).toMatchObject({ validUntil: AT + 100, revokedAt: null })
      expect(await key('soon')).toMatchObject({ validUntil: AT + 50, revokedAt: null })
      expect(await end({ revokedAt: AT + 60 })).toBe(1)
      expect(await key('forever')).toMatchObject({ validUntil: AT + 100, revokedAt: AT + 60 })
      expect(await key('soon')).toMatchObject({ validUntil: AT + 50, revokedAt: null })
      expect(await end({ revokedAt: AT + 70 })).toBe(0)
      expect(await key('forever')).toMatchObject({ revokedAt: AT + 60 })
      expect(await key('other')).toEqual(apiKey('other', { type: 'production' }))
    })

    it('can be ended by name, so that others stay, or all together', async () => {
      const bounds = { name: 'payments', scopes: 'verify enroll', networks: '10.0.0.0/8 2001:db8::/32' }
      await insert({
        tenants: ['a'],
        keys: [
          apiKey('first'),
          apiKey('payments', bounds),
          apiKey('audit', { name: 'audit' }),
          // Its grace period is over, so that nothing is left to end.
          apiKey('over', { validUntil: AT + 5 }),
          apiKey('production', { type: 'production' }),
        ],
      })
      const key = async (id: string) => (await read().apiKeyByHash(bytes(`hash of ${id}`), AT))!.key
      expect(await key('payments')).toEqual(apiKey('payments', bounds))
      const grace = { validUntil: AT + 100 }
      expect(await write((tx) => tx.endApiKeys('ten_a', 'sandbox', 'payments', grace))).toBe(1)
      expect(await write((tx) => tx.endGracePeriods('ten_a', 'sandbox', null, AT + 10))).toBe(0)
      expect(await write((tx) => tx.endGracePeriods('ten_a', 'sandbox', 'payments', AT + 10))).toBe(1)
      expect(await key('payments')).toMatchObject({ revokedAt: AT + 10 })
      expect(await write((tx) => tx.revokeEveryApiKey('ten_a', 'sandbox', AT + 20))).toBe(2)
      expect(await key('first')).toMatchObject({ revokedAt: AT + 20 })
      expect(await key('audit')).toMatchObject({ revokedAt: AT + 20 })
      expect(await key('payments')).toMatchObject({ revokedAt: AT + 10 })
      expect(await key('production')).toMatchObject({ revokedAt: null })
    })

    it('can be ended at once during their grace period, and only then', async () => {
      await insert({
        tenants: ['a'],
        keys: [
          apiKey('graced', { validUntil: AT + 200 }),
          apiKey('over', { validUntil: AT + 70 }),
          apiKey('fresh'),
          apiKey('production', { type: 'production', validUntil: AT + 200 }),
        ],
      })
      const endGracePeriods = (at: number) => write((tx) => tx.endGracePeriods('ten_a', 'sandbox', null, at))
      expect([await endGracePeriods(AT + 70), await endGracePeriods(AT + 71)]).toEqual([1, 0])
      const ends = (await read().apiKeys('ten_a')).map(({ id, revokedAt }) => [id, revokedAt])
      expect(Object.fromEntries(ends)).toEqual({
        graced: AT + 70,
        over: null,
        fresh: null,
        production: null,
      })
    })
  })

  describe('signing secrets', () => {
    it('are returned while they are valid, the current one first; their end is exclusive', async () => {
      const [ending, current] = [signingSecret('ending', { validUntil: AT + 10 }), signingSecret('current')]
      await insert({
        tenants: ['a', 'b'],
        secrets: [
          ending,
          signingSecret('later', { createdAt: AT + 1, validUntil: AT + 10 }),
          current,
          signingSecret('other', { tenantId: 'ten_b' }),
        ],
        keys: [apiKey('k')],
      })
      const at = async (now: number) => (await read().signingSecrets('ten_a', now)).map(({ id }) => id)
      expect(await at(AT + 9)).toEqual(['current', 'later', 'ending'])
      expect(await at(AT + 10)).toEqual(['current'])
      expect((await read().signingSecrets('ten_a', AT + 9))[2]).toEqual(ending)
      for (const now of [AT + 9, AT + 10])
        expect((await read().apiKeyByHash(bytes('hash of k'), now))?.secrets).toEqual(
          await read().signingSecrets('ten_a', now),
        )
    })

    it('have one current secret for each tenant, even after concurrent rotations', async () => {
      await insert({ tenants: ['a'] })
      const results = await Promise.allSettled(
        ['one', 'two', 'three'].map((id) => write((tx) => tx.insertSigningSecret(signingSecret(id)))),
      )
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect(await read().signingSecrets('ten_a', AT)).toHaveLength(1)
    })

    it('are given an end, which makes room for the next, and can then be deleted', async () => {
      const other = signingSecret('other', { tenantId: 'ten_b', validUntil: AT + 1 })
      await insert({ tenants: ['a', 'b'], secrets: [signingSecret('first'), other] })
      await write(async (tx) => {
        await tx.setSigningSecretEnd('first', AT + 100)
        await tx.insertSigningSecret(signingSecret('second'))
      })
      expect(await read().signingSecrets('ten_a', AT)).toEqual([
        signingSecret('second'),
        signingSecret('first', { validUntil: AT + 100 }),
      ])
      await write((tx) => tx.deleteEndedSigningSecrets('ten_a'))
      expect(await read().signingSecrets('ten_a', AT)).toEqual([signingSecret('second')])
      expect(await read().signingSecrets('ten_b', AT)).toHaveLength(1)
    })
  })

  it('counts tenants, references by environment, and audit entries', async () => {
    const none = { tenants: 0, references: { production: 0, sandbox: 0 }, auditEntries: 0 }
    expect(await read().counts()).toEqual(none)
    await insert({
      tenants: ['a', 'b'],
      subjects: ['ada', subject('eve', { environment: 'sandbox', tenantId: 'ten_b' }), 'bare'],
      references: ['ada', 'eve'],
      entries: [1, 2, 3].map((sequence) => auditEntry(sequence)),
    })
    expect(await read().counts()).toEqual({
      tenants: 2,
      references: { production: 1, sandbox: 1 },
      auditEntries: 3,
    })
  })
})
