import { createHmac, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AuditEvent, AuditLog } from '../../src/audit/audit-log.js'
import { ManualClock } from '../../src/clock.js'
import { canonicalJson } from '../../src/crypto/verification-jwt.js'
import { SqliteStore } from '../../src/storage/sqlite-store.js'

let dir: string
let store: SqliteStore
let clock: ManualClock
let chainKey: Buffer
let log: AuditLog

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-audit-'))
  store = SqliteStore.open(join(dir, 'countersign.db'))
  clock = new ManualClock(Date.UTC(2026, 0, 31))
  chainKey = randomBytes(32)
  log = new AuditLog({ audit: [chainKey], phase: 'settled' }, clock)
  await store.transaction(async (tx) => {
    for (const id of ['ten_a', 'ten_b'])
      await tx.insertTenant({
        id,
        name: id,
        createdAt: 1,
        ratePerSecond: 1,
        burst: 1,
        fmr: null,
        requireLiveness: null,
        capturePage: null,
        productionIssuedAt: null,
        productionRevealedAt: null,
        suspendedAt: null,
        deletedAt: null,
      })
  })
})
afterEach(async () => {
  await store.close()
  rmSync(dir, { recursive: true, force: true })
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
    await store.transaction((tx) => log.append(tx, tenant, event(i)))
    clock.advance(1000)
  }
}

/** As somebody who has the file can, and not the chain key. */
function tamper(sql: string): void {
  const database = new Database(join(dir, 'countersign.db'), { timeout: 5000 })
  database.exec(
    'DROP TRIGGER IF EXISTS audit_no_update; DROP TRIGGER IF EXISTS audit_no_delete; DROP TRIGGER IF EXISTS audit_in_order',
  )
  database.exec(sql)
  expect(database.prepare('SELECT changes()').pluck().get()).toBeGreaterThan(0)
  database.close()
}

const verify = (tenant = 'ten_a') => log.verify(store.read, tenant)

describe('the chain', () => {
  it('of nobody is intact and empty', async () => {
    expect(await verify()).toEqual({ entries: 0, brokenAt: null })
    expect(await verify('ten_unknown')).toEqual({ entries: 0, brokenAt: null })
  })

  it('holds entries in order, with their time, as canonical JSON', async () => {
    await append(3)
    const entries = await store.read.auditEntries('ten_a', 0, 10)
    expect(entries.map(({ sequence }) => sequence)).toEqual([1, 2, 3])
    expect(entries.map(({ entry }) => JSON.parse(entry))).toEqual(
      [0, 1, 2].map((i) => ({ ...event(i), at: `2026-01-31T00:00:0${i}.000Z`, sequence: i + 1 })),
    )
    for (const { entry } of entries) expect(entry).toBe(canonicalJson(JSON.parse(entry)))
  })

  it('is HMAC-SHA256 of the one before, the tenant and the entry', async () => {
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

  it('verifies across pages', async () => {
    await store.transaction(async (tx) => {
      for (let i = 0; i < 1203; i++) await log.append(tx, 'ten_a', event(i))
    })
    expect(await verify()).toEqual({ entries: 1203, brokenAt: null })
  })

  it('of each tenant stands by itself', async () => {
    await append(2, 'ten_a')
    await append(3, 'ten_b')
    expect(await verify('ten_a')).toEqual({ entries: 2, brokenAt: null })
    expect(await verify('ten_b')).toEqual({ entries: 3, brokenAt: null })
    tamper("UPDATE audit SET entry = entry || ' ' WHERE tenant_id = 'ten_b' AND sequence = 1")
    expect(await verify('ten_a')).toEqual({ entries: 2, brokenAt: null })
    expect(await verify('ten_b')).toEqual({ entries: 0, brokenAt: 1 })
  })

  it('has no gap when many append at once', async () => {
    await Promise.all(
      Array.from({ length: 100 }, (_, i) => store.transaction((tx) => log.append(tx, 'ten_a', event(i)))),
    )
    expect(await verify()).toEqual({ entries: 100, brokenAt: null })
  })

  it('gets no entry from a transaction that fails', async () => {
    await append(1)
    await expect(
      store.transaction(async (tx) => {
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

  for (const [what, sql, brokenAt] of [
    [
      'an entry that was changed',
      `UPDATE audit SET entry = replace(entry, '200', '201') WHERE sequence = 3`,
      3,
    ],
    ['a hash that was changed', 'UPDATE audit SET hash = zeroblob(32) WHERE sequence = 3', 3],
    ['a hash that was cut', "UPDATE audit SET hash = x'00' WHERE sequence = 3", 3],
    ['the first entry missing', 'DELETE FROM audit WHERE sequence = 1', 1],
    ['one cut out of the middle', 'DELETE FROM audit WHERE sequence = 3', 3],
    [
      'one cut out and the rest moved up',
      `DELETE FROM audit WHERE sequence = 3;
       UPDATE audit SET sequence = 3 WHERE sequence = 4; UPDATE audit SET sequence = 4 WHERE sequence = 5`,
      3,
    ],
    [
      'two that changed places',
      `UPDATE audit SET sequence = 99 WHERE sequence = 2; UPDATE audit SET sequence = 2 WHERE sequence = 3;
       UPDATE audit SET sequence = 3 WHERE sequence = 99`,
      2,
    ],
    [
      'one that was made up',
      `INSERT INTO audit SELECT tenant_id, 6, entry, hash FROM audit WHERE sequence = 5`,
      6,
    ],
    ['the last entries missing', 'DELETE FROM audit WHERE sequence > 3', 4],
    [
      'the last entries missing, and the seal moved back',
      'DELETE FROM audit WHERE sequence > 3; UPDATE audit_seal SET sequence = 3',
      3,
    ],
    ['every entry missing', 'DELETE FROM audit', 1],
    ['the seal missing', 'DELETE FROM audit_seal', 6],
    ['an entry moved to another tenant', `UPDATE audit SET tenant_id = 'ten_b' WHERE sequence = 1`, 1],
  ] as const)
    it(what, async () => {
      tamper(sql)
      expect(await verify()).toEqual({ entries: brokenAt - 1, brokenAt })
    })

  it('that an entry of one tenant is none of another', async () => {
    tamper("UPDATE audit SET tenant_id = 'ten_b' WHERE tenant_id = 'ten_a'")
    expect(await verify('ten_b')).toEqual({ entries: 0, brokenAt: 1 })
  })

  it('that nobody without the key could have made it', async () => {
    const other = new AuditLog({ audit: [randomBytes(32)], phase: 'settled' }, clock)
    expect(await other.verify(store.read, 'ten_a')).toEqual({ entries: 0, brokenAt: 1 })
  })
})

describe('a change of the working keys', () => {
  it('keeps the log whole: what the old key linked is checked by it, and the new key seals', async () => {
    await append(3)
    const next = new AuditLog({ audit: [chainKey, randomBytes(32)], phase: 'settled' }, clock)
    await store.transaction((tx) =>
      next.append(tx, 'ten_a', { event: 'working_keys_changed', actor: 'operator', request_id: null }),
    )
    expect(await next.verify(store.read, 'ten_a')).toEqual({ entries: 4, brokenAt: null })
  })

  it('leaves the holder of the old key nothing to seal: a log that ends before the change is broken', async () => {
    await append(3)
    const keys = [chainKey, randomBytes(32)]
    // As the old key left it: the entry that the new key would have appended and sealed was cut off.
    const settled = new AuditLog({ audit: keys, phase: 'settled' }, clock)
    expect(await settled.verify(store.read, 'ten_a')).toEqual({ entries: 2, brokenAt: 3 })
    const activated = new AuditLog({ audit: keys, phase: 'activated' }, clock)
    expect(await activated.verify(store.read, 'ten_a')).toEqual({ entries: 3, brokenAt: null })
  })
})

describe('the database itself', () => {
  beforeEach(() => append(3))

  it.each([
    `UPDATE audit SET entry = '{}'`,
    'DELETE FROM audit',
    `INSERT OR REPLACE INTO audit SELECT tenant_id, sequence, '{}', hash FROM audit WHERE sequence = 2`,
    `INSERT INTO audit SELECT tenant_id, 7, entry, hash FROM audit WHERE sequence = 3`,
  ])('refuses %s', async (sql) => {
    const database = new Database(join(dir, 'countersign.db'), { timeout: 5000 })
    expect(() => database.exec(sql)).toThrow('append-only')
    database.close()
    expect(await verify()).toEqual({ entries: 3, brokenAt: null })
  })
})

describe('an anchor', () => {
  it('tells a log that was put back to an earlier state, seal and all', async () => {
    await append(3)
    const early = await log.anchor(store.read, 'ten_a')
    await append(2)
    const late = await log.anchor(store.read, 'ten_a')
    expect(late).toMatchObject({ tenantId: 'ten_a', sequence: 5 })
    expect(await log.holds(store.read, early!)).toBe(true)
    expect(await log.holds(store.read, late!)).toBe(true)

    const database = new Database(join(dir, 'countersign.db'), { timeout: 5000 })
    database.exec('DROP TRIGGER audit_no_delete; DELETE FROM audit WHERE sequence > 3')
    database.close()
    await store.transaction((tx) => log.adopt(tx, 'ten_a'))
    expect(await verify()).toEqual({ entries: 3, brokenAt: null })
    expect(await log.holds(store.read, early!)).toBe(true)
    expect(await log.holds(store.read, late!)).toBe(false)
    expect(await log.anchor(store.read, 'ten_b')).toBeNull()
  })
})
