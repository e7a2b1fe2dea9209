/** Kills the real service at random moments under mixed load and checks, after each restart, that nothing acknowledged is lost. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { apiClient } from '../support/client.js'
import { base64, face } from '../support/faces.js'
import { Installation } from './installation.js'
import { type Findings, Lane, type Random } from './lane.js'

export interface CampaignOptions {
  kills: number
  seed: number
  onProgress?: (line: string) => void
}

export interface CampaignReport {
  kills: number
  /** Effects whose success a caller was told of. */
  acknowledged: number
  lost: number
  executed_twice: number
  /** Deliberate crashes of the engine that were survived. */
  native_crashes: number
  /** Everything that was found wrong, in words. */
  problems: string[]
}

const TENANTS = ['acme', 'globex']
const USER_LANES = 3
/** A kill comes this long after the load began: within the first enrolments, or in the middle of everything. */
const KILL_AFTER_MS = { min: 20, max: 700 }
/** Every so many rounds the engine crashes first, under the same load; no caller may notice more than a delay. */
const CRASH_EVERY = 3
/** Far longer than a new engine takes. */
const RECOVERY_PATIENCE_MS = 30_000

export async function runCampaign({ kills, seed, onProgress }: CampaignOptions): Promise<CampaignReport> {
  const random = mulberry32(seed)
  const installation = await Installation.create(join(tmpdir(), 'countersign-test-models'))
  const findings: Findings = {
    acknowledged: 0,
    executed: [],
    recovered: [],
    lost: [],
    executedTwice: [],
    broken: [],
  }
  try {
    const image = base64(await face('ada'))
    let server = await installation.serve()
    const lanes: Lane[] = []
    let key = ''
    for (const name of TENANTS) {
      const tenant = await createTenant(installation, server.sandbox, name)
      key = tenant.key
      for (let index = 0; index < USER_LANES; index++)
        lanes.push(new Lane(`${name}-${index}`, tenant, 'users', image, random, findings))
      lanes.push(new Lane(`${name}-rotation`, tenant, 'rotation', image, random, findings))
    }
    let nativeCrashes = 0
    for (let kill = 1; kill <= kills; kill++) {
      const working = Promise.all(lanes.map((lane) => lane.work(server.production)))
      if (kill % CRASH_EVERY === 0) {
        await sleep(random() * KILL_AFTER_MS.max)
        server.crashEngine()
        nativeCrashes++
        const health = await recovery(server.production, key)
        if (health !== 200) findings.broken.push(`health answers ${health} after a crash of the engine`)
      }
      await sleep(KILL_AFTER_MS.min + random() * (KILL_AFTER_MS.max - KILL_AFTER_MS.min))
      await server.kill()
      await working
      server = await installation.serve()
      await Promise.all(lanes.map((lane) => lane.settle(server.production)))
      checkDatabase(installation.databaseFile, lanes, findings)
      onProgress?.(`${kill}/${kills} kills, ${findings.acknowledged} acknowledged`)
    }
    const code = await server.stop()
    if (code !== 0) findings.broken.push(`serve exited with ${code} at SIGTERM`)
    await installation
      .run('audit', 'verify')
      .catch((error) => findings.broken.push(`audit verify: ${(error as Error).message}`))
    return {
      kills,
      acknowledged: findings.acknowledged,
      lost: findings.lost.length,
      executed_twice: findings.executedTwice.length,
      native_crashes: nativeCrashes,
      problems: [...findings.lost, ...findings.executedTwice, ...findings.broken],
    }
  } finally {
    await installation.dispose()
  }
}

/** What health answers at last when the engine has crashed: 200, as soon as a new one serves. */
async function recovery(base: string, key: string): Promise<number> {
  const giveUpAt = performance.now() + RECOVERY_PATIENCE_MS
  let degraded = false
  for (;;) {
    const { status } = await fetch(`${base}/v1/health`, { headers: { authorization: `Bearer ${key}` } })
    degraded ||= status === 503
    if ((degraded && status === 200) || performance.now() > giveUpAt) return degraded ? status : 0
  }
}

async function createTenant(installation: Installation, sandbox: string, name: string) {
  const created = JSON.parse(await installation.run('tenant', 'create', name, '--json'))
  const client = apiClient(`${sandbox}/v1`, created.sandbox_key)
  const image = base64(await face('ada'))
  const cleared = await client.verify({ user_id: 'first+match', image, action: 'login' })
  if (cleared.body?.production_key !== 'issued') throw new Error(`no production key: ${cleared.text}`)
  const { production_key } = JSON.parse(await installation.run('tenant', 'production-key', name, '--json'))
  return { id: created.tenant_id as string, key: production_key as string }
}

/** With nothing uncertain, the file must hold exactly what the lanes know of. */
function checkDatabase(file: string, lanes: Lane[], findings: Findings): void {
  const database = new Database(file, { readonly: true })
  try {
    const integrity = database.pragma('integrity_check', { simple: true })
    if (integrity !== 'ok') findings.broken.push(`integrity_check: ${integrity}`)
    if ((database.pragma('foreign_key_check') as unknown[]).length > 0)
      findings.broken.push('a foreign key dangles')

    const count = (sql: string) => database.prepare(sql).pluck().get() as number
    const live = lanes.reduce((sum, lane) => sum + lane.liveUsers, 0)
    const subjects = count(`SELECT count(*) FROM subject WHERE environment = 'production'`)
    const references = count(
      `SELECT count(*) FROM reference JOIN subject ON subject.id = subject_id WHERE environment = 'production'`,
    )
    if (subjects !== live || references !== live)
      findings.broken.push(`${live} users are enrolled; found ${subjects} subjects, ${references} references`)
    checkAudit(database, findings)
  } finally {
    database.close()
  }
}

/** Every acknowledged effect stands in the log once, and no enrolment or rotation that no caller asked for. */
function checkAudit(database: Database.Database, findings: Findings): void {
  const rows = database.prepare('SELECT tenant_id AS tenantId, entry FROM audit').all() as Array<{
    tenantId: string
    entry: string
  }>
  const logged = new Map<string, number>()
  const successes = new Map<string, number>()
  const add = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)
  for (const { tenantId, entry } of rows) {
    const { event, request_id, status } = JSON.parse(entry)
    if (status >= 300) continue
    add(logged, request_id)
    add(successes, `${tenantId} ${event}`)
  }
  const expected = new Map<string, number>()
  for (const { tenantId, event, requestId } of findings.executed) {
    add(expected, `${tenantId} ${event}`)
    if (logged.get(requestId) !== 1) findings.lost.push(`${event} ${requestId} is not in the audit log once`)
  }
  for (const { tenantId, event } of findings.recovered) add(expected, `${tenantId} ${event}`)
  for (const [name, times] of successes)
    if (/ (enroll|rotate_signing)$/.test(name) && times !== (expected.get(name) ?? 0))
      findings.executedTwice.push(`${name}: executed ${times} times, asked for ${expected.get(name) ?? 0}`)
}

/** A small seeded generator, so that a campaign can be run again (Tommy Ettinger's mulberry32, public domain). */
function mulberry32(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
