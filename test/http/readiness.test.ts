/** A service that cannot serve: /readyz, /livez, the metrics and the log. */
import { cpSync, readdirSync, statSync, truncateSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { pino } from 'pino'
import { describe, expect, inject, it } from 'vitest'
import {
  DATABASE_LOST_MS,
  ENGINE_GIVEN_UP_MS,
  NOT_READY_REASONS,
  Readiness,
  type ReadinessSources,
} from '../../src/http/readiness.js'
import { poll } from '../support/command.js'
import { base64, face } from '../support/faces.js'
import { sampleOf, scrape } from '../support/metrics.js'
import { isOnPostgres } from '../support/postgres.js'
import { serviceOfTest, type TestService } from '../support/service.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const LIMIT_MS = 120_000

const probe = async ({ service }: TestService, path: string) => {
  const response = await fetch(`${service.adminUrl}${path}`)
  return { status: response.status, body: (await response.json()) as { status: string; reasons?: string[] } }
}
const notReady = (reason: string) => ({
  status: 503,
  body: expect.objectContaining({ status: 'not_ready', reasons: [reason] }),
})
const until = (running: TestService, expected: number) =>
  poll(
    () => probe(running, '/readyz'),
    ({ status }) => status === expected,
  )

describe('the engine', () => {
  it(
    'is not ready while the engine process is lost and its networks do not load, and ready once they do',
    async () => {
      const models = temporaryFolder()
      cpSync(inject('modelsDir'), models, { recursive: true })
      const running = await serviceOfTest({ COUNTERSIGN_MODELS_DIR: models }, { ownEngine: true })
      expect((await probe(running, '/readyz')).status).toBe(200)
      const networks = readdirSync(models, { recursive: true, encoding: 'utf8' }).filter((name) =>
        name.endsWith('.onnx'),
      )
      for (const name of networks) truncateSync(join(models, name), 100)
      process.kill(running.service.engine.health().processId!, 'SIGKILL')
      expect(await until(running, 503)).toEqual(notReady('engine_down'))
      expect((await probe(running, '/livez')).status).toBe(200)
      const metrics = await scrape(running)
      expect(sampleOf(metrics, 'countersign_ready')).toBe(0)
      expect(sampleOf(metrics, 'countersign_not_ready{reason="engine_down"}')).toBe(1)
      expect(sampleOf(metrics, 'countersign_not_ready{reason="engine_hung"}')).toBe(0)
      cpSync(inject('modelsDir'), models, { recursive: true })
      await until(running, 200)
      expect(sampleOf(await scrape(running), 'countersign_ready')).toBe(1)
    },
    LIMIT_MS,
  )

  it(
    'is not ready while the engine process hangs',
    async () => {
      const running = await serviceOfTest({}, { ownEngine: true })
      const { processId } = running.service.engine.health()
      process.kill(processId!, 'SIGSTOP')
      expect(await until(running, 503)).toEqual(notReady('engine_hung'))
      await until(running, 200)
    },
    LIMIT_MS,
  )
})

describe.skipIf(isOnPostgres())('a damaged SQLite database', () => {
  it('answers 503, is not ready and sets the metric while the SQLite database is damaged', async () => {
    const running = await serviceOfTest()
    const tenant = await running.tenant()
    const production = await running.production(tenant)
    const image = base64(await face('ada'))
    expect((await production.enroll({ user_id: 'ada', image })).status).toBe(201)
    await damage(join(running.dataDir, 'countersign.db'), 'audit')
    expect(sampleOf(await scrape(running), 'countersign_store_corrupt')).toBe(0)
    const { status, body } = await production.call('GET', '/v1/audit')
    expect({ status, code: body.code }).toEqual({ status: 503, code: 'store_unavailable' })
    expect(await probe(running, '/readyz')).toEqual(notReady('database_corrupt'))
    const metrics = await scrape(running)
    expect(sampleOf(metrics, 'countersign_store_corrupt')).toBe(1)
    expect(sampleOf(metrics, 'countersign_store_healthy')).toBe(0)
  })
})

/** Overwrites the first page of a table in a database that is served. */
async function damage(file: string, table: string): Promise<void> {
  const database = new Database(file)
  database.pragma('wal_checkpoint(TRUNCATE)')
  const page = database
    .prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?')
    .pluck()
    .get(table) as number
  const size = database.pragma('page_size', { simple: true }) as number
  const handle = await open(file, 'r+')
  await handle.write(Buffer.alloc(size, 0xff), 0, size, (page - 1) * size)
  await handle.close()
  // A change of another connection has everybody read the pages again.
  database.exec('CREATE TABLE IF NOT EXISTS elsewhere (x); DROP TABLE elsewhere')
  database.close()
  expect(statSync(file).size).toBeGreaterThan(0)
}

describe('reasons', () => {
  const sources = (changed: Partial<ReadinessSources> = {}): ReadinessSources => ({
    isStarted: () => true,
    isStopping: () => false,
    engine: () => ({ workers: { ready: 1 }, isSilent: false }),
    isClockRight: () => true,
    areKeysCurrent: () => true,
    isSchemaCurrent: () => true,
    filesState: () => 'as at the start',
    store: {
      coordinator: {},
      presence: { showReadiness: () => {} },
      isCorrupt: false,
      isHealthy: async () => true,
    },
    ...changed,
  })
  const log = pino({ level: 'silent' })

  it('names all reasons for not being ready at once', () => {
    const wrong = new Readiness(
      sources({ isClockRight: () => false, areKeysCurrent: () => false, isSchemaCurrent: () => false }),
      log,
    )
    expect(wrong.reasons).toEqual(['newer_schema', 'wrong_keys', 'wrong_clock'])
    expect(new Readiness(sources({ isStarted: () => false }), log).reasons).toEqual(['starting'])
    expect(new Readiness(sources({ isStopping: () => true }), log).reasons).toEqual(['stopping'])
    expect(new Readiness(sources(), log).reasons).toEqual([])
  })

  it('is not ready after ten seconds without an answer of the database, and stays ready during a failover', async () => {
    let [now, isHealthy] = [0, false]
    const shown: string[][] = []
    const store = {
      coordinator: {},
      presence: { showReadiness: (reasons: readonly string[]) => void shown.push([...reasons]) },
      isCorrupt: false,
      isHealthy: async () => isHealthy,
    }
    const readiness = new Readiness(sources({ store }), log, () => now)
    await readiness.check()
    now += DATABASE_LOST_MS - 1
    await readiness.check()
    expect(readiness.reasons).toEqual([])
    now += 1
    await readiness.check()
    expect(readiness.reasons).toEqual(['database_lost'])
    isHealthy = true
    await readiness.check()
    expect(readiness.reasons).toEqual([])
    expect(shown).toEqual([[], [], ['database_lost'], []])
  })

  it('fails liveness once no worker has been ready for five minutes', async () => {
    let [now, ready] = [0, 0]
    const engine = () => ({ workers: { ready }, isSilent: false })
    const readiness = new Readiness(sources({ engine }), log, () => now)
    await readiness.check()
    now += ENGINE_GIVEN_UP_MS - 1
    expect(readiness.isEngineGivenUp).toBe(false)
    now += 1
    expect(readiness.isEngineGivenUp).toBe(true)
    ready = 1
    await readiness.check()
    expect(readiness.isEngineGivenUp).toBe(false)
  })

  it('stays ready when the files of the process were replaced, and warns of it within a minute, once', async () => {
    let [now, files] = [0, 'old']
    const lines: string[] = []
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
    const readiness = new Readiness(sources({ filesState: () => files }), log, () => now)
    files = 'new'
    await readiness.check()
    expect(readiness.warnings).toEqual([])
    for (let minute = 0; minute < 2; minute++) {
      now += 60_000
      await readiness.check()
    }
    expect({ reasons: readiness.reasons, warnings: readiness.warnings }).toEqual({
      reasons: [],
      warnings: ['files_replaced'],
    })
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
      expect.stringContaining('restart the service'),
    ])
  })

  it('looks at the files at once while the service is not ready', async () => {
    let files = 'old'
    const engine = () => ({ workers: { ready: 0 }, isSilent: false })
    const readiness = new Readiness(sources({ engine, filesState: () => files }), log, () => 0)
    files = 'new'
    await readiness.check()
    expect(readiness.warnings).toEqual(['files_replaced'])
  })

  it('has a metric for each reason from the start, at 0', async () => {
    const running = await serviceOfTest()
    const metrics = await scrape(running)
    expect(sampleOf(metrics, 'countersign_ready')).toBe(1)
    for (const reason of NOT_READY_REASONS)
      expect(sampleOf(metrics, `countersign_not_ready{reason="${reason}"}`)).toBe(0)
  })
})
