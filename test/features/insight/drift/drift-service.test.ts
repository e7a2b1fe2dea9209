/** The service counts its verifies, and shows what it has counted. */
import { expect, it } from 'vitest'
import { readHistories } from '../../../../src/features/insight/drift/drift-rows.js'
import { driftReader } from '../../../../src/features/insight/drift/drift-table.js'
import { photoOf } from '../../../support/faces.js'
import { sampleOf, scrape } from '../../../support/metrics.js'
import { serviceOfFile } from '../../../support/service.js'

const running = await serviceOfFile()
const tenant = await running.tenant()

it('verifies of production are counted with score, quality and threshold; others are not', async () => {
  const production = await running.production(tenant)
  const image = await photoOf('ada')
  await production.enroll({ user_id: 'ada-lovelace', image })
  const { body } = await production.verify({ user_id: 'ada-lovelace', image, action: 'x' })
  await production.verify({ user_id: 'ada-lovelace', image: await photoOf('grace'), action: 'x' })
  expect((await production.verify({ user_id: 'ada-lovelace', image: 'AAAA', action: 'x' })).status).toBe(422)
  expect((await production.verify({ user_id: 'nobody', image, action: 'x' })).status).toBe(404)
  await tenant.sandbox.verify({ user_id: 'u+match', image, action: 'x' })
  await running.restart()
  const { store } = running.service.core
  const histories = await readHistories(store.read, tenant.id, running.clock.now())
  expect([...histories.keys()]).toEqual([body.model])
  const { periods, blocks } = histories.get(body.model)!
  expect(periods).toHaveLength(1)
  expect(blocks.map(({ counts }) => counts)).toEqual(periods.map(({ counts }) => counts))
  expect(periods[0]!.counts.outcomes).toEqual({ approved: 1, no_match: 1, image_unreadable: 1 })
  expect(periods[0]!.counts.scores).toEqual({ [Math.min(99, Math.floor(body.score * 100))]: 1 })
  expect(periods[0]!.counts.thresholds).toEqual({ [Math.floor(body.threshold * 100)]: 1 })
  expect(Object.values(periods[0]!.counts.quality).reduce((sum, one) => sum + one)).toBe(2)
  const text = JSON.stringify(await store.read.statements(driftReader).since(tenant.id, 0))
  expect(text).not.toContain('lovelace')
})

it('metrics show that no tenant drifts', async () => {
  const text = await scrape(running)
  for (const measure of ['scores', 'quality', 'outcomes'])
    expect(sampleOf(text, `countersign_drift_alarms{measure="${measure}"}`)).toBe(0)
})
