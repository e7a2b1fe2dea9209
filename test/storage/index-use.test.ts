/** Tests that no statement of calls and of the retention job scans a table, in a database with many rows in each table that grows. */

import { join } from 'node:path'
import Database from 'better-sqlite3'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  capturePageReader,
  capturePageWriter,
  captureSessionWriter,
} from '../../src/features/capture-sessions/capture-tables.js'
import { ownTextReader } from '../../src/features/capture-sessions/consent-texts.js'
import { challengeReader, challengeWriter } from '../../src/features/challenges/table/exports.js'
import { tablesOf } from '../../src/features/index.js'
import { driftWriter } from '../../src/features/insight/drift/drift-table.js'
import { shadowWriter } from '../../src/features/insight/shadow/shadow-table.js'
import { agedReferenceWriter } from '../../src/features/learning-references/aged-references.js'
import { callbackWriter } from '../../src/features/openid/openid-tables.js'
import { approvalReader, approvalWriter } from '../../src/features/policies/approval-table.js'
import { policyReader } from '../../src/features/policies/policy-table.js'
import { retentionReader, retentionWriter } from '../../src/features/policies/retention-statements.js'
import { postgresConnection } from '../../src/features/postgres/store/postgres-connection.js'
import { openPostgresStore } from '../../src/features/postgres/store/postgres-store.js'
import { webhookWriter } from '../../src/features/webhooks/webhook-tables.js'
import type { Connection } from '../../src/storage/connection.js'
import { tablesWith } from '../../src/storage/endings.js'
import { SqliteStore } from '../../src/storage/sqlite/sqlite-store.js'
import { storeTransaction } from '../../src/storage/statements/statements.js'
import { createDatabase, overPostgres } from '../support/postgres.js'
import {
  AT,
  agedReference,
  auditEntry,
  bytes,
  capture,
  captureSession,
  challenge,
  delivery,
  erasure,
  followingReference,
  keptResponse,
  reference,
} from '../support/records.js'
import { temporaryFolder } from '../support/temporary-folder.js'

/** Rows of a table that grows. PostgreSQL scans a smaller one, since that is faster. */
const [ON_SQLITE, ON_POSTGRES] = [10_000, 100_000]
const TENANTS = 200
/** Rows that a statement may read: those of one tenant or user, or a batch of expired rows. */
const MAX_READ = 1500
const LIMIT_MS = 300_000

/** Statements that fill each table, in SQL over the row number `i`; `b(…)` makes bytes of a text, and OWNER is one of the tenants. */
function filling(many: number): string[] {
  const insert = (rows: number, columns: string, values: string) =>
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
      INSERT INTO ${columns} SELECT ${values.replace('OWNER', `'ten_' || (i % ${TENANTS} + 1)`)} FROM n ORDER BY i`
  const each = (columns: string, values: string) => insert(many, columns, values)
  const tenant = 'tenant (id, name, created_at, rate_per_second, burst)'
  const ends = `${AT} + i`
  return [
    insert(TENANTS, tenant, "'ten_' || i, 't' || i, i, 1, 1"),
    `INSERT INTO ${tenant} VALUES ('ten_a', 'a', 1, 1, 1)`,
    each(
      'api_key (id, tenant_id, type, hash, hint, created_at)',
      "'key_' || i, OWNER, 'sandbox', b('hash ' || i), 'abcd', i",
    ),
    insert(
      TENANTS,
      'signing_secret (id, tenant_id, sealed, created_at)',
      "'sec_' || i, 'ten_' || i, b('s'), i",
    ),
    each(
      'subject (id, tenant_id, environment, lookup, wrapped_key, created_at, failures)',
      "'sub_' || i, OWNER, 'production', b('lookup ' || i), b('w'), i, 0",
    ),
    each('reference (id, subject_id, model, sealed, created_at)', "'ref_' || i, 'sub_' || i, 'm', b('s'), i"),
    each(
      'following_reference (id, reference_id, model, sealed, created_at)',
      "'fol_' || i, 'ref_' || i, 'n', b('s'), i",
    ),
    each(
      'aged_reference (id, reference_id, model, sealed, created_at)',
      "'aged_' || i, 'ref_' || i, 'm', b('s'), i",
    ),
    each(
      'own_consent_text (tenant_id, subject_id, sha256, version, language, sealed, first_agreed_at)',
      "OWNER, 'sub_' || i, b('hash ' || (i % 1000)), '1', 'en', b('s'), i",
    ),
    each(
      'capture (subject_id, digest, sealed, seen_at)',
      `'sub_' || (i % ${many / 100} + 1), b('digest ' || i), b('s'), ${ends}`,
    ),
    each(
      'challenge (id, tenant_id, environment, lookup, binding, steps, created_at, expires_at)',
      `'cha_' || i, OWNER, 'production', b('lookup ' || i), b('b'), '[]', i, ${ends}`,
    ),
    each(
      'approval (id, tenant_id, environment, lookup, binding, policy_hash, created_at, expires_at)',
      `'ver_' || i, OWNER, 'production', b('lookup ' || i), b('b'), 'h', i, ${ends}`,
    ),
    each('user_activity (lookup, tenant_id, sealed, used_at)', `b('lookup ' || i), 'ten_7', b('s'), ${ends}`),
    each(
      'idempotency (scope, lookup, payload_hash, status, sealed, created_at, expires_at)',
      `b('scope ' || i), b('lookup ' || i), b('h'), 200, b('s'), i, ${ends}`,
    ),
    each(
      'erasure (lookup, erasure_id, erased_at, reference_count, capture_count, idempotency_count, expires_at)',
      `b('erased ' || i), 'era_' || i, i, 1, 1, 1, ${ends}`,
    ),
    each(
      'audit (tenant_id, sequence, entry, hash)',
      `'ten_a', i, CASE WHEN i % 10 = 0 THEN '{"event":"delete","subject":"' || i || '"}'
        ELSE '{"event":"verify","subject":"' || i || '","verification_id":"ver_' || i || '"}' END, b('h')`,
    ),
    each(
      'sandbox_verification (id, tenant_id, lookup, facts, expires_at)',
      `'ver_' || i, OWNER, b('lookup ' || i), '{}', ${ends}`,
    ),
    insert(1, 'audit_seal (tenant_id, sequence, mac)', `'ten_a', ${many}, b('m')`),
    insert(
      TENANTS,
      'webhook_endpoint (id, tenant_id, environment, url, events, created_at, dropped)',
      "'whe_' || i, 'ten_' || i, 'production', 'https://example.com', '', i, 0",
    ),
    each(
      'webhook_delivery (id, event_id, endpoint_id, tenant_id, type, lookup, status, attempts, created_at, expires_at)',
      `'whd_' || i, 'evt_' || i, 'whe_' || (i % ${TENANTS} + 1), OWNER, 'user.enrolled', b('lookup ' || i), 'delivered', 1, i, ${ends}`,
    ),
    each(
      'capture_session (id, tenant_id, environment, key_id, lookup, purpose, sealed, link, attempts, status, created_at, expires_at)',
      `'cps_' || i, OWNER, 'production', 'key_1', b('lookup ' || i), 'verify', b('s'), b('l'), 0, 'open', i, ${ends}`,
    ),
    each(
      'request_log (request_id, tenant_id, environment, endpoint, status, is_replay, duration_ms, subject)',
      "'request ' || i, OWNER, 'production', 'verify', 200, 0, 1, 'subject ' || i",
    ),
    each(
      'openid_callback (request, tenant_id, session_id, sealed, attempts, next_at, expires_at)',
      "b('request ' || i), OWNER, 'ended_' || i, b('s'), 0, i, i",
    ),
    each('traffic (tenant_id, resolution, at, counts)', "OWNER, 'minute', i, '{}'"),
    each('drift (tenant_id, model, at, counts)', "OWNER, 'm@1', i, '{}'"),
    each('shadow (tenant_id, model, candidate, at, counts)', "OWNER, 'm@1', 'FMR 1e-05', i, '{}'"),
    'ANALYZE',
  ]
}

const fillings = (many: number, bytesOf: (text: string) => string) =>
  filling(many).map((sql) =>
    sql.replaceAll(/\bb\(((?:[^()]|\([^()]*\))*)\)/g, (_, text: string) => bytesOf(text)),
  )

/** Runs the statements of a verify, an enrollment, an erasure, a challenge and the retention job. */
async function work(database: Connection, many: number): Promise<void> {
  const tx = storeTransaction(database, () => {}, tablesWith(tablesOf()))
  const blindIndex = bytes('lookup 7')
  expect(await tx.apiKeyByHash(bytes('hash 7'), AT)).toBeDefined()
  await tx.signingSecrets('ten_7', AT)
  await tx.tenantById('ten_7')
  expect((await tx.subject(blindIndex))?.following).toHaveLength(1)
  expect((await tx.subject(blindIndex))?.aged?.id).toBe('aged_7')
  const { last, newest } = await tx.captureHistory('sub_7', [bytes('one'), bytes('other')], AT, 64)
  expect(newest).toHaveLength(64)
  await tx.standing(blindIndex, last)
  await tx.setLockout('sub_7', { failures: 1, lockedUntil: null, disabledAt: null })
  await tx.insertCapture(capture('new', { subjectId: 'sub_7' }))
  await tx.idempotencyRecord(bytes('scope 7'), AT)
  await tx.responseToPayload(blindIndex, bytes('payload 7'), AT)
  for (const scope of ['scope 1', 'scope of another'])
    await tx.insertIdempotencyRecord(keptResponse(scope, { createdAt: AT + many }))
  expect((await tx.auditHead('ten_a'))?.sequence).toBe(many)
  expect((await tx.auditEnd('ten_a')).head?.sequence).toBe(many)
  await tx.appendAudit(auditEntry(many + 1))
  await tx.putAuditSeal({ tenantId: 'ten_a', sequence: many + 1, mac: bytes('m') })
  await tx.auditEntries('ten_a', many / 2, 100)
  await tx.recentAuditEntries('ten_a', many / 2, 100)
  await tx.auditEntriesOfEvent('ten_a', 'enroll', many / 2, 100)
  await tx.recentAuditEntriesOfEvent('ten_a', 'enroll', many / 2, 100)
  expect(await tx.auditedVerification('ten_a', 'ver_7')).toMatchObject({ isErased: false })
  expect(await tx.sandboxVerification('ten_8', 'ver_7')).toBeDefined()
  const made = { id: 'ver_x', tenantId: 'ten_8', blindIndex: bytes('lookup 7'), facts: '{}', expiresAt: AT }
  await tx.keepSandboxVerification(made, 100)
  await tx.statements(webhookWriter).endpointsOf('ten_7')
  await tx.statements(webhookWriter).countPending('whe_7')
  await tx.statements(webhookWriter).insertDelivery(delivery('new', 'whe_7', { tenantId: 'ten_7' }))
  const template = followingReference('new', { referenceId: 'ref_7' })
  await tx.putFollowingReference(template, { tenantId: 'ten_7', models: '{}' })
  expect(await tx.putFollowingReference(template)).toBe(true)
  const aged = agedReference('new', { referenceId: 'ref_7', model: 'm' })
  const agedReferences = tx.statements(agedReferenceWriter)
  expect(await agedReferences.put(aged, 'aged_7')).toBe(true)
  await agedReferences.put(aged, null)
  await agedReferences.delete('ten_7', 'sub_7')
  await tx.replaceTemplate({ id: 'ref_7', model: 'n', sealed: bytes('s') })
  await tx.putReference(reference('new', { subjectId: 'sub_7' }))
  await tx.statements(challengeReader).find('cha_7')
  await tx.statements(challengeWriter).insert(challenge('new', { tenantId: 'ten_7' }))
  await tx.statements(challengeWriter).use('cha_7', AT)
  expect(await tx.statements(approvalReader).one('ver_7')).toBeDefined()
  await tx.statements(approvalWriter).use(AT, 'ver_7')
  await tx.statements(policyReader).hashInForce('ten_7', 'production')
  expect(await tx.statements(retentionReader).unused('ten_7', AT + many / 2, 50)).toHaveLength(50)
  await tx.statements(retentionWriter).setNotice(AT, bytes('lookup 9'))
  expect(await tx.statements(retentionReader).noticed('ten_7', AT, 50)).toHaveLength(1)
  const use = { blindIndex, tenantId: 'ten_7', sealed: bytes('s'), usedAt: AT, unlessSince: AT }
  await tx.statements(retentionWriter).noteUse(use)
  await tx.activity(blindIndex)
  await tx.statements(retentionReader).since('ten_7')
  await tx.statements(policyReader).version('ten_7', 'h')
  const callbacks = tx.statements(callbackWriter)
  const [due] = await callbacks.due(AT, 20)
  expect(await callbacks.insert({ ...due!, request: bytes('request new') })).toBe(true)
  expect(await callbacks.take(due!, AT)).toBe(true)
  await callbacks.setNext({ ...due!, attempts: 1 }, null)
  const drift = tx.statements(driftWriter)
  expect((await drift.newest('ten_7', 'm@1'))?.tenantId).toBe('ten_7')
  const counted = { tenantId: 'ten_7', model: 'm@1', at: 6, counts: '{}', blocks: '[]' }
  await drift.at('ten_7', 'm@1', 6)
  await drift.put(counted)
  const shadowed = { tenantId: 'ten_7', model: 'm@1', candidate: 'FMR 1e-05', at: 6 }
  await tx.statements(shadowWriter).at(shadowed)
  await tx.statements(shadowWriter).put({ ...shadowed, counts: '{}' })
  const sessions = tx.statements(captureSessionWriter)
  await sessions.one('cps_7')
  await sessions.unreportedExpired(AT, 100)
  await sessions.put(captureSession('cps_7', { tenantId: 'ten_7' }))
  expect((await tx.statements(ownTextReader).first('ten_7', bytes('hash 6')))?.subject.id).toBe('sub_6')
  expect(await tx.ownConsentTextsOf('sub_7')).toHaveLength(1)
  await tx.statements(capturePageReader).logo('ten_7')
  await tx.statements(capturePageWriter).putLogo({ tenantId: 'ten_7', sha256: bytes('s'), image: bytes('i') })
  await tx.statements(capturePageWriter).deleteLogo('ten_7')
  await tx.erasure(bytes('erased 7'), AT)
  expect(await tx.eraseSubject(bytes('lookup 8'))).toMatchObject({ references: 3, captures: 100 })
  await tx.putErasure(erasure('lookup 8'))
  expect(await tx.deleteExpired(AT + many / 2)).toBe(true)
  expect(await tx.deleteLeftByTenants()).toBe(false)
}

interface Asked {
  sql: string
  parameters: unknown[]
}

describe('over sqlite', () => {
  /** Small tables without erased users, which the retention job may scan once a minute, and what the parts of `captureHistory` have found. */
  const SMALL =
    /^SCAN (?:tenant|login_link|dashboard_session|person_link|signing_secret|verdict_key|openid_key|seen|newest)\b/

  /** An endpoint of a deleted tenant, if one is left, takes its deliveries along by a foreign key without an index of its own. */
  const RARE = /^SCAN webhook_delivery: .*\bDELETE FROM webhook_endpoint\b/s

  it('no statement scans a large table', { timeout: LIMIT_MS }, async () => {
    const file = join(temporaryFolder(), 'countersign.db')
    await SqliteStore.open(file, { tables: tablesOf() }).close()
    const database = new Database(file)
    onTestFinished(() => void database.close())
    for (const insert of fillings(ON_SQLITE, (text) => `CAST(${text} AS BLOB)`)) database.exec(insert)
    const asked: Asked[] = []
    const recording = {
      prepare(sql: string) {
        const statement = database.prepare(sql)
        const noted =
          (method: 'get' | 'all' | 'run') =>
          (...parameters: unknown[]) => {
            asked.push({ sql, parameters })
            return statement[method](...parameters)
          }
        return { get: noted('get'), all: noted('all'), run: noted('run') }
      },
    }
    await work(recording as Connection, ON_SQLITE)
    expect(asked.length).toBeGreaterThan(40)
    const looks = asked.flatMap(({ sql, parameters }) =>
      (database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as Array<{ detail: string }>)
        .filter(
          ({ detail }) => detail.startsWith('SCAN') && !SMALL.test(detail) && !/CONSTANT ROW/.test(detail),
        )
        .map(({ detail }) => `${detail}: ${sql}`)
        .filter((look) => !RARE.test(look)),
    )
    expect(looks).toEqual([])
  })
})

overPostgres(() => {
  interface Plan {
    'Node Type': string
    'Relation Name'?: string
    'Actual Rows': number
    'Actual Loops': number
    'Rows Removed by Filter'?: number
    'Rows Removed by Index Recheck'?: number
    Plans?: Plan[]
  }
  const scans = (plan: Plan): Plan[] => [
    ...(plan['Node Type'].includes('Scan') ? [plan] : []),
    ...(plan.Plans ?? []).flatMap(scans),
  ]
  const rowsRead = (scan: Plan) =>
    (scan['Actual Rows'] +
      (scan['Rows Removed by Filter'] ?? 0) +
      (scan['Rows Removed by Index Recheck'] ?? 0)) *
    scan['Actual Loops']
  const literal = (value: unknown) => {
    if (value === null) return 'NULL'
    if (Buffer.isBuffer(value)) return `'\\x${value.toString('hex')}'`
    return pg.escapeLiteral(String(value))
  }

  it('no statement reads more rows than it needs, under a custom or a generic plan', {
    timeout: LIMIT_MS,
  }, async () => {
    const database = await createDatabase()
    await (await openPostgresStore(database.url, { tables: tablesOf() })).close()
    const client = new pg.Client(database.url)
    client.setTypeParser(pg.types.builtins.INT8, Number)
    await client.connect()
    try {
      // Triggers would take a minute, and this test does not need them.
      await client.query('SET session_replication_role = replica')
      for (const insert of fillings(ON_POSTGRES, (text) => `convert_to(${text}, 'UTF8')`))
        await client.query(insert)
      await client.query('SET session_replication_role = origin')
      const asked: Asked[] = []
      const recording = postgresConnection((query) => {
        asked.push({ sql: query.text, parameters: query.values! })
        return client.query(query)
      })
      await client.query('BEGIN')
      await work(recording, ON_POSTGRES)
      await client.query('ROLLBACK')
      expect(asked.length).toBeGreaterThan(40)
      const looks: string[] = []
      for (const kind of ['custom', 'generic']) {
        await client.query(`BEGIN; SET LOCAL plan_cache_mode = force_${kind}_plan`)
        // Runs the statements once more in the same order.
        for (const [i, { sql, parameters }] of asked.entries()) {
          await client.query(`PREPARE ${kind}_${i} AS ${sql}`)
          const values = parameters.length > 0 ? `(${parameters.map(literal).join(', ')})` : ''
          const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE ${kind}_${i}${values}`)
          for (const scan of scans(rows[0]['QUERY PLAN'][0].Plan))
            if (rowsRead(scan) > MAX_READ)
              looks.push(
                `${kind}: ${scan['Node Type']} of ${rowsRead(scan)} ${scan['Relation Name']}: ${sql}`,
              )
        }
        await client.query('ROLLBACK')
      }
      expect(looks).toEqual([])
    } finally {
      await client.end()
      await database.drop()
    }
  })
})
