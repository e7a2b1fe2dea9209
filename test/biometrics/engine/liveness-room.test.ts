/** A pack that requires room around the face judges nothing where there is too little of it. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Engine } from '../../../src/biometrics/engine/engine.js'
import { livenessStatement } from '../../../src/verification/liveness.js'
import { face } from '../../support/faces.js'
import { writeLivenessPack } from '../../support/liveness-pack.js'
import { removeTemporaryDirs, startEngine, temporaryDir } from '../fixtures.js'

const anyone = new Float32Array(128).fill(1)
const TOO_CLOSE = { checked: true, score: null, passed: false, guidance: 'too_close' }

let roomy: Buffer
let tight: Buffer
beforeAll(async () => {
  roomy = await face('ada', 640)
  tight = await face('ada', 300)
})
afterAll(removeTemporaryDirs)

async function withPack(changes: object, use: (engine: Engine) => Promise<void>): Promise<void> {
  const dir = temporaryDir()
  await writeLivenessPack(dir, inject('modelsDir'), changes)
  const engine = await startEngine(dir)
  try {
    await use(engine)
  } finally {
    await engine.close()
  }
}

describe('a face with little around it', () => {
  it('a pack without a bound judges a face with little around it', () =>
    withPack({}, async (engine) => {
      for (const photo of [roomy, tight]) {
        const { liveness } = (await engine.verify([photo], anyone)).sample
        expect(liveness).toMatchObject({ checked: true, score: expect.any(Number) })
        expect(liveness).not.toHaveProperty('guidance')
      }
    }))

  it('a pack with a bound judges no face with little around it: the check fails with guidance to move away', () =>
    withPack({ leastCropShare: 0.6 }, async (engine) => {
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
    }))

  it('one image with too little around the face decides for all images of its request', () =>
    withPack({ leastCropShare: 0.6 }, async (engine) => {
      for (const images of [
        [roomy, tight],
        [tight, roomy],
      ])
        expect((await engine.verify(images, anyone)).sample.liveness).toEqual(TOO_CLOSE)
    }))

  it('guidance asks the person to move away before a verify would refuse to judge', async () => {
    const image = await face('grace')
    const guided = (changes: object) =>
      withPack(changes, async (engine) => {
        told.push(await engine.guide({ image, step: 'frontal' }))
      })
    const told: string[][] = []
    await guided({})
    await guided({ leastCropShare: 0.9 })
    expect(told).toEqual([[], ['too_close']])
  })
})
