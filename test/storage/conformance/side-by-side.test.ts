/** Tests that concurrent transactions with serialization keys behave in every store as if they ran one after the other. */
import { describe, expect, it } from 'vitest'
import type { AuditRecord } from '../../../src/storage/records.js'
import { AlreadyExecutedError, type StoreTransaction } from '../../../src/storage/store.js'
import { AT, auditEntry, bytes, insertUser, keptResponse, subject, tenant } from '../../support/records.js'
import { overStores } from '../../support/stores.js'

/** More transactions than share a commit. */
const MANY = 150

const follow = (head: AuditRecord | undefined) => {
  const sequence = (head?.sequence ?? 0) + 1
  const hash = bytes(`hash ${sequence}`)
  return {
    records: [auditEntry(sequence, { entry: `after ${head?.hash.toString() ?? 'nothing'}`, hash })],
    seal: { tenantId: 'ten_a', sequence, mac: hash },
  }
}

overStores((stores) => {
  const { read } = stores
  const about = <T>(serializationKey: string | undefined, work: (tx: StoreTransaction) => Promise<T>) =>
    stores.store.transaction({ tenantId: 'ten_a', serializationKey }, work)
  const ready = () =>
    about(undefined, async (tx) => {
      await tx.insertTenant(tenant('a'))
      for (const name of ['ada', 'joan', 'mary']) await insertUser(tx, name)
    })
  const log = async () => (await read().auditEntries('ten_a', 0, 1000)).map(({ entry }) => entry)
  const chain = (length: number) =>
    Array.from({ length }, (_, i) => (i === 0 ? 'after nothing' : `after hash ${i}`))
  const failuresOf = async (name: string) =>
    (await read().subject(subject(name).blindIndex))?.subject.failures
  const countFailure = async (tx: StoreTransaction, name: string) => {
    const found = (await tx.subject(subject(name).blindIndex))!.subject
    await tx.setLockout(found.id, { failures: found.failures + 1, lockedUntil: null, disabledAt: null })
  }

  describe('concurrent transactions', () => {
    it('extend one audit log without a gap under any serialization key, and leave the seal of its last entry', async () => {
      await ready()
      await Promise.all(
        Array.from({ length: MANY }, (_, i) =>
          // Some read before they append, and some have no serialization key.
          about(i % 7 === 0 ? undefined : `user ${i}`, (tx) =>
            tx.extendAudit('ten_a', follow, i % 2 ? tx.auditEnd('ten_a') : undefined),
          ),
        ),
      )
      expect(await log()).toEqual(chain(MANY))
      expect(await read().auditSeal('ten_a')).toMatchObject({ sequence: MANY, mac: bytes(`hash ${MANY}`) })
    })

    it('may append several entries each, which stay together under the seal of the last', async () => {
      await ready()
      const followTwice = (head: AuditRecord | undefined) => {
        const [first] = follow(head).records
        const second = follow(first)
        return { records: [first!, ...second.records], seal: second.seal }
      }
      await Promise.all(
        Array.from({ length: 40 }, (_, i) =>
          about(`user ${i}`, (tx) => tx.extendAudit('ten_a', i % 2 ? followTwice : follow)),
        ),
      )
      expect(await log()).toEqual(chain(60))
      expect(await read().auditSeal('ten_a')).toMatchObject({ sequence: 60 })
    })

    it('see the writes of earlier ones with the same serialization key', async () => {
      await ready()
      const names = ['ada', 'joan', 'mary']
      await Promise.all(
        Array.from({ length: MANY }, (_, i) => {
          const name = names[i % names.length]!
          return about(name, (tx) => countFailure(tx, name))
        }),
      )
      for (const name of names) expect(await failuresOf(name)).toBe(MANY / names.length)
    })

    it('fail separately: the writes of one are rolled back, those of the others are kept', async () => {
      await ready()
      const outcomes = await Promise.allSettled(
        Array.from({ length: MANY }, (_, i) =>
          about(`user ${i}`, async (tx) => {
            if (i % 10 === 3) throw new Error('refused before it wrote')
            await tx.insertIdempotencyRecord(keptResponse(`scope ${i}`))
            await tx.extendAudit('ten_a', follow)
            if (i === 50) throw new Error('refused after it wrote')
            return i
          }),
        ),
      )
      for (const [i, outcome] of outcomes.entries()) {
        const reason = i % 10 === 3 ? 'refused before it wrote' : i === 50 ? 'refused after it wrote' : null
        if (reason) expect(outcome).toMatchObject({ status: 'rejected', reason: { message: reason } })
        else expect(outcome).toEqual({ status: 'fulfilled', value: i })
      }
      expect(await log()).toEqual(chain(MANY - MANY / 10 - 1))
      expect(await read().idempotencyRecord(keptResponse('scope 50').scope, AT)).toBeUndefined()
      expect(await read().idempotencyRecord(keptResponse('scope 51').scope, AT)).toBeDefined()
    })

    it('reject only the one whose request was executed already', async () => {
      await ready()
      await about('first', (tx) => tx.insertIdempotencyRecord(keptResponse('scope 20')))
      const outcomes = await Promise.allSettled(
        Array.from({ length: 40 }, (_, i) =>
          about(`user ${i}`, async (tx) => {
            await tx.insertIdempotencyRecord(keptResponse(`scope ${i}`))
            await tx.extendAudit('ten_a', follow)
          }),
        ),
      )
      const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
      expect(refused.map(({ reason }) => reason)).toEqual([expect.any(AlreadyExecutedError)])
      expect(outcomes[20]!.status).toBe('rejected')
      expect(await log()).toEqual(chain(39))
    })
  })
})
