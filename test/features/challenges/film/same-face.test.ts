/** Which key frames of a challenge count as one person's, by thresholds of their own. */
import { describe, expect, it } from 'vitest'
import type { ModelPack } from '../../../../models/pack/model-pack.js'
import { showsOneFace } from '../../../../src/features/challenges/film/same-face.js'

function packOf(movedFaceFmr?: number): ModelPack {
  const points = [
    { fmr: 0.01, threshold: 0.5 },
    { fmr: 0.001, threshold: 0.8 },
  ]
  const manifest = {
    embedder: { dimensions: 2, metric: 'cosine' },
    activeLiveness: movedFaceFmr === undefined ? {} : { movedFaceFmr },
    calibration: { points },
  }
  return { dir: '', modelId: 'x@1', manifest } as unknown as ModelPack
}

const FRONTAL = 7
/** Returns an embedding whose cosine with the frontal look is this value. */
const alike = (cosine: number) => Float32Array.of(cosine, Math.sqrt(1 - cosine ** 2))

function isOne(pack: ModelPack, movements: number[], last: number): boolean {
  const frames = new Map([
    [FRONTAL, Float32Array.of(1, 0)],
    ...movements.map((cosine, i) => [10 + i, alike(cosine)] as const),
    [20, alike(last)],
  ])
  const keys = { frontal: FRONTAL, movements: movements.map((_, i) => 10 + i), last: 20 }
  return showsOneFace(pack, keys, (index) => frames.get(index)!)
}

describe('the frames that speak for a challenge show one face', () => {
  it('accepts movements that are as alike as the rate of the pack asks', () => {
    expect(isOne(packOf(0.01), [0.51, 0.6], 0.9)).toBe(true)
    expect(isOne(packOf(0.01), [0.51, 0.49], 0.9)).toBe(false)
  })

  it('requires the last frontal look to be as alike as photos of one request', () => {
    expect(isOne(packOf(0.01), [0.9], 0.79)).toBe(false)
  })

  it('uses the threshold of one request throughout if the pack names no rate', () => {
    expect(isOne(packOf(), [0.81], 0.81)).toBe(true)
    expect(isOne(packOf(), [0.79], 0.9)).toBe(false)
  })

  it('accepts movements however little they are alike to each other', () => {
    const frames = new Map([
      [0, Float32Array.of(1, 0)],
      [1, Float32Array.of(0.6, 0.8)],
      [2, Float32Array.of(0.6, -0.8)],
    ])
    const keys = { frontal: 0, movements: [1, 2], last: 0 }
    expect(showsOneFace(packOf(0.01), keys, (index) => frames.get(index)!)).toBe(true)
  })
})
