import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { packageFile } from '../../src/package-root.js'
import type { CaptureSessionRecord, TenantRecord } from '../../src/storage/records.js'
import { joinKeys, type RestoreError } from '../../src/storage/sqlite-backup.js'
import { SqliteStore } from '../../src/storage/sqlite-store.js'
import { StoreOpenError, type StoreTransaction, StoreUnavailableError } from '../../src/storage/store.js'

let dir: string
let file: string
const opened: Array<{ close(): unknown }> = []

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-store-'))
  file = join(dir, 'countersign.db')
})
afterEach(async () => {
  for (const resource of opened.splice(0)) await resource.close()
  rmSync(dir, { recursive: true, force: true })
})

function openStore(path = file): SqliteStore {
  const store = SqliteStore.open(path)
  opened.push(store)
  return store
}

/** A plain connection, as another program would open it. */
function connect(path = file): Database.Database {
  const database = new Database(path, { timeout: 5000 })
  opened.push(database)
  return database
}

function tenant(name: string): TenantRecord {
  return {
    id: `ten_${name}`,
    name,
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
  }
}

const names = async (store: SqliteStore) => (await store.read.tenants()).map(({ name }) => name)
const bytes = (text: string) => Buffer.from(text)

/** A user with a reference, a capture and a kept response. */
async function insertUser(store: SqliteStore, name: string, at = 1): Promise<void> {
  await store.transaction(async (tx) => {
    await tx.insertSubject({
      id: `sub_${name}`,
      tenantId: 'ten_a',
      environment: 'production',
      lookup: bytes(name),
      wrappedKey: bytes(`wrapped key of ${name}`),
      createdAt: at,
      failures: 0,
      lockedUntil: null,
      disabledAt: null,
    })
    await tx.putReference({
      id: `ref_${name}`,
      subjectId: `sub_${name}`,
      model: 'm@1',
      sealed: bytes(`sealed reference of ${name}`),
      createdAt: at,
    })
    await tx.insertCapture({
      subjectId: `sub_${name}`,
      digest: bytes('d'),
      sealed: bytes(`sealed capture of ${name}`),
      seenAt: at,
    })
    await tx.insertIdempotencyRecord({
      scope: bytes(`scope of ${name}`),
      lookup: bytes(name),
      subjectId: `sub_${name}`,
      payloadHash: bytes('h'),
      status: 201,
      sealed: bytes(`sealed response of ${name}`),
      createdAt: at,
      expiresAt: at + 10,
    })
  })
}

describe('opening', () => {
  it('makes a fresh file with schema and mark', async () => {
    const store = openStore(join(dir, 'made', 'on', 'the', 'way.db'))
    expect(await store.read.counts()).toEqual({
      tenants: 0,
      references: { production: 0, sandbox: 0 },
      auditEntries: 0,
    })
    expect(await store.check()).toEqual([])
    const plain = connect(join(dir, 'made', 'on', 'the', 'way.db'))
    expect(plain.pragma('application_id', { simple: true })).toBe(0x4353474e)
    expect(plain.pragma('user_version', { simple: true })).toBeGreaterThan(0)
  })

  it('finds again what was there', async () => {
    const first = openStore()
    await first.transaction((tx) => tx.insertTenant(tenant('a')))
    await first.close()
    expect(await names(openStore())).toEqual(['a'])
  })

  it("refuses another application's database and leaves it as it was", () => {
    const theirs = new Database(file)
    theirs.exec("CREATE TABLE theirs (x); INSERT INTO theirs VALUES ('precious')")
    theirs.close()
    const before = readFileSync(file)
    expect(() => openStore()).toThrow(StoreOpenError)
    expect(() => openStore()).toThrow(/another application/)
    expect(readFileSync(file)).toEqual(before)
  })

  it('refuses the database of a newer version and leaves it as it was', async () => {
    await openStore().close()
    const newer = new Database(file)
    newer.pragma('user_version = 999')
    newer.pragma('wal_checkpoint(TRUNCATE)')
    newer.close()
    const before = readFileSync(file)
    expect(() => openStore()).toThrow(/schema 999.*newer Countersign/)
    expect(readFileSync(file)).toEqual(before)
  })

  it('refuses a file that is no database', () => {
    writeFileSync(file, 'not a database, but long enough to look like one '.repeat(100))
    expect(() => openStore()).toThrow(StoreOpenError)
  })

  it('works for two stores on one file, each seeing what the other committed', async () => {
    const [one, two] = [openStore(), openStore()]
    await one.transaction((tx) => tx.insertTenant(tenant('a')))
    await two.transaction((tx) => tx.insertTenant(tenant('b')))
    expect(await names(one)).toEqual(['a', 'b'])
    expect(await names(two)).toEqual(['a', 'b'])
  })
})

describe('capture sessions', () => {
  const session: CaptureSessionRecord = {
    id: 'cap_1',
    tenantId: 'ten_a',
    environment: 'sandbox',
    keyId: 'key_1',
    lookup: bytes('ada'),
    purpose: 'verify',
    sealed: bytes('sealed'),
    link: bytes('link'),
    browser: null,
    phoneLink: null,
    phoneBrowser: null,
    consentVersion: null,
    consentedAt: null,
    attempts: 0,
    answered: null,
    status: 'open',
    createdAt: 1,
    expiresAt: 100,
  }
  const HOUR_MS = 3_600_000
  const expire = (store: SqliteStore, now: number) =>
    store.transaction((tx) => tx.deleteExpired(now, 0, { minute: 0, hour: 0 }))

  it('are replaced whole, and found by their id', async () => {
    const store = openStore()
    const changed = {
      ...session,
      browser: bytes('browser'),
      phoneLink: bytes('phone'),
      consentVersion: '1',
      consentedAt: 2,
      attempts: 1,
      answered: 'chl_1',
      status: 'completed' as const,
    }
    await store.transaction(async (tx) => {
      await tx.insertTenant(tenant('a'))
      await tx.putCaptureSession(session)
    })
    expect(await store.read.captureSession('cap_1')).toEqual(session)
    await store.transaction((tx) => tx.putCaptureSession(changed))
    expect(await store.read.captureSession('cap_1')).toEqual(changed)
    expect(await store.read.captureSession('cap_2')).toBeUndefined()
  })

  it('stay for an hour after their end', async () => {
    const store = openStore()
    await store.transaction(async (tx) => {
      await tx.insertTenant(tenant('a'))
      await tx.putCaptureSession(session)
    })
    await expire(store, HOUR_MS + 99)
    expect(await store.read.captureSession('cap_1')).toBeDefined()
    await expire(store, HOUR_MS + 100)
    expect(await store.read.captureSession('cap_1')).toBeUndefined()
  })

  it.each([
    ['their user', (tx: StoreTransaction) => tx.eraseSubject(bytes('ada'))],
    ['their tenant', (tx: StoreTransaction) => tx.closeTenant('ten_a', 2)],
  ])('go with %s, with or without a reference', async (_, end) => {
    const store = openStore()
    await store.transaction(async (tx) => {
      await tx.insertTenant(tenant('a'))
      await tx.setCapturePage('ten_a', '{}')
      await tx.putCaptureSession(session)
    })
    expect((await store.read.tenantById('ten_a'))?.capturePage).toBe('{}')
    await store.transaction(async (tx) => void (await end(tx)))
    expect(await store.read.captureSession('cap_1')).toBeUndefined()
  })
})

describe('durability', () => {
  it('is as the contract needs it: WAL, synchronous FULL, foreign keys, secure delete', async () => {
    const store = openStore()
    // Pragmas of a connection show on that connection alone, so the store's own is asked.
    const writer = Reflect.get(store, 'writer') as Database.Database
    const pragma = (name: string) => writer.pragma(name, { simple: true })
    expect(pragma('journal_mode')).toBe('wal')
    expect(pragma('synchronous')).toBe(2)
    expect(pragma('foreign_keys')).toBe(1)
    expect(pragma('secure_delete')).toBe(1)
  })

  /** Commits tenants as fast as it can, many at a time, and says which are acknowledged. */
  const WRITER = `
    const { SqliteStore } = await import(process.argv[1])
    const store = SqliteStore.open(process.argv[2])
    const run = process.argv[3]
    let next = 0
    async function lane() {
      for (;;) {
        const name = run + '-' + next++
        await store.transaction((tx) => tx.insertTenant({ id: name, name, createdAt: 1, ratePerSecond: 1, burst: 1,
          fmr: null, requireLiveness: null, capturePage: null, productionIssuedAt: null, productionRevealedAt: null, suspendedAt: null, deletedAt: null }))
        process.stdout.write(name + '\\n')
      }
    }
    for (let i = 0; i < 8; i++) lane()
  `

  it('keeps every acknowledged row when the process is killed', async () => {
    const built = pathToFileURL(packageFile('dist', 'src', 'storage', 'sqlite-store.js')).href
    const acknowledged: string[] = []
    for (const run of ['first', 'second', 'third']) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', WRITER, built, file, run], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let output = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text
        if (output.length > 3000) child.kill('SIGKILL')
      })
      const [, signal] = await once(child, 'close')
      expect(signal).toBe('SIGKILL')
      acknowledged.push(...output.slice(0, output.lastIndexOf('\n')).split('\n'))
    }
    expect(acknowledged.length).toBeGreaterThan(300)
    const store = openStore()
    expect(await store.check()).toEqual([])
    const present = new Set(await names(store))
    expect(acknowledged.filter((name) => !present.has(name))).toEqual([])
  })

  it('shows a reader nothing before it is committed', async () => {
    const store = openStore()
    let seen: string[] | null = null
    await store.transaction(async (tx) => {
      await tx.insertTenant(tenant('a'))
      expect(await tx.tenantByName('a')).toMatchObject({ name: 'a' })
      seen = await names(store)
    })
    expect(seen).toEqual([])
    expect(await names(store)).toEqual(['a'])
  })
})

describe('a transaction that fails', () => {
  it('leaves nothing, and does no harm to the others of its group', async () => {
    const store = openStore()
    const results = await Promise.allSettled([
      store.transaction((tx) => tx.insertTenant(tenant('before'))),
      store.transaction(async (tx) => {
        await tx.insertTenant(tenant('failing'))
        throw new Error('after the write')
      }),
      store.transaction(async (tx) => {
        await tx.insertTenant(tenant('doubled'))
        await tx.insertTenant(tenant('doubled'))
      }),
      store.transaction((tx) => tx.insertTenant(tenant('after'))),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
    expect(results[1]).toMatchObject({ reason: { message: 'after the write' } })
    expect((await names(store)).sort()).toEqual(['after', 'before'])
  })

  it('takes its whole group along when the disk is full, and the store recovers', async () => {
    const store = openStore()
    await store.transaction((tx) => tx.insertTenant(tenant('a')))
    const writer = Reflect.get(store, 'writer') as Database.Database
    const pages = writer.pragma('page_count', { simple: true }) as number
    const largest = writer.pragma('max_page_count', { simple: true })
    writer.pragma(`max_page_count = ${pages}`)
    const results = await Promise.allSettled(
      Array.from({ length: 200 }, (_, i) =>
        store.transaction((tx) => tx.insertTenant(tenant(`${'long-'.repeat(20)}${i}`))),
      ),
    )
    const failed = results.filter((result) => result.status === 'rejected')
    expect(failed.length).toBeGreaterThan(0)
    for (const { reason } of failed) expect(reason).toBeInstanceOf(StoreUnavailableError)
    const kept = await names(store)
    expect(kept).toHaveLength(1 + results.length - failed.length)
    writer.pragma(`max_page_count = ${largest}`)
    await store.transaction((tx) => tx.insertTenant(tenant('b')))
    expect(await names(store)).toContain('b')
    expect(await store.check()).toEqual([])
  })

  it('reports a broken reference between rows, and writes nothing', async () => {
    const store = openStore()
    await expect(insertUser(store, 'of nobody')).rejects.toThrow(/FOREIGN KEY/)
    expect(await store.read.subject(bytes('of nobody'))).toBeUndefined()
  })
})

describe('a lock that another connection holds', () => {
  it('is waited for, while reads go on', async () => {
    const store = openStore()
    await store.transaction((tx) => tx.insertTenant(tenant('a')))
    const other = connect()
    other.exec('BEGIN IMMEDIATE')
    const writing = store.transaction((tx) => tx.insertTenant(tenant('b')))
    for (let i = 0; i < 3; i++) {
      expect(await names(store)).toEqual(['a'])
      await new Promise((resolve) => setTimeout(resolve, 30))
    }
    other.exec('COMMIT')
    await writing
    expect(await names(store)).toEqual(['a', 'b'])
  })

  it('ends in StoreUnavailableError when it is never let go, and then the store works again', async () => {
    const store = openStore()
    const other = connect()
    other.exec('BEGIN IMMEDIATE')
    const writings = ['a', 'b'].map((name) => store.transaction((tx) => tx.insertTenant(tenant(name))))
    for (const result of await Promise.allSettled(writings))
      expect(result).toMatchObject({ status: 'rejected', reason: expect.any(StoreUnavailableError) })
    other.exec('COMMIT')
    await store.transaction((tx) => tx.insertTenant(tenant('c')))
    expect(await names(store)).toEqual(['c'])
  })

  it('is waited for until the deadline of each transaction, queued ones included', async () => {
    const store = openStore()
    const other = connect()
    other.exec('BEGIN IMMEDIATE')
    const soon = performance.now() + 100
    const patient = store.transaction((tx) => tx.insertTenant(tenant('patient')), soon + 60_000)
    const hurried = store.transaction((tx) => tx.insertTenant(tenant('hurried')), soon)
    await new Promise((resolve) => setTimeout(resolve, 30))
    const queued = store.transaction((tx) => tx.insertTenant(tenant('queued')), soon)
    for (const late of [hurried, queued]) await expect(late).rejects.toThrow(StoreUnavailableError)
    other.exec('COMMIT')
    await patient
    expect(await names(store)).toEqual(['patient'])
  })

  it('does not stop a command from working beside a busy service', async () => {
    const [service, command] = [openStore(), openStore()]
    const load = Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        service.transaction((tx) => tx.insertTenant(tenant(`load-${i}`))).then(() => names(service)),
      ),
    )
    for (let i = 0; i < 20; i++) await command.transaction((tx) => tx.insertTenant(tenant(`command-${i}`)))
    await load
    expect(await names(service)).toHaveLength(220)
  })
})

describe('closing', () => {
  it('finishes what was begun, and refuses what comes after', async () => {
    const store = openStore()
    const begun = store.transaction((tx) => tx.insertTenant(tenant('begun')))
    const closed = store.close()
    await expect(store.transaction((tx) => tx.insertTenant(tenant('late')))).rejects.toBeInstanceOf(
      StoreUnavailableError,
    )
    await begun
    await closed
    await store.close()
    expect(await names(openStore())).toEqual(['begun'])
  })
})

describe('the audit table', () => {
  it('can be neither changed nor shortened through SQL', async () => {
    const store = openStore()
    await store.transaction(async (tx) => {
      await tx.insertTenant(tenant('a'))
      await tx.appendAudit({ tenantId: 'ten_a', sequence: 1, entry: '{}', hash: Buffer.alloc(32) })
    })
    const other = connect()
    expect(() => other.exec("UPDATE audit SET entry = '[]'")).toThrow(/append-only/)
    expect(() => other.exec('DELETE FROM audit')).toThrow(/append-only/)
    expect(await store.read.auditHead('ten_a')).toMatchObject({ sequence: 1, entry: '{}' })
  })

  it('takes no entry twice', async () => {
    const store = openStore()
    await store.transaction((tx) => tx.insertTenant(tenant('a')))
    const append = () =>
      store.transaction((tx) =>
        tx.appendAudit({ tenantId: 'ten_a', sequence: 1, entry: '{}', hash: Buffer.alloc(32) }),
      )
    await append()
    await expect(append()).rejects.toThrow()
    expect(await store.read.auditEntries('ten_a', 0, 10)).toHaveLength(1)
  })
})

describe('expiry', () => {
  it('deletes what its window has closed on, and nothing else', async () => {
    const store = openStore()
    await store.transaction((tx) => tx.insertTenant(tenant('a')))
    await insertUser(store, 'old', 10)
    await insertUser(store, 'new', 11)
    await store.transaction(async (tx) => {
      for (const [id, validUntil] of [
        ['ended', 20],
        ['ending', 21],
        ['current', null],
      ] as const)
        await tx.insertSigningSecret({ id, tenantId: 'ten_a', sealed: bytes('s'), createdAt: 1, validUntil })
      for (const expiresAt of [20, 21])
        await tx.putErasure({
          lookup: bytes(`erased ${expiresAt}`),
          erasureId: `era_${expiresAt}`,
          erasedAt: 1,
          references: 1,
          captures: 0,
          idempotencyRecords: 0,
          expiresAt,
        })
      for (const resolution of ['minute', 'hour'] as const)
        for (const at of [9, 10, 19, 20])
          await tx.putTraffic({ tenantId: 'ten_a', resolution, at, counts: '{}' })
      await tx.deleteExpired(20, 10, { minute: 20, hour: 10 })
    })
    const table = connect()
    const column = (sql: string) => table.prepare(sql).pluck().all()
    expect(column('SELECT id FROM signing_secret ORDER BY id')).toEqual(['current', 'ending'])
    expect(column('SELECT erasure_id FROM erasure')).toEqual(['era_21'])
    expect(column('SELECT subject_id FROM capture')).toEqual(['sub_new'])
    expect(column('SELECT subject_id FROM idempotency')).toEqual(['sub_new'])
    expect(column('SELECT id FROM reference ORDER BY id')).toEqual(['ref_new', 'ref_old'])
    expect(column("SELECT at FROM traffic WHERE resolution = 'minute'")).toEqual([20])
    expect(column("SELECT at FROM traffic WHERE resolution = 'hour' ORDER BY at")).toEqual([10, 19, 20])
  })

  it('hides an expired record before it is purged, and lets a new one take its place', async () => {
    const store = openStore()
    await store.transaction((tx) => tx.insertTenant(tenant('a')))
    await insertUser(store, 'u', 10)
    const scope = bytes('scope of u')
    expect(await store.read.idempotencyRecord(scope, 19)).toMatchObject({ status: 201 })
    expect(await store.read.idempotencyRecord(scope, 20)).toBeUndefined()
    const again = (createdAt: number) =>
      store.transaction((tx) =>
        tx.insertIdempotencyRecord({
          scope,
          lookup: null,
          subjectId: null,
          payloadHash: bytes('other'),
          status: 404,
          sealed: bytes('x'),
          createdAt,
          expiresAt: createdAt + 10,
        }),
      )
    await expect(again(19)).rejects.toThrow('idempotency record exists')
    await again(20)
    expect(await store.read.idempotencyRecord(scope, 20)).toMatchObject({ status: 404 })
  })
})

describe('erasure', () => {
  it('takes key, reference, captures and kept responses, counts them, and leaves others alone', async () => {
    const store = openStore()
    await store.transaction((tx) => tx.insertTenant(tenant('a')))
    await insertUser(store, 'ada')
    await insertUser(store, 'grace')
    const counts = await store.transaction((tx) => tx.eraseSubject(bytes('ada')))
    expect(counts).toEqual({ references: 1, captures: 1, idempotencyRecords: 1 })
    expect(await store.read.subject(bytes('ada'))).toBeUndefined()
    expect(await store.read.subject(bytes('grace'))).toMatchObject({ reference: { id: 'ref_grace' } })
    expect(await store.read.captures('sub_ada', 0, 10)).toEqual([])
    expect(await store.transaction((tx) => tx.eraseSubject(bytes('ada')))).toEqual({
      references: 0,
      captures: 0,
      idempotencyRecords: 0,
    })
  })

  it('leaves none in the write-ahead log once whoever held it has read', async () => {
    const store = openStore()
    await store.transaction((tx) => tx.insertTenant(tenant('a')))
    await insertUser(store, 'ada')
    const other = connect()
    other.exec('BEGIN')
    other.prepare('SELECT * FROM sqlite_schema').all()
    await store.transaction((tx) => tx.eraseSubject(bytes('ada')))
    other.exec('COMMIT')
    await store.transaction((tx) => tx.insertTenant(tenant('b')))
    expect(readFileSync(`${file}-wal`).toString('latin1')).not.toContain('wrapped key of ada')
  })

  it('leaves none in the write-ahead log after a crash that came before it was cut', async () => {
    const store = openStore()
    await store.transaction((tx) => tx.insertTenant(tenant('a')))
    await insertUser(store, 'ada')
    const other = connect()
    other.exec('BEGIN')
    other.prepare('SELECT * FROM sqlite_schema').all()
    await store.transaction((tx) => tx.eraseSubject(bytes('ada')))
    // What a killed process leaves behind.
    const left = join(dir, 'left.db')
    for (const suffix of ['', '-wal']) copyFileSync(`${file}${suffix}`, `${left}${suffix}`)
    expect(readFileSync(`${left}-wal`).toString('latin1')).toContain('wrapped key of ada')
    const again = openStore(left)
    for (const suffix of ['', '-wal'])
      expect(readFileSync(`${left}${suffix}`).toString('latin1')).not.toContain('wrapped key of ada')
    expect(await again.read.subject(bytes('ada'))).toBeUndefined()
  })

  it('leaves no byte of the user in the file', async () => {
    const store = openStore()
    await store.transaction((tx) => tx.insertTenant(tenant('a')))
    await insertUser(store, 'ada')
    await store.transaction((tx) => tx.eraseSubject(bytes('ada')))
    await store.close()
    const text = readFileSync(file).toString('latin1')
    for (const trace of ['wrapped key of ada', 'sealed reference of ada', 'sealed capture of ada', 'sub_ada'])
      expect(text.includes(trace)).toBe(false)
  })
})

describe('backup', () => {
  const [copy, keys, joined] = ['copy.db', 'copy.keys', 'joined.db'] as const
  const at = (name: string) => join(dir, name)

  it('is a whole database as it was at one moment, without the keys of users', async () => {
    const store = openStore()
    await store.transaction((tx) => tx.insertTenant(tenant('a')))
    await insertUser(store, 'ada')
    const writing = Promise.all(
      Array.from({ length: 50 }, (_, i) => store.transaction((tx) => tx.insertTenant(tenant(`late-${i}`)))),
    )
    expect(await store.backup(at(copy), at(keys))).toEqual({ subjects: 1, keptKeysFile: null })
    await writing
    await store.transaction((tx) => tx.insertTenant(tenant('later')))
    expect(readFileSync(at(copy)).includes('wrapped key of ada')).toBe(false)
    expect(readFileSync(at(keys)).includes('wrapped key of ada')).toBe(true)
    expect(() => openStore(at(copy))).toThrow('countersign restore')
    expect(() => openStore(at(keys))).toThrow('another application')

    expect(joinKeys(at(copy), at(keys), at(joined))).toEqual({ subjects: 1, erased: 0 })
    const restored = openStore(at(joined))
    expect(await restored.check()).toEqual([])
    expect(await names(restored)).toContain('a')
    expect(await names(restored)).not.toContain('later')
    expect(await restored.read.subject(bytes('ada'))).toMatchObject({
      subject: { wrappedKey: bytes('wrapped key of ada') },
      reference: { model: 'm@1' },
    })
  })

  it('has lost whoever was erased before the keys were written', async () => {
    const store = openStore()
    await store.transaction((tx) => tx.insertTenant(tenant('a')))
    await insertUser(store, 'ada')
    await insertUser(store, 'eve')
    await store.backup(at(copy), at(keys))
    await store.transaction((tx) => tx.eraseSubject(bytes('ada')))
    await insertUser(store, 'new')
    await store.backup(at('later.db'), at(keys))
    expect(readFileSync(at(keys)).includes('wrapped key of ada')).toBe(false)

    expect(joinKeys(at(copy), at(keys), at(joined))).toEqual({ subjects: 1, erased: 1 })
    expect(readFileSync(at(joined)).includes('sealed reference of ada')).toBe(false)
    const restored = openStore(at(joined))
    expect(await restored.read.subject(bytes('ada'))).toBeUndefined()
    expect(await restored.read.subject(bytes('eve'))).toMatchObject({ reference: { model: 'm@1' } })
    expect(await restored.check()).toEqual([])
  })

  it('keeps the keys from before the working keys changed, which alone open the copies of then', async () => {
    const store = openStore()
    await store.transaction((tx) => tx.insertTenant(tenant('a')))
    await insertUser(store, 'ada')
    const putGeneration = (generation: number) =>
      store.transaction((tx) =>
        tx.putKeyring({ masterKeyId: 'id', sealed: bytes('sealed'), createdAt: 0, generation }),
      )
    await putGeneration(0)
    await store.backup(at(copy), at(keys))
    const before = readFileSync(at(keys))
    await putGeneration(1)
    copyFileSync(at(keys), at(`${keys}.0`))
    const kept = at(`${keys}.0-2`)
    expect(await store.backup(at('later.db'), at(keys))).toEqual({ subjects: 1, keptKeysFile: kept })
    expect(readFileSync(kept)).toEqual(before)
    expect(await store.backup(at('last.db'), at(keys))).toEqual({ subjects: 1, keptKeysFile: null })

    expect(() => joinKeys(at(copy), at(keys), at(joined))).toThrow(`--keys ${at(`${keys}.0`)}.`)
    expect(joinKeys(at(copy), kept, at(joined))).toEqual({ subjects: 1, erased: 0 })
    expect(joinKeys(at('later.db'), at(keys), at(joined))).toEqual({ subjects: 1, erased: 0 })
  })

  it('takes nothing over from an attempt that a power cut ended', async () => {
    const store = openStore()
    await store.transaction((tx) => tx.insertTenant(tenant('a')))
    await insertUser(store, 'ada')
    await store.backup(at(copy), at(keys))
    joinKeys(at(copy), at(keys), at(joined))
    const ended = connect(at(joined))
    ended.pragma('journal_mode = WAL')
    ended.exec(`UPDATE tenant SET name = 'of the ended attempt'`)
    copyFileSync(at(`${joined}-wal`), at('left'))
    ended.close()
    copyFileSync(at('left'), at(`${joined}-wal`))

    joinKeys(at(copy), at(keys), at(joined))
    const restored = openStore(at(joined))
    expect(await names(restored)).toEqual(['a'])
    expect(await restored.check()).toEqual([])
  })

  it('leaves nothing behind when it cannot be put together', async () => {
    const store = openStore()
    await store.transaction((tx) => tx.insertTenant(tenant('a')))
    await insertUser(store, 'ada')
    await store.backup(at(copy), at(keys))
    const codeOf = (keysFile: string | null, file = at(copy)) => {
      try {
        joinKeys(file, keysFile, at(joined))
        return 'joined'
      } catch (error) {
        expect(existsSync(at(joined))).toBe(false)
        return (error as RestoreError).code
      }
    }
    const old = at('old.keys')
    copyFileSync(at(keys), old)
    await store.transaction((tx) => tx.putAuditSeal({ tenantId: 'ten_a', sequence: 7, mac: bytes('mac') }))
    await store.backup(at('later.db'), at(keys))
    const other = SqliteStore.open(at('other.db'))
    await other.transaction((tx) => tx.insertTenant(tenant('b')))
    await other.backup(at('other-copy.db'), at('other.keys'))
    await other.close()
    expect([
      codeOf(null),
      codeOf(at(copy)),
      codeOf(at('other.keys')),
      codeOf(old, at('later.db')),
      codeOf(at(keys), at(keys)),
      codeOf(at(keys)),
    ]).toEqual(['keys_required', 'wrong_keys', 'wrong_keys', 'keys_too_old', 'not_a_backup', 'joined'])
  })
})

describe('keys of a tenant', () => {
  it('end with a grace period or at once, and never later than they would have', async () => {
    const store = openStore()
    const insert = (id: string, type: 'sandbox' | 'production', validUntil: number | null) =>
      store.transaction((tx) =>
        tx.insertApiKey({
          id,
          tenantId: 'ten_a',
          type,
          hash: bytes(id),
          hint: id,
          createdAt: 1,
          validUntil,
          revokedAt: null,
        }),
      )
    await store.transaction((tx) => tx.insertTenant(tenant('a')))
    await insert('forever', 'sandbox', null)
    await insert('soon', 'sandbox', 50)
    await insert('other', 'production', null)
    const end = (how: { revokedAt: number } | { validUntil: number }) =>
      store.transaction((tx) => tx.endApiKeys('ten_a', 'sandbox', how))
    expect(await end({ validUntil: 100 })).toBe(1)
    const key = async (id: string) => (await store.read.apiKeyByHash(bytes(id)))!.key
    expect(await key('forever')).toMatchObject({ validUntil: 100, revokedAt: null })
    expect(await key('soon')).toMatchObject({ validUntil: 50, revokedAt: null })
    expect(await end({ revokedAt: 60 })).toBe(1)
    expect(await key('forever')).toMatchObject({ revokedAt: 60 })
    expect(await key('soon')).toMatchObject({ validUntil: 50, revokedAt: null })
    expect(await key('other')).toMatchObject({ validUntil: null, revokedAt: null })
    await insert('graced', 'sandbox', 200)
    await insert('fresh', 'sandbox', null)
    const endGraces = (at: number) => store.transaction((tx) => tx.endGraces('ten_a', 'sandbox', at))
    expect([await endGraces(70), await endGraces(71)]).toEqual([1, 0])
    expect(await key('graced')).toMatchObject({ revokedAt: 70 })
    expect(await key('fresh')).toMatchObject({ revokedAt: null })
  })
})
