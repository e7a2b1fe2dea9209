/** Tests of how every store finds a verification by its id: in the audit log, and among those that the sandbox keeps. */
import { describe, expect, it } from 'vitest'
import type { SandboxVerificationRecord } from '../../../src/storage/records.js'
import type { StoreTransaction } from '../../../src/storage/store.js'
import { AT, auditEntry, bytes, insertUser, tenant } from '../../support/records.js'
import { overStores } from '../../support/stores.js'

overStores((stores) => {
  const { read, write, insert } = stores
  const withTenants = (work: (tx: StoreTransaction) => Promise<void>) =>
    write(async (tx) => {
      for (const name of ['a', 'b']) await tx.insertTenant(tenant(name))
      await work(tx)
    })
  const entry = (sequence: number, facts: Record<string, unknown>, tenantId = 'ten_a') =>
    auditEntry(sequence, { tenantId, entry: JSON.stringify(facts) })
  const verify = (id: string, subject = '0a') => ({ event: 'verify', subject, verification_id: id })

  describe('an audited verification', () => {
    it('is found by its id in the log of its tenant', async () => {
      const own = [1, 2, 3].map((sequence) => entry(sequence, verify(`ver_${sequence}`)))
      await insert({ tenants: ['a', 'b'], entries: [...own, entry(1, verify('ver_9'), 'ten_b')] })
      expect(await read().auditedVerification('ten_a', 'ver_2')).toEqual({
        entry: JSON.stringify(verify('ver_2')),
        isErased: false,
        isBeforeRestore: false,
      })
      for (const id of ['ver_9', 'ver_', 'ver_22', '', "ver_'", 'ver_%', '"'])
        expect(await read().auditedVerification('ten_a', id), id).toBeUndefined()
      expect(await read().auditedVerification('ten_b', 'ver_9')).toBeDefined()
    })

    it('is the entry of a verify, and none that names a verification or quotes such an entry', async () => {
      const quoted = JSON.stringify(verify('ver_3'))
      await insert({
        tenants: ['a', 'b'],
        entries: [
          entry(1, { event: 'enroll', verification_id: 'ver_1' }),
          entry(2, { event: 'verify', subject: '0a', code: 'low_quality' }),
          entry(3, { event: 'verify', address: quoted, subject: '0a' }),
          entry(4, { ...verify('ver_4'), address: quoted }),
        ],
      })
      for (const id of ['ver_1', 'ver_3'])
        expect(await read().auditedVerification('ten_a', id), id).toBeUndefined()
      expect(await read().auditedVerification('ten_a', 'ver_4')).toBeDefined()
    })

    it('is marked once its user is erased, and not when another user or another tenant’s user is', async () => {
      await insert({
        tenants: ['a', 'b'],
        entries: [
          entry(1, verify('ver_1', '0a')),
          entry(2, verify('ver_2', '0b')),
          entry(3, { event: 'delete', subject: '0b' }),
          entry(4, { event: 'delete', status: 404 }),
          entry(5, { event: 'enroll', subject: '0a' }),
          entry(1, { event: 'delete', subject: '0a' }, 'ten_b'),
        ],
      })
      const isErased = async (id: string) => (await read().auditedVerification('ten_a', id))?.isErased
      expect(await isErased('ver_1')).toBe(false)
      expect(await isErased('ver_2')).toBe(true)
      await write((tx) => tx.appendAudit(entry(6, { event: 'delete', subject: '0a' })))
      expect(await isErased('ver_1')).toBe(true)
    })

    it('is marked where the log records a later restore of the database', async () => {
      await insert({
        tenants: ['a', 'b'],
        entries: [
          entry(1, verify('ver_1')),
          entry(2, { event: 'database_restored' }),
          entry(3, verify('ver_3')),
          entry(1, verify('ver_b'), 'ten_b'),
        ],
      })
      const isBefore = async (id: string) => (await read().auditedVerification('ten_a', id))?.isBeforeRestore
      expect(await isBefore('ver_1')).toBe(true)
      expect(await isBefore('ver_3')).toBe(false)
    })

    it('is passed over where somebody damaged it, and hides no other', async () => {
      await insert({
        tenants: ['a', 'b'],
        entries: [entry(1, verify('ver_1')), entry(2, verify('ver_2'))],
      })
      await stores.tamper(`UPDATE audit SET entry = 'no JSON' WHERE sequence = 1`)
      expect(await read().auditedVerification('ten_a', 'ver_1')).toBeUndefined()
      expect(await read().auditedVerification('ten_a', 'ver_2')).toBeDefined()
      await write((tx) => tx.appendAudit(entry(3, verify('ver_3'))))
      expect(await read().auditedVerification('ten_a', 'ver_3')).toBeDefined()
    })
  })

  describe('a verification of the sandbox', () => {
    const made = (
      id: string,
      changes: Partial<SandboxVerificationRecord> = {},
    ): SandboxVerificationRecord => ({
      ...{ id: `ver_${id}`, tenantId: 'ten_a', blindIndex: bytes('ada'), facts: '{"n":1}' },
      expiresAt: AT + 10,
      ...changes,
    })
    const isKept = async (id: string, tenantId = 'ten_a') =>
      (await read().sandboxVerification(tenantId, `ver_${id}`)) !== undefined

    it('is found by its tenant, until later ones of the tenant replace it', async () => {
      await withTenants(async (tx) => {
        await tx.keepSandboxVerification(made('b', { tenantId: 'ten_b' }), 2)
        for (const id of ['1', '2', '3']) await tx.keepSandboxVerification(made(id), 2)
      })
      expect(await isKept('1')).toBe(false)
      expect(await read().sandboxVerification('ten_a', 'ver_2')).toEqual(made('2'))
      expect(await isKept('3')).toBe(true)
      expect(await isKept('b', 'ten_b')).toBe(true)
      expect(await isKept('b')).toBe(false)
    })

    it('is deleted with its user, with its tenant, and when it has expired', async () => {
      await withTenants(async (tx) => {
        await insertUser(tx, 'ada')
        await tx.keepSandboxVerification(made('1'), 9)
        await tx.keepSandboxVerification(made('2', { blindIndex: bytes('bob') }), 9)
        await tx.keepSandboxVerification(made('3', { blindIndex: bytes('bob'), expiresAt: AT + 11 }), 9)
        await tx.keepSandboxVerification(
          made('b', { tenantId: 'ten_b', blindIndex: bytes('eve'), expiresAt: AT + 99 }),
          9,
        )
        await tx.eraseSubject(bytes('ada'))
      })
      expect([await isKept('1'), await isKept('2'), await isKept('3')]).toEqual([false, true, true])
      await write((tx) => tx.deleteExpired(AT + 10))
      expect([await isKept('2'), await isKept('3')]).toEqual([false, true])
      await write((tx) => tx.closeTenant('ten_a', AT))
      expect([await isKept('3'), await isKept('b', 'ten_b')]).toEqual([false, true])
    })
  })
})
