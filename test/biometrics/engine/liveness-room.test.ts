/** A pack that requires room around the face judges nothing where there is too little of it. */
import { describe, expect, inject, it } from 'vitest'
import { livenessStatement } from '../../../src/verification/liveness.js'
import { face } from '../../support/faces.js'
import { writeLivenessPack } from '../../support/liveness-pack.js'
import { temporaryFolder } from '../../support/temporary-folder.js'
import { engineOf, guidanceBy } from '../fixtures.js'

const anyone = new Float32Array(128).fill(1)
const TOO_CLOSE = { checked: true, score: null, passed: false, guidance: 'too_close' }

const roomy = await face('ada', 640)
const tight = await face('ada', 300)

/** The engine of a pack that requires this much room, if any. */
async function requiring(leastCropShare?: number) {
  const dir = temporaryFolder()
  await writeLivenessPack(dir, inject('modelsDir'), leastCropShare === undefined ? {} : { leastCropShare })
  return engineOf(dir)
}
const unbounded = await requiring()
const bounded = await requiring(0.6)

describe('a face with little around it', () => {
  it('a pack without a bound judges a face with little around it', async () => {
    for (const photo of [roomy, tight]) {
      const { liveness } = (await unbounded.verify([photo], anyone)).sample
      expect(liveness).toMatchObject({ checked: true, score: expect.any(Number) })
      expect(liveness).not.toHaveProperty('guidance')
    }
  })

  it('a pack with a bound judges no face with little around it: the check fails with guidance to move away', async () => {
    const live = { checked: true, passed: true }
    expect((await bounded.verify([roomy], anyone)).sample.liveness).toMatchObject(live)
    const { sample } = await bounded.verify([tight], anyone)
    expect(sample.liveness).toEqual(TOO_CLOSE)
    expect(livenessStatement(sample.liveness, bounded.pack.modelId)).toEqual({
      ...TOO_CLOSE,
      methods: [`passive:${bounded.pack.modelId}`],
    })
    await expect(bounded.enrol([tight])).rejects.toMatchObject({
      code: 'liveness_failed',
      imageIndex: 0,
      message: expect.stringContaining('too close'),
    })
  })

  it('one image with too little around the face decides for all images of its request', async () => {
    for (const images of [
      [roomy, tight],
      [tight, roomy],
    ])
      expect((await bounded.verify(images, anyone)).sample.liveness).toEqual(TOO_CLOSE)
  })

  it('guidance asks the person to move away before a verify would refuse to judge', async () => {
    const image = await face('grace')
    expect(await guidanceBy(unbounded, image)).toEqual([])
    expect(await guidanceBy(await requiring(0.9), image)).toEqual(['too_close'])
  })
})
