/** `countersign models shadow`: the counts of a candidate, as the service keeps them, by tenant and day. */

import { beforeAll, expect, it } from 'vitest'
import { tablesOf } from '../../../../src/features/index.js'
import type { ShadowCounts } from '../../../../src/features/insight/shadow/shadow-counts.js'
import { shadowWriter } from '../../../../src/features/insight/shadow/shadow-table.js'
import { DAY_MS } from '../../../../src/lib/clock.js'
import { SqliteStore } from '../../../../src/storage/sqlite/sqlite-store.js'
import { workplaceForAll } from '../../../support/command.js'

const TODAY = Math.floor(Date.now() / DAY_MS) * DAY_MS
const COUNTS: ShadowCounts = {
  outcomes: {
    'approved approved': 90,
    'no_match no_match': 4,
    'no_match low_quality': 1,
    'no_match approved': 2,
    'face_too_small approved': 3,
    'approved no_match': 1,
  },
  scores: { '75': 101 },
  candidateScores: { '80': 100 },
  uncompared: { no_template: 7, dropped: 5, not_comparable: 2, failed: 1 },
}
const place = workplaceForAll()
beforeAll(async () => {
  for (const name of ['acme', 'globex']) expect((await place.run(['tenant', 'create', name])).code).toBe(0)
  const store = SqliteStore.open(place.path('countersign.db'), { tables: tablesOf() })
  await store.transaction('installation', async (tx) => {
    for (const [name, daysAgo] of [
      ['acme', 0],
      ['acme', 40],
      ['globex', 1],
    ] as const)
      await tx.statements(shadowWriter).put({
        tenantId: (await tx.tenantByName(name))!.id,
        ...{ model: 'm@1', candidate: 'FMR 0.00001', at: TODAY - daysAgo * DAY_MS },
        counts: JSON.stringify(COUNTS),
      })
  })
  await store.close()
})

const run = (...args: string[]) => place.run(['models', 'shadow', ...args])

it('prints a row for each tenant and day, with the codes behind every change', async () => {
  const { code, stdout } = await run('acme')
  expect(code).toBe(0)
  const [head, row, ...others] = stdout.trimEnd().split('\n')
  expect(head!.split(/\s{2,}/)).toEqual([
    ...['TENANT', 'DAY', 'CANDIDATE', 'COMPARED', 'WOULD APPROVE', 'WOULD REJECT', 'NO TEMPLATE', 'DROPPED'],
  ])
  expect(row!.split(/\s{2,}/)).toEqual([
    ...['acme', new Date(TODAY).toISOString().slice(0, 10), 'FMR 0.00001', '101'],
    ...['5 (face_too_small 3, no_match 2)', '1 (no_match 1)', '7', '8'],
  ])
  expect(others).toEqual([])
})

it('shows all tenants, and more days where they are asked for', async () => {
  const tenants = async (...args: string[]) =>
    (await run(...args, '--json')).json.map(({ tenant }: { tenant: string }) => tenant)
  expect(await tenants()).toEqual(['acme', 'globex'])
  expect(await tenants('--days', '100')).toEqual(['acme', 'acme', 'globex'])
  expect(await tenants('--days', '1')).toEqual(['acme'])
  expect((await run('--days', '101', '--json')).error.code).toBe('invalid_option')
})

it('prints every count and histogram as JSON', async () => {
  const [view] = (await run('acme', '--json')).json
  expect(view).toEqual({
    ...{ tenant: 'acme', day: new Date(TODAY).toISOString().slice(0, 10), model: 'm@1' },
    ...{ candidate: 'FMR 0.00001', compared: 101 },
    would_approve: { no_match: 2, face_too_small: 3 },
    would_reject: { no_match: 1 },
    other_reason: { 'no_match -> low_quality': 1 },
    ...{ no_template: 7, dropped: 5, not_comparable: 2, failed: 1 },
    ...{ scores: { '75': 101 }, candidate_scores: { '80': 100 } },
  })
})
