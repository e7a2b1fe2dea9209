/** The walk through all audit logs that the service makes in the background. */
import { pino } from 'pino'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { AuditVerification, auditVerificationStatus } from '../../src/jobs/audit-verification.js'
import { DAY_MS } from '../../src/lib/clock.js'
import { sampleOf, scrape } from '../support/metrics.js'
import { isOnPostgres } from '../support/postgres.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'

const ENTRIES = 250

let running: TestService
let tenant: TestTenant
let lines: string[]
beforeEach(async () => {
  running = await startService()
  tenant = await running.tenant()
  lines = []
  const { audit, store } = running.service.core
  for (let i = 0; i < ENTRIES; i++)
    await store.transaction('installation', (tx) =>
      audit.append(tx, tenant.id, { event: 'verify', actor: 'key', request_id: null, status: 200 }),
    )
})
afterEach(() => running?.stop())

const term = { id: 'term', signal: new AbortController().signal }
/** @param hasDuty asked before the walk and after each page of 100 entries */
const walk = (hasDuty: () => boolean = () => true) => {
  const { core, clock } = running.service
  const log = pino({ base: null }, { write: (line: string) => void lines.push(line) })
  return new AuditVerification(
    { ...core, clock, log, leaderLease: { current: () => (hasDuty() ? term : null) } },
    0,
  )
}
const status = () => auditVerificationStatus(running.service.core.store, running.service.core.audit)
const tamper = async (statement: string) => {
  if (isOnPostgres()) await running.database.query(`SET session_replication_role = replica; ${statement}`)
  else {
    await running.database.query('DROP TRIGGER IF EXISTS audit_no_update')
    await running.database.query(statement)
  }
}
const changeEntry = (sequence: number) =>
  tamper(
    `UPDATE audit SET entry = replace(entry, '200', '201') WHERE tenant_id = '${tenant.id}' AND sequence = ${sequence}`,
  )

it('audit verification reports an entry that was changed far from the end in metrics and once in the log', async () => {
  await walk().now()
  expect(await status()).toEqual({ completedAt: running.clock.now(), broken: [] })
  await changeEntry(30)
  // The next walk is due a day later.
  await walk().now()
  expect((await status()).broken).toEqual([])
  for (let day = 1; day <= 2; day++) {
    running.clock.advance(DAY_MS)
    await walk().now()
  }
  expect(await status()).toEqual({
    completedAt: running.clock.now(),
    broken: [{ tenantId: tenant.id, brokenAt: 30 }],
  })
  expect(lines.filter((line) => line.includes('was changed in the database'))).toHaveLength(1)
  const metrics = await scrape(running)
  expect(sampleOf(metrics, 'countersign_audit_broken_logs')).toBe(1)
  const listed = async (one: TestTenant) =>
    (await (await running.production(one)).call('GET', '/v1/audit')).body.broken_sequence
  expect(await listed(tenant)).toBe(30)
  expect(await listed(await running.tenant())).toBeNull()
  expect(sampleOf(metrics, 'countersign_audit_verified_timestamp_seconds')).toBe(running.clock.now() / 1000)
})

it('audit verification goes on where another service stopped, and ignores progress that was changed in the database', async () => {
  let asked = 0
  await walk(() => ++asked < 3).now()
  expect((await status()).completedAt).toBeNull()
  // Behind the place where the first one stopped: one that goes on does not come here again.
  await changeEntry(30)
  await walk().now()
  expect(await status()).toEqual({ completedAt: running.clock.now(), broken: [] })
  const [{ state } = { state: '' }] = await running.database.query('SELECT state FROM audit_walk')
  const forged = String(state).replace('"began_at":', '"began_at":1')
  await tamper(`UPDATE audit_walk SET state = '${forged}'`)
  await walk().now()
  expect((await status()).broken).toEqual([{ tenantId: tenant.id, brokenAt: 30 }])
})

it('audit verification finds a log that ends before the entry up to which it was verified', async () => {
  let asked = 0
  await walk(() => ++asked < 3).now()
  const { audit, store } = running.service.core
  const from = { sequence: ENTRIES + 1, hash: Buffer.alloc(32), keyIndex: 0 }
  expect(await audit.verify(store.read, tenant.id, { from })).toEqual({
    entries: ENTRIES,
    brokenAt: ENTRIES + 1,
  })
})
