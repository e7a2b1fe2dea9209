/** A database with something of everything that a service keeps, and looking at it past our own code: for what copies databases. */

import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { expect } from 'vitest'
import { accountWriter } from '../../src/admin/accounts/account-statements.js'
import { loadConfig } from '../../src/app/configuration.js'
import { openCore } from '../../src/app/core.js'
import {
  capturePageWriter,
  captureSessionWriter,
} from '../../src/features/capture-sessions/capture-tables.js'
import { tablesOf } from '../../src/features/index.js'
import { shadowWriter } from '../../src/features/insight/shadow/shadow-table.js'
import { agedReferenceWriter } from '../../src/features/learning-references/aged-references.js'
import {
  callbackWriter,
  OPENID_KEYS,
  openIdClientWriter,
  openIdStateWriter,
} from '../../src/features/openid/openid-tables.js'
import { passkeyWriter } from '../../src/features/passkeys/passkey-table.js'
import { approvalWriter } from '../../src/features/policies/approval-table.js'
import { policyWriter } from '../../src/features/policies/policy-table.js'
import { retentionWriter } from '../../src/features/policies/retention-statements.js'
import { SqliteStore } from '../../src/storage/sqlite/sqlite-store.js'
import { apiClient } from './client.js'
import type { ServerProcess, Workplace } from './command.js'
import { base64, face } from './faces.js'
import { TABLES_OF_POSTGRES, type TestDatabase } from './postgres.js'
import {
  agedReference,
  captureSession,
  followingReference,
  insertUser,
  operator,
  session,
  tenant,
} from './records.js'

/** Bytes that a copy by way of a text would change. */
const BYTES = Buffer.from([0, 255, 92, 39])
const LATER = 1_790_000_000_001
/** Several pages of a long table. */
export const ENTRIES = 5000

export interface Populated {
  sandboxKey: string
  productionKey: string
  image: string
  /** The answer to a request with an idempotency key. */
  kept: { key: string; request: Record<string, unknown>; text: string }
}

export function changeSqlite(file: string, statement: string): void {
  const database = new Database(file)
  database.exec(statement)
  database.close()
}

/** Entries as the service writes them, up to ENTRIES in all. */
export async function lengthenLog({ dataDir }: Workplace, file: string): Promise<void> {
  const { store, audit } = await openCore(
    loadConfig({ COUNTERSIGN_DATA_DIR: dataDir, COUNTERSIGN_DATABASE: `sqlite:${file}` }),
  )
  const { id } = (await store.read.tenantByName('acme'))!
  const { sequence } = (await store.read.auditHead(id))!
  await store.transaction('installation', async (tx) => {
    for (let i = sequence; i < ENTRIES; i++)
      await audit.append(tx, id, { event: 'verify', status: 200, actor: 'key_a', request_id: null })
  })
  await store.close()
}

export function schemaOf(file: string): unknown[] {
  const database = new Database(file, { readonly: true })
  try {
    return [
      database.pragma('application_id'),
      database.pragma('user_version'),
      database.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name').all(),
    ]
  } finally {
    database.close()
  }
}

/** A service with a tenant and all that it can have; what only comes about elsewhere is put there afterwards. */
export async function populate(place: Workplace): Promise<Populated> {
  const server = await place.serve()
  const run = async (...args: string[]) => {
    const { code, json, stderr } = await place.run([...args, '--json'])
    expect({ args, code, stderr: code === 0 ? '' : stderr }).toEqual({ args, code: 0, stderr: '' })
    return json
  }
  const image = base64(await face('ada'))
  const { sandbox_key: sandboxKey } = await run('tenant', 'create', 'acme', '--rate-limit', '1000/s')
  const sandbox = apiClient(`${server.sandbox}/v1`, sandboxKey)
  await run('webhook', 'add', 'acme', 'http://127.0.0.1:9/', '--sandbox')
  await run('webhook', 'add', 'acme', 'http://127.0.0.1:9/')
  expect((await sandbox.enroll({ user_id: 'ada', image })).status).toBe(201)
  const verified = await sandbox.verify({ user_id: 'ada', image, action: 'login' })
  expect(verified.body).toMatchObject({ verdict: 'approved', production_key: 'issued' })
  const { production_key: productionKey } = await run('tenant', 'production-key', 'acme')
  const production = apiClient(`${server.production}/v1`, productionKey)
  const kept = { key: 'a-key-of-the-test', request: { user_id: 'ada', image }, text: '' }
  const enrolled = await production.enroll(kept.request, { headers: { 'X-Svc-Idempotency-Key': kept.key } })
  expect(enrolled.status).toBe(201)
  kept.text = enrolled.text
  const other = base64(await face('grace'))
  expect((await production.enroll({ user_id: 'grace', image: other })).status).toBe(201)
  expect((await production.verify({ user_id: 'grace', image, action: 'login' })).body.verdict).toBe(
    'rejected',
  )
  for (const client of [sandbox, production]) {
    expect((await client.enroll({ user_id: 'gone', image: other })).status).toBe(201)
    expect((await client.erase('gone')).status).toBe(200)
    expect((await client.call('POST', '/v1/challenges', { user_id: 'ada', action: 'login' })).status).toBe(
      201,
    )
  }
  await run('tenant', 'rotate-signing', 'acme')
  await run('tenant', 'login-link', 'acme')
  await run('operator', 'add', 'olga', '--role', 'viewer')
  await run('backup', place.path('copy.db'))
  await stop(server)
  const store = SqliteStore.open(place.path('countersign.db'), { tables: tablesOf() })
  await store.transaction('installation', async (tx) => {
    await tx.insertTenant(tenant('a', { fmr: 1e-5, ratePerSecond: 0.1, suspendedAt: 1, driftSince: LATER }))
    const accounts = tx.statements(accountWriter)
    const page = tx.statements(capturePageWriter)
    const retention = tx.statements(retentionWriter)
    await insertUser(tx, 'eve')
    await tx.statements(passkeyWriter).insert({
      ...{ id: 'psk_a', subjectId: 'sub_eve', lookup: BYTES },
      ...{ sealed: BYTES, createdAt: LATER, lastUsedAt: null },
    })
    await tx.putFollowingReference(followingReference('eve', { sealed: BYTES }))
    await tx.statements(agedReferenceWriter).put(agedReference('eve', { sealed: BYTES }), null)
    await tx.putModelMigration({
      ...{ from: 'm@1', to: 'm@2', startedAt: LATER, strictFmr: 1e-6, atCoverage: 0.95 },
      ...{ atTime: 1_890_000_000_001, finishingAt: LATER },
    })
    const openIdRow = { sealed: BYTES, environment: 'sandbox' as const }
    await tx.statements(OPENID_KEYS.writer).insert({
      ...{ ...openIdRow, id: 'oik_a', publishedAt: LATER },
      ...{ signsFrom: LATER, goneAt: null },
    })
    await tx.statements(openIdClientWriter).put({
      ...{ ...openIdRow, id: 'oic_a', tenantId: 'ten_a', keyId: 'key_a', createdAt: LATER },
    })
    await tx.statements(openIdStateWriter).put({
      ...{ lookup: BYTES, blindIndex: Buffer.from([1]), grantId: null },
      ...{ sealed: BYTES, expiresAt: 1_990_000_000_001, usedAt: null },
    })
    await tx.statements(callbackWriter).insert({
      ...{ request: BYTES, tenantId: 'ten_a', sessionId: 'cap_open', attempts: 2 },
      blindIndex: BYTES,
      ...{ sealed: BYTES, nextAt: null, expiresAt: 1_990_000_000_001 },
    })
    await tx.statements(shadowWriter).put({
      ...{ tenantId: 'ten_a', model: 'm@1', candidate: 'm@2, FMR 0.00001', at: LATER },
      counts: '{"outcomes":{"approved no_match":1}}',
    })
    await tx.setTenantModels('ten_a', '{"deciding":"m@1","following":null}')
    await tx.setLockout('sub_eve', { failures: 7, lockedUntil: LATER, disabledAt: null })
    await tx.statements(captureSessionWriter).put(captureSession('open', { link: BYTES }))
    await page.keepText({
      ...{ tenantId: 'ten_a', sha256: BYTES, version: "1'", language: 'ja' },
      ...{ text: 'We compare your face.\n顔を照合します。', firstAgreedAt: LATER },
    })
    await tx.keepOwnConsentText({
      ...{ tenantId: 'ten_a', subjectId: 'sub_eve', sha256: BYTES, version: "1'" },
      ...{ language: 'ja', sealed: BYTES, firstAgreedAt: LATER },
    })
    await page.putLogo({
      ...{ tenantId: 'ten_a', sha256: BYTES, image: BYTES },
    })
    await tx.statements(policyWriter).keep({
      ...{ tenantId: 'ten_a', hash: 'a'.repeat(64), policy: '{"rules":[]}', firstSetAt: LATER },
    })
    await tx.statements(policyWriter).putInForce('ten_a', 'production', 'a'.repeat(64))
    await tx.statements(approvalWriter).insert({
      ...{ id: 'ver_a', tenantId: 'ten_a', environment: 'production', blindIndex: BYTES },
      ...{ binding: BYTES, policyHash: 'a'.repeat(64) },
      ...{ createdAt: LATER, expiresAt: 1_890_000_000_001, usedAt: null },
    })
    const unused = { blindIndex: BYTES, tenantId: 'ten_a', sealed: BYTES, usedAt: LATER, unlessSince: 0 }
    await retention.noteUse(unused)
    await retention.setSince({ tenantId: 'ten_a', since: LATER })
    await tx.putAuditVerification({ state: '{"at":null}', mac: BYTES })
    await accounts.putPerson(operator('pia', { id: 'per_pia', tenantId: 'ten_a', passwordHash: null }))
    const ofPia = session('hash of a session of pia', { personId: 'per_pia' })
    for (const one of [session('hash of a session'), ofPia]) await accounts.insertDashboardSession(one)
    await accounts.putSecondFactor({
      ...{ id: 'operator', sealed: BYTES, recovery: '["a"]', lastStep: 59_666_666, enrolledAt: LATER },
    })
    const link = { hash: BYTES, tenantId: null, personId: null, expiresAt: 4e12 }
    await accounts.insertPersonLink(link, 0)
    await accounts.insertPersonLink(
      { ...link, hash: Buffer.from([1, 255, 92, 39]), tenantId: 'ten_a', personId: 'per_pia' },
      0,
    )
  })
  await store.close()
  return { sandboxKey, productionKey, image, kept }
}

export async function stop(server: ServerProcess): Promise<void> {
  server.signal('SIGTERM')
  expect(await server.exited).toMatchObject({ code: 0 })
}

/** SHA-256 of each existing file of a SQLite database, by the suffix of its name. */
export function filesBeside(file: string): Record<string, string> {
  return Object.fromEntries(
    ['', '-wal', '-shm', '-journal']
      .filter((suffix) => existsSync(file + suffix))
      .map((suffix) => [
        suffix,
        createHash('sha256')
          .update(readFileSync(file + suffix))
          .digest('hex'),
      ]),
  )
}

/** Every row as text, by table; read as another program would. */
export type Dump = Record<string, string[]>

const rowText = (row: Record<string, unknown>) =>
  JSON.stringify(
    Object.entries(row)
      .map(([column, value]) => [column, Buffer.isBuffer(value) ? value.toString('hex') : value])
      .sort(([one], [other]) => (`${one}` < `${other}` ? -1 : 1)),
  )

export function dumpSqlite(file: string): Dump {
  const database = new Database(file, { readonly: true })
  try {
    const names = database
      .prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table'`)
      .pluck()
      .all()
    return Object.fromEntries(
      names.sort().map((name) => {
        const columns = name === 'capture' ? 'rowid AS rowid, *' : '*'
        const rows = database.prepare<[], Record<string, unknown>>(`SELECT ${columns} FROM ${name}`).all()
        return [name, rows.map(rowText).sort()]
      }),
    )
  } finally {
    database.close()
  }
}

export async function dumpPostgres({ query }: Pick<TestDatabase, 'query'>): Promise<Dump> {
  const tables = await query(`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`)
  const dump: Dump = {}
  for (const { name } of tables.filter(({ name }) => !TABLES_OF_POSTGRES.includes(name as string))) {
    const [{ columns }] = (await query(
      `SELECT string_agg(attname || CASE WHEN format_type(atttypid, NULL) = 'bigint' THEN '::float8' ELSE '' END, ', ') AS columns
       FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped`,
      [name],
    )) as [{ columns: string }]
    dump[name as string] = (await query(`SELECT ${columns} FROM ${name}`)).map(rowText).sort()
  }
  return dump
}
