/** /metrics as an operator's Prometheus reads it: what docs/operations/monitoring.md lists is there, and reports what happened. */
import { readFileSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { watchUpkeep } from '../../../src/http/metrics/upkeep-metrics.js'
import { packageFile } from '../../../src/lib/package-root.js'
import { poll } from '../../support/command.js'
import { base64, face } from '../../support/faces.js'
import {
  beginModelChange,
  endModelChange,
  labelsOf,
  metricTypes,
  sampleOf,
  scrape,
} from '../../support/metrics.js'
import { serviceOfFile, serviceOfTest } from '../../support/service.js'

const running = await serviceOfFile({ COUNTERSIGN_LOCKOUT_ATTEMPTS: '1' }, { ownEngine: true })
const tenant = await running.tenant()
const value = async (series: string) => sampleOf(await scrape(running), series)

describe('docs/operations/monitoring.md', () => {
  const page = readFileSync(packageFile('docs', 'operations', 'monitoring.md'), 'utf8')
  /** The page says the type of a metric by the end of its name. */
  const typeOf = (name: string) =>
    name.endsWith('_total') ? 'counter' : name.endsWith('_duration_seconds') ? 'histogram' : 'gauge'
  const documented = Object.fromEntries(
    [...page.matchAll(/^- `(countersign_\w+)(?:\{([\w,]+)\})?`: (.*)$/gm)].map(([, name, labels, help]) => [
      name!,
      { type: typeOf(name!), help, labels: labels?.split(',').sort() ?? [] },
    ]),
  )

  it('lists every metric of the service with its type and meaning, and no other', async () => {
    const served = metricTypes(await scrape(running))
    const ours = Object.entries(served).filter(([name]) => name.startsWith('countersign_'))
    const listed = Object.entries(documented).map(([name, { type, help }]) => [name, { type, help }])
    expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(ours))
  })

  it('lists the labels of every metric', async () => {
    const image = base64(await face('ada'))
    await tenant.sandbox.verify({ user_id: 'u+match', image, action: 'x' })
    await (await running.production(await running.tenant())).enroll({ user_id: 'ada', image })
    await fetch(`${running.service.adminUrl}/api/session`)
    await beginModelChange(running)
    const text = await scrape(running)
    await endModelChange(running)
    for (const [name, { labels }] of Object.entries(documented)) expect(labelsOf(text, name)).toEqual(labels)
  })
})

it('the coverage of a change of the model pack is shown by tenant, and only while the change is under way', async () => {
  const { core } = running.service
  const moved = await running.tenant()
  const production = await running.production(moved)
  const image = base64(await face('ada'))
  for (const user_id of ['ada', 'late'])
    expect((await production.enroll({ user_id, image })).status).toBe(201)
  const index = core.vault.blindIndex(moved.id, 'production', 'ada')
  const subject = (await core.vault.find(core.store.read, index, 'ada'))!
  const content = core.vault.openReference(subject, subject.reference!)
  await core.store.transaction('installation', (tx) =>
    core.vault.putFollowing(tx, subject, subject.reference!.id, 'other@1.0.0', content),
  )
  const coverage = `countersign_model_migration_coverage{tenant="${moved.name}"}`
  expect(await value(coverage)).toBeUndefined()
  await beginModelChange(running)
  expect(await value(coverage)).toBe(0.5)
  const all = await value('countersign_model_migration_coverage{tenant="_all"}')
  expect(all).toBeGreaterThan(0)
  expect(all).toBeLessThanOrEqual(0.5)
  const deciding = (model: string) => value(`countersign_model_migration_tenants{model="${model}"}`)
  expect(await deciding('baseline@1.0.0')).toBe((await core.store.read.tenants()).length)
  expect(await deciding('other@1.0.0')).toBe(0)
  await endModelChange(running)
  expect(await scrape(running)).not.toContain('countersign_model_migration_coverage{')
})

describe('the counters', () => {
  it('counts a rejection with its reason, the lockout that it begins, and an erasure', async () => {
    const production = await running.production(tenant)
    const [ada, grace] = [base64(await face('ada')), base64(await face('grace'))]
    expect((await production.enroll({ user_id: 'ada', image: ada })).status).toBe(201)
    for (const reason of ['no_match', 'locked_out'])
      expect((await production.verify({ user_id: 'ada', image: grace, action: 'x' })).body.reason).toBe(
        reason,
      )
    for (const reason of ['no_match', 'locked_out'])
      expect(
        await value(
          `countersign_verdicts_total{environment="production",verdict="rejected",reason="${reason}"}`,
        ),
      ).toBe(1)
    expect(await value('countersign_lockouts_total{environment="production"}')).toBe(1)
    // The receipt, given again, is no second erasure.
    for (const status of [200, 200]) expect((await production.erase('ada')).status).toBe(status)
    expect(await value('countersign_erasures_total{environment="production"}')).toBe(1)
    expect(await value('countersign_erasures_total{environment="sandbox"}')).toBe(0)
  })

  it('counts a rotation once, also when it is sent again with its idempotency key', async () => {
    const other = await running.tenant()
    const headers = { 'X-Svc-Idempotency-Key': 'rotation-1' }
    for (const status of [200, 409]) expect((await other.sandbox.rotate({}, { headers })).status).toBe(status)
    expect(await value('countersign_signing_secret_rotations_total{environment="sandbox"}')).toBe(1)
  })

  it('counts a failed sign-in at the dashboard', async () => {
    const { adminUrl } = running.service
    const response = await fetch(`${adminUrl}/api/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: adminUrl },
      body: JSON.stringify({ password: 'wrong' }),
    })
    expect(response.status).toBe(401)
    expect(await value('countersign_dashboard_refusals_total{code="sign_in_failed"}')).toBe(1)
  })

  it('counts commits, and the transactions in them', async () => {
    const { store } = running.service.core
    const commits = 'countersign_store_commit_duration_seconds_count'
    const transactions = 'countersign_store_transactions_total'
    const before = [await value(commits), await value(transactions)]
    await Promise.all([1, 2, 3].map(() => store.transaction('installation', async () => {})))
    await expect(
      store.transaction('installation', async () => {
        throw new Error('no')
      }),
    ).rejects.toThrow('no')
    expect([await value(commits), await value(transactions)]).toEqual([before[0]! + 1, before[1]! + 3])
    expect(await value('countersign_store_healthy')).toBe(1)
    expect(await value('countersign_store_size_bytes{file="database"}')).toBeGreaterThan(0)
  })

  it('counts a lost engine process, and shows the workers that are ready again', async () => {
    const lost = 'countersign_engine_incidents_total{kind="engine_process_lost"}'
    expect(await value(lost)).toBe(0)
    process.kill(running.service.engine.health().processId!, 'SIGKILL')
    await poll(
      () => scrape(running),
      (text) => sampleOf(text, lost) === 1 && sampleOf(text, 'countersign_engine_workers_ready') === 1,
    )
  })
})

describe('the metrics of maintenance', () => {
  it('reports the last backup and the free disk space', async () => {
    expect(await value('countersign_last_backup_timestamp_seconds')).toBe(0)
    await running.service.core.store.transaction('installation', (tx) => tx.setLastBackup(1_700_000_000_000))
    expect(await value('countersign_last_backup_timestamp_seconds')).toBe(1_700_000_000)
    const free = statfsSync(running.dataDir)
    expect(await value('countersign_disk_free_bytes')).toBeGreaterThan(0)
    expect(await value('countersign_disk_free_bytes')).toBeLessThanOrEqual(free.blocks * free.bsize)
  })

  it('reports the free disk space before the data folder exists', async () => {
    const registry = new Registry()
    const { store } = running.service.core
    watchUpkeep(registry, {
      expiries: () => [],
      auditVerification: async () => ({ completedAt: null, broken: [] }),
      store,
      dataDir: join(running.dataDir, 'not', 'made'),
    })
    expect(sampleOf(await registry.metrics(), 'countersign_disk_free_bytes')).toBeGreaterThan(0)
  })

  it('shows what it last read of the audit logs while the database cannot be read', async () => {
    const registry = new Registry()
    let isLost = false
    watchUpkeep(registry, {
      expiries: () => [],
      auditVerification: async () => {
        if (isLost) throw new Error('the database does not answer')
        return { completedAt: 5000, broken: ['one'] }
      },
      store: running.service.core.store,
      dataDir: running.dataDir,
    })
    const shown = async () => {
      const text = await registry.metrics()
      return ['verified_timestamp_seconds', 'broken_logs'].map((name) =>
        sampleOf(text, `countersign_audit_${name}`),
      )
    }
    expect(await shown()).toEqual([5, 1])
    isLost = true
    expect(await shown()).toEqual([5, 1])
  })
})

it('counts tenants by name up to the limit, and together beyond it', async () => {
  const bounded = await serviceOfTest({ COUNTERSIGN_METRICS_TENANTS: '2' })
  const tenants = []
  for (let i = 0; i < 4; i++) tenants.push(await bounded.tenant())
  for (const one of tenants) await one.sandbox.health()
  const image = base64(await face('ada'))
  await tenants[0]!.sandbox.verify({ user_id: 'u+no_match', image, action: 'x' })
  await tenants[3]!.sandbox.verify({ user_id: 'u+match', image, action: 'x' })
  await tenants[0]!.sandbox.verify({ user_id: 'nobody', image, action: 'x' })
  const text = await scrape(bounded)
  const counted = (name: string, tenant: string, label: string) =>
    sampleOf(text, `countersign_tenant_${name}_total{tenant="${tenant}",environment="sandbox",${label}}`)
  const requests = (tenant: string, status: string) => counted('requests', tenant, `status="${status}"`)
  const verdicts = (tenant: string, verdict: string) => counted('verdicts', tenant, `verdict="${verdict}"`)
  expect([requests('tenant-1', '2xx'), requests('tenant-1', '4xx'), requests('tenant-2', '2xx')]).toEqual([
    2, 1, 1,
  ])
  expect([requests('_others', '2xx'), requests('tenant-3', '2xx')]).toEqual([3, undefined])
  expect([verdicts('tenant-1', 'rejected'), verdicts('_others', 'approved')]).toEqual([1, 1])
})
