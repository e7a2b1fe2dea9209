/** A pack that computes something else than was measured is refused when its networks are loaded. */
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { loadModelPack, type ModelPack } from '../../../models/pack/model-pack.js'
import { FacePipeline } from '../../../src/biometrics/pipeline/face-pipeline.js'
import { vectorFrom, vectorText } from '../../../src/biometrics/pipeline/judge/vector-text.js'
import { anyFace } from '../fixtures.js'

let pack: ModelPack
beforeAll(async () => {
  pack = await loadModelPack(join(inject('modelsDir'), 'baseline'))
})

/** The pack whose calibration has another check. */
function checkedBy(change: (embedding: Float32Array) => Float32Array, picture?: string): ModelPack {
  const calibration = pack.calibration!
  const check = calibration.check!
  const embedding = vectorText(change(vectorFrom(check.embedding)))
  return { ...pack, calibration: { ...calibration, check: { picture: picture ?? check.picture, embedding } } }
}

async function load(chosen: ModelPack, otherPacks: ModelPack[] = []): Promise<string> {
  try {
    const pipeline = await FacePipeline.load(chosen, { provider: 'cpu', limits: anyFace, otherPacks })
    const check = await pipeline.measureCheckVector()
    expect(check?.picture).toBe(pack.calibration!.check!.picture)
    await pipeline.release()
    return 'loaded'
  } catch (error) {
    expect((error as { code: string }).code).toBe('pack_computes_otherwise')
    return (error as Error).message
  }
}

/** Moves a vector of length 1 away until its cosine with the first is as given. */
function atCosine(cosine: number) {
  return (vector: Float32Array) => {
    const other = vector.map((_, i) => (i % 2 === 0 ? (vector[i + 1] ?? 0) : -vector[i - 1]!))
    const sine = Math.sqrt(1 - cosine ** 2)
    return vector.map((value, i) => cosine * value + sine * other[i]!)
  }
}

describe('the check vector', () => {
  it('is reached by the pack that it was measured with', async () => {
    expect(await load(pack)).toBe('loaded')
  })

  it('has to be reached with a cosine of 0.99', async () => {
    expect(await load(checkedBy(atCosine(0.993)))).toBe('loaded')
    expect(await load(checkedBy(atCosine(0.987)))).toMatch(
      /^The networks of baseline@\S+ compute something else here .* a cosine of 0\.98\d with the one measured, and has to reach 0\.99/,
    )
  })

  it('is compared for packs that follow, too', async () => {
    const other = { ...checkedBy(atCosine(-0.04)), modelId: 'other@1.0.0' }
    expect(await load(pack, [other])).toContain('The networks of other@1.0.0 compute something else here')
  })

  it('is not missed in an older calibration, and not compared with that of another picture', async () => {
    const { check: _, ...calibration } = pack.calibration!
    expect(await load({ ...pack, calibration })).toBe('loaded')
    expect(await load(checkedBy(atCosine(0), '0'.repeat(64)))).toBe('loaded')
  })
})
