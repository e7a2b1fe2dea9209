import { expect, it } from 'vitest'
import type { ModelPack } from '../../../models/pack/model-pack.js'
import {
  findOddOne,
  fuseEmbeddings,
  scoreOf,
  weightedEmbeddingOf,
} from '../../../src/biometrics/pipeline/judge/match.js'
import { measureChip, rateQuality, toGrey } from '../../../src/biometrics/pipeline/judge/quality.js'
import type { Quality } from '../../../src/biometrics/types.js'

function packOf(metric: 'euclidean' | 'cosine'): ModelPack {
  const embedder = { dimensions: 2, metric }
  return { dir: '', modelId: 'x@1', manifest: { embedder } } as unknown as ModelPack
}

function sample(values: number[], score: number) {
  return { embedding: Float32Array.from(values), quality: { score } as Quality }
}

it('a score is the cosine, or one minus half the distance', () => {
  const [a, b] = [Float32Array.of(3, 0), Float32Array.of(3, 4)]
  expect(scoreOf(packOf('cosine'), a, b)).toBeCloseTo(0.6, 12)
  expect(scoreOf(packOf('euclidean'), a, b)).toBe(-1)
  expect(scoreOf(packOf('cosine'), a, new Float32Array(2))).toBe(0)
  expect(() => scoreOf(packOf('cosine'), a, new Float32Array(3))).toThrow(TypeError)
})

it('a reference weighs its samples by quality', () => {
  const weighted = [sample([1, 0], 0.9), sample([0, 1], 0.3)].map(weightedEmbeddingOf)
  const plain = fuseEmbeddings(weighted, { dimensions: 2, normalize: false }).embedding
  expect(plain[0]).toBeCloseTo(0.75, 6)
  expect(plain[1]).toBeCloseTo(0.25, 6)
  const unit = fuseEmbeddings(weighted, { dimensions: 2, normalize: true }).embedding
  expect(Math.hypot(...unit)).toBeCloseTo(1, 6)
  const alone = fuseEmbeddings([weightedEmbeddingOf(sample([2, 4], 0))], { dimensions: 2, normalize: false })
  expect([...alone.embedding]).toEqual([2, 4])
})

for (const normalize of [false, true])
  it(`an embedding fused later counts as if it had been there from the start${normalize ? ', normalized' : ''}`, () => {
    const spec = { dimensions: 2, normalize }
    const weighted = [sample([1, 0.2], 0.9), sample([0.3, 1], 0.3), sample([0.9, -0.1], 0.6)].map(
      weightedEmbeddingOf,
    )
    const atOnce = fuseEmbeddings(weighted, spec)
    const later = fuseEmbeddings([fuseEmbeddings(weighted.slice(0, 2), spec), weighted[2]!], spec)
    expect(later.weight).toBeCloseTo(atOnce.weight, 5)
    for (const i of [0, 1]) expect(later.embedding[i]).toBeCloseTo(atOnce.embedding[i]!, 5)
  })

it('the odd one is the embedding that matches fewest of the others', () => {
  const at = (degrees: number) =>
    Float32Array.of(Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180))
  const find = (...degrees: number[]) => findOddOne(packOf('cosine'), degrees.map(at), 0.9)
  const odd = (...degrees: number[]) => find(...degrees)?.index ?? null
  expect(find(0, 90, 10)?.lowest).toBeCloseTo(0)
  expect(odd(7)).toBeNull()
  expect(odd(0, 10, 20)).toBeNull()
  expect(odd(0, 90)).toBe(1)
  expect(odd(90, 0, 10)).toBe(0)
  expect(odd(0, 90, 10, 20)).toBe(1)
  // The two at the ends miss one other each; the one further from all is named.
  expect(odd(0, 20, 30)).toBe(0)
  // Nobody matches anybody.
  expect(odd(0, 120, 240)).not.toBeNull()
})

it('a chip is measured in gray levels for every input format', () => {
  const input = {
    width: 4,
    height: 4,
    color: 'bgr' as const,
    mean: [10, 20, 30] as [number, number, number],
    scale: [0.5, 0.25, 2] as [number, number, number],
  }
  const levels = Array.from({ length: 16 }, (_, i) => (i === 5 ? 200 : 100))
  const chip = Float32Array.from(
    [0, 1, 2].flatMap((p) => levels.map((v) => (v - input.mean[p]!) * input.scale[p]!)),
  )
  const { brightness, contrast, sharpness } = measureChip(toGrey(chip, input), input)
  expect(brightness).toBeCloseTo(106.25, 3)
  expect(contrast).toBeCloseTo(Math.sqrt(10_000 / 16 - 6.25 ** 2), 3)
  // The four inner pixels' Laplacians are -400, 100, 100 and 0.
  expect(sharpness).toBeCloseTo((400 ** 2 + 2 * 100 ** 2) / 4 - 50 ** 2, 0)
})

it('the worst part of the quality decides', () => {
  const good = { sharpness: 100, brightness: 120, contrast: 50 }
  expect(rateQuality(good, 200, 1).score).toBe(1)
  expect(rateQuality(good, 80, 1).score).toBe(0.5)
  expect(rateQuality({ ...good, brightness: 255 }, 200, 1).score).toBe(0)
})
