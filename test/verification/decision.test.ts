/** Tests of the decision itself: the verdicts on real scores on either side of a threshold. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { filmOf } from '../../src/features/challenges/parts.js'
import type { ProviderCall } from '../../src/verification/biometric-provider.js'
import type { CaptureInput } from '../../src/verification/call.js'
import { EngineProvider } from '../../src/verification/engine-provider.js'
import { startEngine } from '../biometrics/fixtures.js'
import { answerTo } from '../support/challenges.js'
import type { ApiClient } from '../support/client.js'
import { evidenceOf } from '../support/evidence.js'
import { base64, face } from '../support/faces.js'
import { writeBroughtPack } from '../support/packs.js'
import { startService, type TestService } from '../support/service.js'
import { temporaryFolder } from '../support/temporary-folder.js'

/** Distance of the two thresholds from the score: well below the 0.05 of a threshold that somebody lowered "a little". */
const MARGIN = 0.01
/** Requested false match rates: tenants with the first have the lower threshold, tenants with the second the higher one. */
const [LOWER_FMR, HIGHER_FMR] = [1e-3, 1e-4]
const FRAMES = 16
const ANY_PHOTO = {
  head_pose_yaw: { min: -90, max: 90 },
  head_pose_pitch: { min: -90, max: 90 },
  head_pose_roll: { min: -90, max: 90 },
  luminance_mean: { min: 0 },
  sharpness: { min: 0 },
  under_exposure_prevention: { min: 0 },
  illumination_uniformity: { min: 0 },
  eyes_open: { min: 0 },
}

const enrolled = await face('ada')
const presented = await face('adaElsewhere')
/** The photo first, then blurred copies: the photo has the best quality, so it is the frame that is compared. */
const frames: Buffer[] = await Promise.all(
  Array.from({ length: FRAMES }, (_, index) =>
    sharp(presented)
      .blur(1 + index / 10)
      .jpeg({ quality: 95 })
      .toBuffer(),
  ),
)
frames[0] = presented
const modelsDir = temporaryFolder()
const engine = await startEngine(join(inject('modelsDir'), 'baseline'))
afterAll(() => engine.close())

describe('a verdict', () => {
  let running: TestService
  const clients: ApiClient[] = []

  // The service's pack has thresholds just below and just above the score of the photo.
  beforeAll(async () => {
    const { reference } = await engine.enrol([enrolled])
    const { score } = await engine.verify([presented], reference)
    await writeBroughtPack(join(modelsDir, 'brought'), inject('modelsDir'), () => ({
      // Any photo may be enrolled, so that only the threshold decides.
      quality: { enrol: ANY_PHOTO },
      calibration: {
        source: 'the score of one pair of photos',
        points: [
          { fmr: LOWER_FMR, threshold: score - MARGIN },
          { fmr: HIGHER_FMR, threshold: score + MARGIN },
        ],
      },
    }))
    // Points in the pack's calibration.json, which were measured with the pack, would take precedence over these points.
    await rm(join(modelsDir, 'brought', 'calibration.json'))
    running = await startService({
      COUNTERSIGN_MODELS_DIR: modelsDir,
      COUNTERSIGN_DEADLINE_MS: '60000',
      COUNTERSIGN_MODEL_PACK: 'brought',
      COUNTERSIGN_ACCEPT_PACK: 'brought',
    })
    for (const fmr of [LOWER_FMR, HIGHER_FMR]) {
      const client = await running.production(await running.tenant({ ratePerSecond: 1000, fmr }))
      // A user for each test: a photo that was seen before counts as replayed.
      for (const user_id of ['by-photo', 'by-challenge', 'by-addition'])
        expect((await client.enroll({ user_id, image: base64(enrolled) })).status).toBe(201)
      clients.push(client)
    }
  })
  afterAll(() => running?.stop())

  it('approves a score just above the threshold and rejects one just below, and shows both numbers', async () => {
    const [lower, higher] = await Promise.all(
      clients.map((client) =>
        client.verify({ user_id: 'by-photo', image: base64(presented), action: 'pay' }),
      ),
    )
    expect(lower!.body).toMatchObject({ verdict: 'approved', reason: null })
    expect(higher!.body).toMatchObject({ verdict: 'rejected', reason: 'no_match' })
    for (const { body } of [lower!, higher!])
      expect(Math.abs(body.score - body.threshold)).toBeCloseTo(MARGIN, 3)
    expect(lower!.body.score).toBeCloseTo(higher!.body.score, 5)
  })

  it('decides on frames of a challenge by the same threshold as on a photo', async () => {
    const verdicts = await Promise.all(
      clients.map(async (client) => {
        const request = { user_id: 'by-challenge', action: 'pay' }
        const asked = await client.call('POST', '/v1/challenges', { ...request, modes: [] })
        const challenge = answerTo(asked.body, frames.map(base64))
        const { body } = await client.verify({ ...request, challenge })
        return [body.verdict, body.score >= body.threshold]
      }),
    )
    expect(verdicts).toEqual([
      ['approved', true],
      ['rejected', false],
    ])
  })

  it('adds a photo to a reference only from the threshold on', async () => {
    const added = await Promise.all(
      clients.map((client) => client.enroll({ user_id: 'by-addition', image: base64(presented), add: true })),
    )
    expect(added.map(({ status, body }) => body.code ?? status)).toEqual([201, 'different_people'])
  })
})

describe('a score that is exactly the threshold', () => {
  const call = (): ProviderCall<CaptureInput> => ({
    input: { user_id: 'ada' },
    deadlineMs: performance.now() + 60_000,
    signal: new AbortController().signal,
    schedulingClass: { priority: 'production', flow: 'test', weight: 1 },
  })

  it.each(['a photo', 'the frames of a challenge'])(
    'takes a score that is exactly the threshold for a match, of %s',
    async (what) => {
      const provider = new EngineProvider(engine)
      const { reference } = await engine.enrol([enrolled])
      const isPhoto = what === 'a photo'
      const notes = frames.map((_, index) => ({ step: 0, tMs: 200 * index }))
      const evidence = isPhoto
        ? evidenceOf([presented])
        : evidenceOf(frames, filmOf({ notes, steps: ['frontal'] }))
      const compare = (threshold: number) => provider.verify(call(), evidence, () => reference, threshold)
      const { score } = await compare(0)
      const matchesAt = async (threshold: number) => (await compare(threshold)).matches
      expect(await matchesAt(score!)).toBe(true)
      expect(await matchesAt(score! + 1e-4)).toBe(false)
      expect(await matchesAt(score! - 1e-4)).toBe(true)
    },
  )
})
