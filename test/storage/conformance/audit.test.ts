/** Tests of the audit log in every store: appended without gaps, and never changed. */
import { describe, expect, it } from 'vitest'
import { AT, auditEntry, subject } from '../../support/records.js'
import { overStores } from '../../support/stores.js'

const REPLACEMENT = "SELECT tenant_id, sequence, '{}', hash FROM audit WHERE sequence = 2"
const SQLITE_ATTEMPTS = [`INSERT OR REPLACE INTO audit ${REPLACEMENT}`]
const POSTGRES_ATTEMPTS = [
  `INSERT INTO audit ${REPLACEMENT} ON CONFLICT (tenant_id, sequence) DO UPDATE SET entry = excluded.entry`,
  'TRUNCATE audit',
  'TRUNCATE tenant CASCADE',
]

overStores((stores) => {
  const { read, write, insert } = stores
  const append = (sequence: number, tenantId = 'ten_a') =>
    write((tx) => tx.appendAudit(auditEntry(sequence, { tenantId })))
  const sequences = async (entries: Promise<Array<{ sequence: number }>>) =>
    (await entries).map(({ sequence }) => sequence)

  describe('audit entries', () => {
    it('are read in order after one, newest first before one, and by the head', async () => {
      const entries = Array.from({ length: 12 }, (_, i) => auditEntry(i + 1))
      await insert({ tenants: ['a', 'b'], entries: [...entries, auditEntry(1, { tenantId: 'ten_b' })] })
      expect(await read().auditHead('ten_a')).toEqual(auditEntry(12))
      expect(await read().auditHead('ten_b')).toEqual(auditEntry(1, { tenantId: 'ten_b' }))
      expect(await read().auditHead('ten_nobody')).toBeUndefined()
      expect(await sequences(read().auditEntries('ten_a', 0, 3))).toEqual([1, 2, 3])
      expect(await sequences(read().auditEntries('ten_a', 9, 10))).toEqual([10, 11, 12])
      expect(await sequences(read().auditEntries('ten_a', 12, 10))).toEqual([])
      expect(await sequences(read().recentAuditEntries('ten_a', 12, 3))).toEqual([11, 10, 9])
      expect(await sequences(read().recentAuditEntries('ten_a', Number.MAX_SAFE_INTEGER, 2))).toEqual([
        12, 11,
      ])
      expect(await read().auditEntries('ten_a', 4, 1)).toEqual([auditEntry(5)])
    })

    it('are found by their event, in both orders, and only in the log of the tenant', async () => {
      const named = (sequence: number, event: string, tenantId = 'ten_a') =>
        auditEntry(sequence, { tenantId, entry: `{"event":"${event}","n":${sequence}}` })
      const entries = Array.from({ length: 9 }, (_, i) => named(i + 1, i % 3 === 2 ? 'enroll' : 'verify'))
      await insert({ tenants: ['a', 'b'], entries: [...entries, named(1, 'enroll', 'ten_b')] })
      expect(await read().auditEntriesOfEvent('ten_a', 'enroll', 3, 10)).toEqual([
        named(6, 'enroll'),
        named(9, 'enroll'),
      ])
      expect(await sequences(read().auditEntriesOfEvent('ten_a', 'verify', 0, 3))).toEqual([1, 2, 4])
      expect(await sequences(read().auditEntriesOfEvent('ten_a', 'delete', 0, 3))).toEqual([])
      expect(await sequences(read().recentAuditEntriesOfEvent('ten_a', 'enroll', 9, 10))).toEqual([6, 3])
      expect(await sequences(read().recentAuditEntriesOfEvent('ten_a', 'verify', 99, 2))).toEqual([8, 7])
    })

    it('begin at one, follow without a gap, and come once', async () => {
      await insert({ tenants: ['a', 'b'] })
      for (const sequence of [0, 2]) await expect(append(sequence), `${sequence} first`).rejects.toThrow()
      await append(1)
      await append(1, 'ten_b')
      await append(2)
      for (const sequence of [0, 1, 2, 4]) await expect(append(sequence), `${sequence}`).rejects.toThrow()
      await append(3)
      expect(await sequences(read().auditEntries('ten_a', 0, 10))).toEqual([1, 2, 3])
      expect(await sequences(read().auditEntries('ten_b', 0, 10))).toEqual([1])
    })

    it('roll back the transaction that appends a refused entry', async () => {
      await insert({ tenants: ['a'] })
      await expect(
        write(async (tx) => {
          await tx.insertSubject(subject())
          await tx.appendAudit(auditEntry(7))
        }),
      ).rejects.toThrow()
      expect(await read().blindIndexesOf('ten_a', 10)).toEqual([])
    })

    it('follow one another when many transactions append at once, even over two connections', async () => {
      await insert({ tenants: ['a'] })
      await stores.atOnce(64, async (tx) => {
        const head = await tx.auditHead('ten_a')
        await tx.appendAudit(auditEntry((head?.sequence ?? 0) + 1))
      })
      expect(await sequences(read().auditEntries('ten_a', 0, 100))).toEqual(
        Array.from({ length: 64 }, (_, i) => i + 1),
      )
    })

    it('cannot be changed, deleted or appended out of order by SQL either', async () => {
      await insert({ tenants: ['a'], entries: [auditEntry(1), auditEntry(2)] })
      const attempts = [
        "UPDATE audit SET entry = '[]'",
        'DELETE FROM audit',
        'DELETE FROM audit WHERE sequence = 2',
        `INSERT INTO audit (tenant_id, sequence, entry, hash) SELECT tenant_id, 4, entry, hash FROM audit WHERE sequence = 1`,
        ...(stores.kind === 'postgres' ? POSTGRES_ATTEMPTS : SQLITE_ATTEMPTS),
      ]
      for (const statement of attempts)
        await expect(stores.execute(statement), statement).rejects.toThrow(/append-only/)
      expect(await read().auditEntries('ten_a', 0, 10)).toEqual([auditEntry(1), auditEntry(2)])
    })
  })

  it('keeps one audit seal for each tenant, which the next one replaces', async () => {
    const seal = (sequence: number, tenantId = 'ten_a') => ({
      tenantId,
      sequence,
      mac: Buffer.alloc(32, sequence),
    })
    await insert({ tenants: ['a', 'b'] })
    for (const one of [seal(1), seal(2), seal(7, 'ten_b')]) await write((tx) => tx.putAuditSeal(one))
    expect(await read().auditSeal('ten_a')).toEqual(seal(2))
    expect(await read().auditSeal('ten_b')).toEqual(seal(7, 'ten_b'))
    expect(await read().auditSeal('ten_nobody')).toBeUndefined()
    expect(await read().auditEnd('ten_b')).toEqual({ head: undefined, seal: seal(7, 'ten_b') })
    expect(await read().auditEnd('ten_nobody')).toEqual({ head: undefined, seal: undefined })
  })

  it('returns null as the time of the last backup before the first, and then the last one that was set', async () => {
    expect(await read().lastBackupAt()).toBeNull()
    for (const at of [AT, AT + 1]) await write((tx) => tx.setLastBackup(at))
    expect(await read().lastBackupAt()).toBe(AT + 1)
  })
})
