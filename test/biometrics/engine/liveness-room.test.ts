/** A pack that requires room around the face judges nothing where there is too little of it. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Engine } from '../../../src/biometrics/engine/engine.js'
import { livenessStatement } from '../../../src/verification/liveness.js'
import { face } from '../../support/faces.js'
import { writeLivenessPack } from '../../support/liveness-pack.js'
import { guidanceBy, removeTemporaryDirs, startEngine, temporaryDir } from '../fixtures.js'

const anyone = new Float32Array(128).fill(1)
const TOO_CLOSE = { checked: true, score: null, passed: false, guidance: 'too_close' }

let roomy: Buffer
let tight: Buffer
beforeAll(async () => {
  roomy = await face('ada', 640)
  tight = await face('ada', 300)
})
const engines = new Map<number | undefined, Engine>()
afterAll(async () => {
  await Promise.all([...engines.values()].map((engine) => engine.close()))
  removeTemporaryDirs()
})

/** The engine of a pack that requires this much room, if any. */
async function requiring(leastCropShare?: number): Promise<Engine> {
  const started = engines.get(leastCropShare)
  if (started) return started
  const dir = temporaryDir()
  await writeLivenessPack(dir, inject('modelsDir'), leastCropShare === undefined ? {} : { leastCropShare })
  const engine = await startEngine(dir)
  engines.set(leastCropShare, engine)
  return engine
}

describe('a face with little around it', () => {
  it('a pack without a bound judges a face with little around it', async () => {
    const engine = await requiring()
    for (const photo of [roomy, tight]) {
      const { liveness } = (await engine.verify([photo], anyone)).sample
      expect(liveness).toMatchObject({ checked: true, score: expect.any(Number) })
      expect(liveness).not.toHaveProperty('guidance')
    }
  })

  it('a pack with a bound judges no face with little around it: the check fails with guidance to move away', async () => {
    const engine = await requiring(0.6)
    const live = { checked: true, passed: true }
    expect((await engine.verify([roomy], anyone)).sample.liveness).toMatchObject(live)
    const { sample } = await engine.verify([tight], anyone)
    expect(sample.liveness).toEqual(TOO_CLOSE)
    expect(livenessStatement(sample.liveness, engine.pack.modelId)).toEqual({
      ...TOO_CLOSE,
      methods: [`passive:${engine.pack.modelId}`],
    })
    await expect(engine.enrol([tight])).rejects.toMatchObject({
      code: 'liveness_failed',
      imageIndex: 0,
      message: expect.stringContaining('too close'),
    })
  })

  it('one image with too little around the face decides for all images of its request', async () => {
    const engine = await requiring(0.6)
    for (const images of [
      [roomy, tight],
      [tight, roomy],
    ])
      expect((await engine.verify(images, anyone)).sample.liveness).toEqual(TOO_CLOSE)
  })

  it('guidance asks the person to move away before a verify would refuse to judge', async () => {
    const image = await face('grace')
    expect(await guidanceBy(await requiring(), image)).toEqual([])
    expect(await guidanceBy(await requiring(0.9), image)).toEqual(['too_close'])
  })
})
