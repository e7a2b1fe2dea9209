/** Tests of how every store keeps policies, and approvals that wait for a second person. */
import { describe, expect, it } from 'vitest'
import {
  type ApprovalRecord,
  approvalReader,
  approvalWriter,
} from '../../../src/features/policies/approval-table.js'
import {
  type PolicyVersionRecord,
  policyReader,
  policyWriter,
} from '../../../src/features/policies/policy-table.js'
import { AT, bytes } from '../../support/records.js'
import { overStores } from '../../support/stores.js'

const version = (changes: Partial<PolicyVersionRecord> = {}): PolicyVersionRecord => ({
  ...{ tenantId: 'ten_a', hash: '01', policy: '{"rules":[]}', firstSetAt: AT },
  ...changes,
})
const approval = (changes: Partial<ApprovalRecord> = {}): ApprovalRecord => ({
  ...{ id: 'ver_1', tenantId: 'ten_a', environment: 'production', blindIndex: bytes('ada') },
  ...{ binding: bytes('action'), policyHash: '01', createdAt: AT, expiresAt: AT + 1000, usedAt: null },
  ...changes,
})

overStores((stores) => {
  const policies = () => stores.read().statements(policyReader)
  const approvals = () => stores.read().statements(approvalReader)
  const writingPolicy = stores.writing(policyWriter)
  const writingApproval = stores.writing(approvalWriter)
  const { read } = stores
  const insertTenants = () => stores.insert({ tenants: ['a', 'b'] })

  describe('policies', () => {
    it('are kept in every version, as they were first set, the newest first', async () => {
      await insertTenants()
      const second = version({ hash: '02', firstSetAt: AT + 1 })
      const sameTime = version({ hash: '00', firstSetAt: AT + 1 })
      const other = version({ tenantId: 'ten_b' })
      for (const one of [version(), second, sameTime, other, version({ firstSetAt: AT + 9 })])
        await writingPolicy.keep(one)
      expect(await policies().versions('ten_a')).toEqual([sameTime, second, version()])
      expect(await policies().version('ten_a', '01')).toEqual(version())
      expect(await policies().version('ten_b', '02')).toBeUndefined()
    })

    it('are in force for one tenant and environment', async () => {
      await insertTenants()
      await stores.store.transaction({ tenantId: 'ten_a' }, async (tx) => {
        await tx.statements(policyWriter).putInForce('ten_a', 'production', '01')
        await tx.statements(policyWriter).putInForce('ten_a', 'sandbox', '02')
        expect(await tx.statements(policyReader).hashInForce('ten_a', 'production')).toBe('01')
      })
      expect(await policies().hashInForce('ten_a', 'sandbox')).toBe('02')
      expect(await policies().hashInForce('ten_b', 'production')).toBeNull()
      expect(await policies().hashInForce('ten_c', 'production')).toBeNull()
      expect(await read().tenantById('ten_a')).toMatchObject({ policyHash: '01', sandboxPolicyHash: '02' })
      await writingPolicy.putInForce('ten_a', 'production', null)
      expect(await policies().hashInForce('ten_a', 'production')).toBeNull()
    })
  })

  describe('approvals', () => {
    it('are used once, and deleted with their user, with their tenant and after their end', async () => {
      await insertTenants()
      const kept = [
        approval(),
        approval({ id: 'ver_2', blindIndex: bytes('grace') }),
        approval({ id: 'ver_3', blindIndex: bytes('eve'), expiresAt: AT + 9_000_000 }),
        approval({ id: 'ver_4', tenantId: 'ten_b', blindIndex: bytes('eve'), expiresAt: AT + 9_000_000 }),
      ]
      for (const one of kept) await writingApproval.insert(one)
      expect(await writingApproval.use(AT + 5, 'ver_1')).toBe(true)
      expect(await writingApproval.use(AT + 6, 'ver_1')).toBe(false)
      expect(await writingApproval.use(AT + 6, 'ver_0')).toBe(false)
      expect(await approvals().one('ver_1')).toEqual(approval({ usedAt: AT + 5 }))
      const left = async () => {
        const found = await Promise.all(kept.map(({ id }) => approvals().one(id)))
        return found.flatMap((one) => one?.id ?? [])
      }
      await stores.store.transaction({ tenantId: 'ten_a' }, (tx) => tx.eraseSubject(bytes('ada')))
      expect(await left()).toEqual(['ver_2', 'ver_3', 'ver_4'])
      // An approval stays for an hour after its end, as a challenge does, so that a late caller learns why it does not count.
      await stores.store.transaction('rows', (tx) => tx.deleteExpired(AT + 1000 + 3_600_000))
      expect(await left()).toEqual(['ver_3', 'ver_4'])
      await stores.store.transaction({ tenantId: 'ten_b' }, (tx) => tx.closeTenant('ten_b', AT))
      expect(await left()).toEqual(['ver_3'])
    })

    it('are used by one of many that try at once, even over two connections', async () => {
      await insertTenants()
      await writingApproval.insert(approval())
      const used = await stores.atOnce(
        32,
        (tx, i) => tx.statements(approvalWriter).use(AT + i, 'ver_1'),
        'rows',
      )
      expect(used.filter(Boolean)).toHaveLength(1)
      expect((await approvals().one('ver_1'))?.usedAt).toBe(AT + used.indexOf(true))
    })
  })
})
