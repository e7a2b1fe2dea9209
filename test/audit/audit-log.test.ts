import { createHmac, randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { type AuditBreak, type AuditEvent, AuditLog } from '../../src/audit/audit-log.js'
import { canonicalJson } from '../../src/contract/canonical-json.js'
import { ManualClock } from '../../src/lib/clock.js'
import { type Store, StoreUnavailableError } from '../../src/storage/store.js'
import { tenant } from '../support/records.js'
import { storeOfProject } from '../support/stores.js'

const stores = storeOfProject()
let store: Store
let clock: ManualClock
let chainKey: Buffer
let log: AuditLog

beforeEach(async () => {
  store = stores.store
  clock = new ManualClock(Date.UTC(2026, 0, 31))
  chainKey = randomBytes(32)
  log = new AuditLog({ audit: [chainKey], phase: 'settled' }, clock)
  await store.transaction('installation', async (tx) => {
    for (const name of ['a', 'b']) await tx.insertTenant(tenant(name))
  })
})

const event = (note: number): AuditEvent => ({
  event: 'verify',
  actor: 'key_1',
  request_id: `r${note}`,
  status: 200,
  note,
})

async function append(count: number, tenant = 'ten_a'): Promise<void> {
  for (let i = 0; i < count; i++) {
    await store.transaction('installation', (tx) => log.append(tx, tenant, event(i)))
    clock.advance(1000)
  }
}

/** Literal bytes in the SQL of the database under test. */
const sqlBytes = (bytes: Buffer) =>
  stores.kind === 'postgres' ? `'\\x${bytes.toString('hex')}'::bytea` : `x'${bytes.toString('hex')}'`

const verify = (tenant = 'ten_a') => log.verify(store.read, tenant)

describe('the chain', () => {
  it('the log of an unknown tenant is intact and empty', async () => {
    expect(await verify()).toEqual({ entries: 0, brokenAt: null })
    expect(await verify('ten_unknown')).toEqual({ entries: 0, brokenAt: null })
  })

  it('entries are stored in order, with their time, as canonical JSON', async () => {
    await append(3)
    const entries = await store.read.auditEntries('ten_a', 0, 10)
    expect(entries.map(({ sequence }) => sequence)).toEqual([1, 2, 3])
    expect(entries.map(({ entry }) => JSON.parse(entry))).toEqual(
      [0, 1, 2].map((i) => ({ ...event(i), at: `2026-01-31T00:00:0${i}.000Z`, sequence: i + 1 })),
    )
    for (const { entry } of entries) expect(entry).toBe(canonicalJson(JSON.parse(entry)))
  })

  it('the hash of an entry is the HMAC-SHA256 of the hash before, the tenant and the entry', async () => {
    await append(3)
    let previous: Buffer = Buffer.alloc(32)
    for (const { entry, hash } of await store.read.auditEntries('ten_a', 0, 10)) {
      const expected = createHmac('sha256', chainKey)
        .update(Buffer.concat([previous, Buffer.from(`ten_a:${entry}`)]))
        .digest()
      expect(hash).toEqual(expected)
      previous = hash
    }
  })

  it('an intact log of several pages verifies', async () => {
    await store.transaction('installation', async (tx) => {
      for (let i = 0; i < 603; i++) await log.append(tx, 'ten_a', event(i))
    })
    expect(await verify()).toEqual({ entries: 603, brokenAt: null })
  })

  it('the logs of two tenants are independent chains', async () => {
    await append(2, 'ten_a')
    await append(3, 'ten_b')
    expect(await verify('ten_a')).toEqual({ entries: 2, brokenAt: null })
    expect(await verify('ten_b')).toEqual({ entries: 3, brokenAt: null })
    await stores.tamper("UPDATE audit SET entry = entry || ' ' WHERE tenant_id = 'ten_b' AND sequence = 1")
    expect(await verify('ten_a')).toEqual({ entries: 2, brokenAt: null })
    expect(await verify('ten_b')).toEqual({ entries: 0, brokenAt: 1 })
  })

  it('concurrent appends leave no gap in the chain', async () => {
    await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        store.transaction('installation', (tx) => log.append(tx, 'ten_a', event(i))),
      ),
    )
    expect(await verify()).toEqual({ entries: 100, brokenAt: null })
  })

  it('a transaction that fails appends no entry', async () => {
    await append(1)
    await expect(
      store.transaction('installation', async (tx) => {
        await log.append(tx, 'ten_a', event(9))
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    await append(1)
    expect(await verify()).toEqual({ entries: 2, brokenAt: null })
  })
})

describe('verification finds', () => {
  beforeEach(() => append(5))

  it.each([
    [
      'an entry that was changed',
      "UPDATE audit SET entry = replace(entry, '200', '201') WHERE sequence = 3",
      3,
    ],
    [
      'a hash that was changed',
      `UPDATE audit SET hash = ${sqlBytes(Buffer.alloc(32))} WHERE sequence = 3`,
      3,
    ],
    ['a hash that was cut', `UPDATE audit SET hash = ${sqlBytes(Buffer.alloc(1))} WHERE sequence = 3`, 3],
    ['the first entry missing', 'DELETE FROM audit WHERE sequence = 1', 1],
    ['one cut out of the middle', 'DELETE FROM audit WHERE sequence = 3', 3],
    [
      'an entry that was removed where later entries were moved up',
      `DELETE FROM audit WHERE sequence = 3;
       UPDATE audit SET sequence = 3 WHERE sequence = 4; UPDATE audit SET sequence = 4 WHERE sequence = 5`,
      3,
    ],
    [
      'two entries that were swapped',
      `UPDATE audit SET sequence = 99 WHERE sequence = 2; UPDATE audit SET sequence = 2 WHERE sequence = 3;
       UPDATE audit SET sequence = 3 WHERE sequence = 99`,
      2,
    ],
    [
      'an entry that was made up',
      `INSERT INTO audit SELECT tenant_id, 6, entry, hash FROM audit WHERE sequence = 5`,
      6,
    ],
    ['the last entries missing', 'DELETE FROM audit WHERE sequence > 3', 4],
    [
      'last entries that were cut off where the seal was moved back',
      'DELETE FROM audit WHERE sequence > 3; UPDATE audit_seal SET sequence = 3',
      3,
    ],
    ['every entry missing', 'DELETE FROM audit', 1],
    ['the seal missing', 'DELETE FROM audit_seal', 6],
    ['an entry moved to another tenant', `UPDATE audit SET tenant_id = 'ten_b' WHERE sequence = 1`, 1],
  ])('%s', async (_, sql, brokenAt) => {
    await stores.tamper(sql)
    expect(await verify()).toEqual({ entries: brokenAt - 1, brokenAt })
  })

  it('an entry that was moved from another tenant', async () => {
    await stores.tamper("UPDATE audit SET tenant_id = 'ten_b' WHERE tenant_id = 'ten_a'")
    expect(await verify('ten_b')).toEqual({ entries: 0, brokenAt: 1 })
  })

  it('a log that was written without the chain key', async () => {
    const other = new AuditLog({ audit: [randomBytes(32)], phase: 'settled' }, clock)
    expect(await other.verify(store.read, 'ten_a')).toEqual({ entries: 0, brokenAt: 1 })
  })
})

/** Writes an entry past the service, as somebody who holds a chain key and can write to the database. */
async function forge(key: Buffer, { seals = false } = {}): Promise<number> {
  const head = (await store.read.auditHead('ten_a'))!
  const sequence = head.sequence + 1
  const entry = canonicalJson({ ...event(99), verdict: 'approved', sequence })
  const hash = createHmac('sha256', key).update(head.hash).update(`ten_a:${entry}`).digest()
  await stores.tamper(
    `INSERT INTO audit (tenant_id, sequence, entry, hash) VALUES ('ten_a', ${sequence}, '${entry}', ${sqlBytes(hash)})`,
  )
  if (seals) {
    const mac = createHmac('sha256', key).update(`seal:ten_a:${sequence}:`).update(hash).digest()
    await stores.tamper(
      `UPDATE audit_seal SET sequence = ${sequence}, mac = ${sqlBytes(mac)} WHERE tenant_id = 'ten_a'`,
    )
  }
  return sequence
}

describe('a change of the working keys', () => {
  const keysChanged: AuditEvent = { event: 'working_keys_changed', actor: 'operator', request_id: null }
  let next: AuditLog

  /** Three entries of the old key and one of the new one, as a finished change leaves them. */
  async function changeKeys(): Promise<void> {
    await append(3)
    const audit = [chainKey, randomBytes(32)]
    next = new AuditLog({ audit, phase: 'settled' }, clock)
    const changing = new AuditLog({ audit, phase: 'activated' }, clock)
    await store.transaction('installation', (tx) => changing.append(tx, 'ten_a', keysChanged))
  }

  it('a change of the chain key keeps the log intact: each key verifies the entries that it linked, and the newest key seals', async () => {
    await append(2)
    const keys = [chainKey]
    for (let change = 0; change < 3; change++) {
      keys.push(randomBytes(32))
      const changing = new AuditLog({ audit: [...keys], phase: 'activated' }, clock)
      await store.transaction('installation', (tx) => changing.append(tx, 'ten_a', keysChanged))
      await store.transaction('installation', (tx) => changing.append(tx, 'ten_a', event(change)))
    }
    const settled = new AuditLog({ audit: keys, phase: 'settled' }, clock)
    expect(await settled.verify(store.read, 'ten_a')).toEqual({ entries: 8, brokenAt: null })
  })

  it('the old chain key cannot seal a log that was cut off before the change', async () => {
    await append(3)
    const keys = [chainKey, randomBytes(32)]
    // The state that the old key sealed: the entry that the new key appended and sealed is cut off.
    const settled = new AuditLog({ audit: keys, phase: 'settled' }, clock)
    expect(await settled.verify(store.read, 'ten_a')).toEqual({ entries: 2, brokenAt: 3 })
    const activated = new AuditLog({ audit: keys, phase: 'activated' }, clock)
    expect(await activated.verify(store.read, 'ten_a')).toEqual({ entries: 3, brokenAt: null })
  })

  for (const seals of [false, true])
    it(`the old chain key cannot link an entry after the change${seals ? ', even with a seal by it' : ''}`, async () => {
      await changeKeys()
      expect(await next.verify(store.read, 'ten_a')).toEqual({ entries: 4, brokenAt: null })
      const forged = await forge(chainKey, { seals })
      expect(forged).toBe(5)
      if (!seals) expect(await next.verify(store.read, 'ten_a')).toEqual({ entries: 4, brokenAt: 5 })
      else expect((await next.verify(store.read, 'ten_a')).brokenAt).toBe(5)
      await store.transaction('installation', (tx) => next.append(tx, 'ten_a', event(1)))
      expect(await next.verify(store.read, 'ten_a')).toEqual({ entries: 4, brokenAt: 5 })
    })

  it('a log that the old chain key wrote again from before the change fails verification', async () => {
    await changeKeys()
    await stores.tamper('DELETE FROM audit WHERE sequence >= 3')
    // Three entries again where the change stood at four, all by the old key.
    await forge(chainKey)
    await forge(chainKey, { seals: true })
    expect((await next.verify(store.read, 'ten_a')).brokenAt).not.toBeNull()
    await store.transaction('installation', (tx) => next.append(tx, 'ten_a', event(1)))
    expect((await next.verify(store.read, 'ten_a')).brokenAt).not.toBeNull()
  })

  it('a process that has not read the new keys yet reports no break and writes nothing', async () => {
    await append(1)
    await store.transaction('installation', (tx) =>
      tx.putKeyring({ masterKeyId: 'id', sealed: randomBytes(8), createdAt: 1, generation: 1 }),
    )
    next = new AuditLog({ audit: [chainKey, randomBytes(32)], phase: 'activated', generation: 1 }, clock)
    await store.transaction('installation', (tx) => next.append(tx, 'ten_a', keysChanged))
    const late = new AuditLog({ audit: [chainKey], phase: 'settled', generation: 0 }, clock)
    await expect(
      store.transaction('installation', (tx) => late.append(tx, 'ten_a', event(1))),
    ).rejects.toThrow(StoreUnavailableError)
    expect(await next.verify(store.read, 'ten_a')).toEqual({ entries: 2, brokenAt: null })
  })
})

describe('an append to a log that does not end as it was sealed', () => {
  const breaks: AuditBreak[] = []
  beforeEach(async () => {
    breaks.length = 0
    await append(5)
    log.observeBreaks((found) => breaks.push(found))
  })
  const last = async () => {
    const entries = await store.read.auditEntries('ten_a', 0, 100)
    return entries.slice(-2).map(({ entry }) => JSON.parse(entry))
  }

  it.each<
    [what: string, sql: string, found: [sealed: number | null, found: number | null], brokenAt: number]
  >([
    ['after its last entries were cut off', 'DELETE FROM audit WHERE sequence > 3', [5, 3], 4],
    ['since all of it was cut off', 'DELETE FROM audit', [5, null], 1],
    [
      'after an entry was made up',
      `INSERT INTO audit (tenant_id, sequence, entry, hash) SELECT tenant_id, 6, entry, hash FROM audit WHERE sequence = 5`,
      [5, 6],
      6,
    ],
    ['since its seal was removed', 'DELETE FROM audit_seal', [null, 5], 6],
  ])(
    'an append to a broken log succeeds, records the break and does not repair it: %s',
    async (_, sql, [sealedSequence, foundSequence], brokenAt) => {
      await stores.tamper(sql)
      expect(await log.endsAsSealed(store.read, 'ten_a')).toBe(false)
      await append(1)
      expect(breaks).toEqual([{ tenantId: 'ten_a', sealedSequence, foundSequence }])
      const found = { sealed_sequence: sealedSequence, found_sequence: foundSequence }
      expect(await last()).toMatchObject([
        { event: 'audit_break_found', actor: 'service', request_id: 'r0', ...found },
        { event: 'verify', actor: 'key_1' },
      ])
      expect(await verify()).toEqual({ entries: brokenAt - 1, brokenAt })
      await append(1)
      expect(breaks).toHaveLength(1)
      expect(await verify()).toEqual({ entries: brokenAt - 1, brokenAt })
    },
  )

  it('an append finds that an old seal was restored', async () => {
    const old = (await store.read.auditSeal('ten_a'))!
    await append(2)
    await stores.tamper(`UPDATE audit_seal SET sequence = ${old.sequence}, mac = ${sqlBytes(old.mac)}`)
    expect(await verify()).toEqual({ entries: 5, brokenAt: 6 })
    await append(1)
    expect(breaks).toEqual([{ tenantId: 'ten_a', sealedSequence: 5, foundSequence: 7 }])
    expect(await verify()).toEqual({ entries: 7, brokenAt: 8 })
  })

  it('concurrent appends record a break once', async () => {
    await stores.tamper('DELETE FROM audit WHERE sequence > 3')
    await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        store.transaction({ tenantId: 'ten_a', serializationKey: `user ${i}` }, (tx) =>
          log.append(tx, 'ten_a', event(i)),
        ),
      ),
    )
    const entries = await store.read.auditEntries('ten_a', 3, 100)
    const events = entries.map(({ entry }) => JSON.parse(entry).event)
    expect(events).toEqual(['audit_break_found', ...Array(30).fill('verify')])
    expect(await verify()).toEqual({ entries: 3, brokenAt: 4 })
  })

  it('a break in the log of one tenant leaves other logs intact', async () => {
    await append(2, 'ten_b')
    await stores.tamper("DELETE FROM audit WHERE tenant_id = 'ten_a'")
    await append(1, 'ten_b')
    expect(breaks).toEqual([])
    expect(await verify('ten_b')).toEqual({ entries: 3, brokenAt: null })
  })
})

it('an anchor reveals a log that was restored to an earlier state, seal included', async () => {
  await append(3)
  const early = await log.anchor(store.read, 'ten_a')
  await append(2)
  const late = await log.anchor(store.read, 'ten_a')
  expect(late).toMatchObject({ tenantId: 'ten_a', sequence: 5 })
  expect(await log.holds(store.read, early!)).toBe(true)
  expect(await log.holds(store.read, late!)).toBe(true)

  await stores.tamper('DELETE FROM audit WHERE sequence > 3')
  await store.transaction('installation', (tx) => log.adopt(tx, 'ten_a'))
  expect(await verify()).toEqual({ entries: 3, brokenAt: null })
  expect(await log.holds(store.read, early!)).toBe(true)
  expect(await log.holds(store.read, late!)).toBe(false)
  expect(await log.anchor(store.read, 'ten_b')).toBeNull()
})
