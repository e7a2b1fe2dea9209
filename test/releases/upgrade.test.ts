/** Databases of earlier releases: this release opens each with all of its content, and no older release opens them then. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { loadConfig } from '../../src/app/configuration.js'
import { Service } from '../../src/app/service.js'
import type { Config } from '../../src/config/config.js'
import { canonicalJson } from '../../src/contract/canonical-json.js'
import { actionHash } from '../../src/crypto/verification-jwt.js'
import { tablesOf } from '../../src/features/index.js'
import { ManualClock } from '../../src/lib/clock.js'
import { packageFile } from '../../src/lib/package-root.js'
import { SqliteStore } from '../../src/storage/sqlite/sqlite-store.js'
import { apiClient } from '../support/client.js'
import { base64, face } from '../support/faces.js'
import type { ReleaseFacts } from './make-database.js'

const RELEASES = packageFile('test', 'releases')
const kept = readdirSync(RELEASES).filter((name) => name.startsWith('schema-'))

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-upgrade-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** Copies only the database, as an operator brings it along. */
function bring(release: string): { facts: ReleaseFacts; config: Config } {
  cpSync(join(RELEASES, release, 'countersign.db'), join(dir, 'countersign.db'))
  const facts: ReleaseFacts = JSON.parse(readFileSync(join(RELEASES, release, 'facts.json'), 'utf8'))
  const config = loadConfig({
    COUNTERSIGN_DATA_DIR: dir,
    COUNTERSIGN_MASTER_KEY: facts.masterKey,
    COUNTERSIGN_MODELS_DIR: inject('modelsDir'),
    COUNTERSIGN_MODEL_PACK: 'baseline',
    COUNTERSIGN_ACCEPT_PACK: 'baseline',
    COUNTERSIGN_PRODUCTION_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_SANDBOX_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_ADMIN_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_WORKERS: '1',
  })
  return { facts, config }
}

/** Tables, indexes and triggers. The order of a table's columns, blanks and comments mean nothing. */
function schemaOf(file: string) {
  const database = new Database(file, { readonly: true })
  const all = <T extends { name: string }>(sql: string) => database.prepare<[], T>(sql).all()
  const tables = all("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
  const schema = {
    tables: tables.map(({ name }) => ({
      name,
      isClustered: all<{ name: string; wr: number }>(`PRAGMA table_list(${name})`)[0]!.wr,
      columns: all<{ name: string; cid: number }>(`SELECT * FROM pragma_table_xinfo('${name}') ORDER BY name`)
        // The order of columns is that in which they came.
        .map(({ cid: _, ...column }) => column),
      references: database
        .prepare(
          `SELECT "from", "table", "to", on_delete FROM pragma_foreign_key_list('${name}') ORDER BY "from"`,
        )
        .all(),
      checks: checksOf(database, name),
    })),
    others: database
      .prepare(
        "SELECT name, sql FROM sqlite_schema WHERE type <> 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
      )
      .all(),
  }
  database.close()
  return JSON.parse(JSON.stringify(schema).replace(/(\\n|\s)+/g, ' '))
}

function checksOf(database: Database.Database, name: string): string[] {
  const sql = database
    .prepare<[string], string>('SELECT sql FROM sqlite_schema WHERE name = ?')
    .pluck()
    .get(name)!
  return [...sql.matchAll(/CHECK \(.*?\)\)/g)].map(([check]) => check).sort()
}

it('there is a database of an earlier release', () => {
  expect(kept.length).toBeGreaterThan(0)
})

describe.each(kept)('the database of a release with %s', (release) => {
  it('serves with this release: keys, references, kept answers, receipts and logs are there', async () => {
    const { facts, config } = bring(release)
    const clock = new ManualClock(facts.madeAt)
    // The earlier release has seen this photo.
    const service = await Service.start(
      { ...config, replayPolicy: 'report' },
      { clock, log: pino({ level: 'silent' }) },
    )
    try {
      const { tenant } = facts
      const sandbox = apiClient(service.url('sandbox'), tenant.sandboxKey)
      const production = apiClient(service.url('production'), tenant.productionKey)
      expect((await sandbox.health()).status).toBe(200)

      const headers = { 'X-Svc-Idempotency-Key': facts.kept.idempotencyKey }
      const replayed = await production.verify(facts.kept.request as Record<string, unknown>, { headers })
      expect(replayed.headers.get('x-svc-idempotent-replay')).toBe('true')
      expect(replayed.body).toEqual(facts.kept.response)

      const verified = await production.verify({
        user_id: 'ada',
        image: base64(await face('ada')),
        action: 'upgrade',
      })
      // The database does not contain the pack: with another pack, its references must be enrolled again.
      if (service.engine.pack.modelId === facts.model)
        expect(verified.body).toMatchObject({ verdict: 'approved', jwt_next: expect.any(String) })
      else expect(verified.body).toMatchObject({ code: 'reference_model_mismatch' })

      const { verification_id, verdict, score } = facts.kept.response as Record<string, string>
      const asked = facts.kept.request as { user_id: string; action: object }
      const lookUp = (query = '') => production.call('GET', `/v1/verifications/${verification_id}${query}`)
      expect((await lookUp()).body).toMatchObject({ verdict, score, user_id: null, acr: null })
      const hash = actionHash(canonicalJson(asked.action))
      const known = await lookUp(`?user_id=${asked.user_id}&action_hash=${hash}`)
      expect(known.body).toMatchObject({ user_id: 'ada', action_matches: true })

      expect((await production.erase('grace')).body).toMatchObject({ status: 'erased' })
      expect((await production.erase('ada')).body).toMatchObject({ erased: { references: 1 } })

      expect((await lookUp()).body).toMatchObject({ code: 'verification_not_found' })

      const { audit, store } = service.core
      const { entries, brokenAt } = await audit.verify(store.read, tenant.id)
      expect(brokenAt).toBeNull()
      expect(entries).toBeGreaterThan(tenant.auditEntries)
      expect(await store.check()).toEqual([])
    } finally {
      await service.stop()
    }
  })

  it('has the schema of a new database afterwards', () => {
    const { config } = bring(release)
    const upgraded = join(config.dataDir, 'countersign.db')
    SqliteStore.open(upgraded, { migrating: true, tables: tablesOf() }).close()
    const made = join(dir, 'new.db')
    SqliteStore.open(made, { tables: tablesOf() }).close()
    expect(schemaOf(upgraded)).toEqual(schemaOf(made))
  })

  it('is refused unchanged by an older release, with what to do', () => {
    const { config } = bring(release)
    const file = join(config.dataDir, 'countersign.db')
    const newer = 1000
    const database = new Database(file)
    database.pragma(`user_version = ${newer}`)
    database.close()
    const before = readFileSync(file)
    expect(() => SqliteStore.open(file)).toThrow(
      /has schema 1000, made by a newer Countersign; this one knows schema \d+. Start the newer version again, or restore a backup from before the upgrade/,
    )
    expect(readFileSync(file).equals(before)).toBe(true)
  })
})
