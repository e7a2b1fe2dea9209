/** Verdicts that a candidate false match rate would change: counted after the answer, by tenant, and without any effect on it. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { removeTemporaryDirs, temporaryDir } from '../../../biometrics/fixtures.js'
import { base64, face } from '../../../support/faces.js'
import { scrape } from '../../../support/metrics.js'
import { writeBroughtPack } from '../../../support/packs.js'
import { startService, type TestService } from '../../../support/service.js'

/** Rates of a pack whose thresholds let Ada's other photo pass, or hardly the same photo. */
const MILD = '1e-2'
const STRICT = '1e-4'

async function verified(env: Record<string, string>) {
  const running: TestService = await startService({
    COUNTERSIGN_MODEL_PACK: packDir,
    COUNTERSIGN_ACCEPT_PACK: 'brought',
    ...env,
  })
  started.push(running)
  const tenant = await running.tenant()
  const production = await running.production(tenant)
  await production.enroll({ user_id: 'ada', image: base64(await face('ada')) })
  const { body: own } = await production.verify({
    user_id: 'ada',
    image: base64(await face('adaElsewhere')),
    action: 'pay',
  })
  const { body: stranger } = await production.verify({
    user_id: 'ada',
    image: base64(await face('grace')),
    action: 'pay',
  })
  await running
    .tenant()
    .then(({ sandbox }) => sandbox.verify({ user_id: 'u+match', image: base64(picture), action: 'x' }))
  const text = await scrape(running)
  const count = (change: string) =>
    Number(
      new RegExp(
        `^countersign_shadow_verdicts_total\\{tenant="${tenant.name}",change="${change}"\\} (\\d+)`,
        'm',
      ).exec(text)?.[1] ?? 0,
    )
  return {
    own,
    stranger,
    counts: { none: count('none'), rejected: count('rejected'), approved: count('approved') },
  }
}

const started: TestService[] = []
let picture: Buffer
let packDir: string
beforeAll(async () => {
  picture = await face('ada')
  packDir = temporaryDir()
  const points = [
    { fmr: 0.01, threshold: 0.7 },
    { fmr: 1e-4, threshold: 0.99 },
  ]
  await writeBroughtPack(packDir, inject('modelsDir'), () => ({
    calibration: { source: 'for tests', points },
  }))
  rmSync(join(packDir, 'calibration.json'), { force: true })
})
afterAll(async () => {
  await Promise.all(started.map((running) => running.stop()))
  removeTemporaryDirs()
})

it('counts an approval that a stricter rate would reject, and leaves the verdict as it is', async () => {
  const plain = await verified({ COUNTERSIGN_FMR: MILD })
  const shadowed = await verified({ COUNTERSIGN_FMR: MILD, COUNTERSIGN_SHADOW_FMR: STRICT })
  for (const { own, stranger } of [plain, shadowed])
    expect([own.verdict, stranger.verdict]).toEqual(['approved', 'rejected'])
  expect(shadowed.own.threshold).toBe(plain.own.threshold)
  expect(plain.counts).toEqual({ none: 0, rejected: 0, approved: 0 })
  expect(shadowed.counts).toEqual({ none: 1, rejected: 1, approved: 0 })
})

it('counts a rejection that a milder rate would approve', async () => {
  const { own: seen, counts } = await verified({ COUNTERSIGN_FMR: STRICT, COUNTERSIGN_SHADOW_FMR: MILD })
  expect(seen).toMatchObject({ verdict: 'rejected', reason: 'no_match' })
  expect(counts).toEqual({ none: 1, rejected: 0, approved: 1 })
})
