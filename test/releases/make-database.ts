/**
 * Makes the database of this release, which later releases must open (upgrade.test.ts). Run as `npm run release:database`,
 * once for each release that changes the schema.
 */

import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { pino } from 'pino'
import { loadConfig } from '../../src/app/configuration.js'
import { Service } from '../../src/app/service.js'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { ManualClock } from '../../src/lib/clock.js'
import { packageFile } from '../../src/lib/package-root.js'
import { VERSION } from '../../src/lib/version.js'
import { buildBaseline } from '../../tools/pack-builders/baseline/build-baseline.js'
import { apiClient } from '../support/client.js'
import { base64, face } from '../support/faces.js'
import { operationsOf } from '../support/operations.js'

const MADE_AT = Date.parse('2026-11-22T00:00:00Z')

/** The content of the database, with which a test compares. Its keys open nothing else. */
export interface ReleaseFacts {
  version: string
  schema: number
  /** Time of all actions, in milliseconds since the Unix epoch. */
  madeAt: number
  masterKey: string
  model: string
  tenant: { id: string; name: string; sandboxKey: string; productionKey: string; auditEntries: number }
  /** The first call with its idempotency key, and its answer. */
  kept: { idempotencyKey: string; request: unknown; response: unknown }
}

const folder = mkdtempSync(join(tmpdir(), 'countersign-release-'))
try {
  await buildBaseline({ outDir: join(folder, 'models', 'baseline') })
  const masterKey = randomBytes(32).toString('base64')
  const config = loadConfig({
    COUNTERSIGN_DATA_DIR: folder,
    COUNTERSIGN_MASTER_KEY: masterKey,
    COUNTERSIGN_MODEL_PACK: 'baseline',
    COUNTERSIGN_ACCEPT_PACK: 'baseline',
    COUNTERSIGN_PRODUCTION_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_SANDBOX_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_ADMIN_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_WORKERS: '1',
  })
  const clock = new ManualClock(MADE_AT)
  const service = await Service.start(config, { clock, log: pino({ level: 'silent' }) })
  const facts = await fill(service, masterKey, clock.now())
  await service.stop()
  const source = new Database(join(folder, 'countersign.db'))
  const schema = source.pragma('user_version', { simple: true }) as number
  const out = packageFile('test', 'releases', `schema-${schema}`)
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out)
  source.prepare('VACUUM INTO ?').run(join(out, 'countersign.db'))
  source.close()
  writeFileSync(join(out, 'facts.json'), `${JSON.stringify({ ...facts, schema }, null, 2)}\n`)
  process.stdout.write(`${out}\n`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function fill(
  service: Service,
  masterKey: string,
  madeAt: number,
): Promise<Omit<ReleaseFacts, 'schema'>> {
  const { store, tenancy, audit } = service.core
  const operations = operationsOf(service)
  const { tenant, sandboxKey } = await operations.tenants.create(
    'acme',
    COMMAND_LINE,
    { ratePerSecond: 100 },
    '',
  )
  const sandbox = apiClient(service.url('sandbox'), sandboxKey)
  const ada = base64(await face('ada'))
  await expectStatus(201, sandbox.enroll({ user_id: 'ada', image: ada }))
  await expectStatus(200, sandbox.verify({ user_id: 'ada', image: ada, action: 'login' }))
  const acme = await tenancy.find('acme')
  const { productionKey } = await operations.keys.revealProduction(acme, COMMAND_LINE)
  const production = apiClient(service.url('production'), productionKey)
  for (const name of ['ada', 'grace'] as const)
    await expectStatus(201, production.enroll({ user_id: name, image: base64(await face(name)) }))
  const request = { user_id: 'ada', image: base64(await face('adaToday')), action: { transfer: 10 } }
  const idempotencyKey = 'kept-by-this-release'
  const headers = { 'X-Svc-Idempotency-Key': idempotencyKey }
  const response = await expectStatus(200, production.verify(request, { headers }))
  await expectStatus(200, production.rotate())
  await expectStatus(200, production.erase('grace'))
  const { entries } = await audit.verify(store.read, tenant.id)
  return {
    version: VERSION,
    madeAt,
    masterKey,
    model: service.engine.pack.modelId,
    tenant: { id: tenant.id, name: tenant.name, sandboxKey, productionKey, auditEntries: entries },
    kept: { idempotencyKey, request, response },
  }
}

async function expectStatus(
  status: number,
  answering: Promise<{ status: number; text: string; body: unknown }>,
): Promise<unknown> {
  const answer = await answering
  if (answer.status !== status) throw new Error(`${answer.status}: ${answer.text}`)
  return answer.body
}
