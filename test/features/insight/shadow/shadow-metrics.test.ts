/** Verdicts that a candidate false match rate would change: counted after the answer, by tenant, and without any effect on it. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { photoOf } from '../../../support/faces.js'
import { sampleOf, scrape } from '../../../support/metrics.js'
import { writeBroughtPack } from '../../../support/packs.js'
import { startService, type TestService } from '../../../support/service.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'

/** Rates of a pack whose thresholds let Ada's other photo pass, or hardly the same photo. */
const MILD = '1e-2'
const STRICT = '1e-4'

async function verified(env: Record<string, string>) {
  const running = await startService({
    ...{ COUNTERSIGN_MODEL_PACK: packDir, COUNTERSIGN_ACCEPT_PACK: 'brought' },
    ...env,
  })
  started.push(running)
  const tenant = await running.tenant()
  const production = await running.production(tenant)
  const image = await photoOf('ada')
  await production.enroll({ user_id: 'ada', image })
  const verify = async (name: 'adaElsewhere' | 'grace') =>
    (await production.verify({ user_id: 'ada', image: await photoOf(name), action: 'pay' })).body
  const [own, stranger] = [await verify('adaElsewhere'), await verify('grace')]
  await tenant.sandbox.verify({ user_id: 'u+match', image, action: 'x' })
  const text = await scrape(running)
  const count = (change: string) =>
    sampleOf(text, `countersign_shadow_verdicts_total{tenant="${tenant.name}",change="${change}"}`) ?? 0
  return {
    own,
    stranger,
    counts: { none: count('none'), rejected: count('rejected'), approved: count('approved') },
  }
}

const started: TestService[] = []
const packDir = temporaryFolder()
beforeAll(async () => {
  const points = [
    { fmr: 0.01, threshold: 0.7 },
    { fmr: 1e-4, threshold: 0.99 },
  ]
  await writeBroughtPack(packDir, inject('modelsDir'), () => ({
    calibration: { source: 'for tests', points },
  }))
  rmSync(join(packDir, 'calibration.json'), { force: true })
})
afterAll(() => Promise.all(started.map((running) => running.stop())))

it('counts an approval that a stricter rate would reject, and leaves the verdict as it is', async () => {
  const { own, stranger, counts } = await verified({
    ...{ COUNTERSIGN_FMR: MILD, COUNTERSIGN_SHADOW_FMR: STRICT },
  })
  expect([own.verdict, own.threshold, stranger.verdict]).toEqual(['approved', 0.7, 'rejected'])
  expect(counts).toEqual({ none: 1, rejected: 1, approved: 0 })
})

it('counts a rejection that a milder rate would approve', async () => {
  const { own: seen, counts } = await verified({ COUNTERSIGN_FMR: STRICT, COUNTERSIGN_SHADOW_FMR: MILD })
  expect(seen).toMatchObject({ verdict: 'rejected', reason: 'no_match' })
  expect(counts).toEqual({ none: 1, rejected: 0, approved: 1 })
})
