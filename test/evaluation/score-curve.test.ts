import { describe, expect, it } from 'vitest'
import { scoreOf } from '../../src/biometrics/pipeline/judge/match.js'
import type { DataSet } from '../../tools/evaluation/data-set.js'
import { impostorPairs } from '../../tools/evaluation/pair-scores.js'
import { cosinePack, curveOf, dataSetOf, normals } from './synthetic.js'

/** On a circle, the cosine of the angle between two embeddings is their score. */
const at = (degrees: number) =>
  Float32Array.of(Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180))
const cosine = (degrees: number) => Math.cos((degrees * Math.PI) / 180)

/** Al at 0°, 10° and 40°, Bo at 90° and 130°, Cy at 60°. */
const data = dataSetOf([3, 2, 1])
const embeddings = [0, 10, 40, 90, 130, 60].map(at)

describe('rates over thresholds', () => {
  it('rates over thresholds equal those counted by hand', () => {
    // Genuine: 10°, 40°, 30° of Al, 40° of Bo. Impostor, first photos: Al–Bo 90°, Al–Cy 60°, Bo–Cy 30°.
    const curve = curveOf(data, embeddings, 0.9)
    expect([curve.genuine.length, curve.impostor.length]).toEqual([4, 3])
    expect(curve.fmr(cosine(45))).toBeCloseTo(1 / 3, 12)
    expect(curve.fnmr(cosine(35))).toBe(0.5)
    expect(curve.fnmr(cosine(20))).toBe(0.75)
  })

  it('every photo of everybody counts if all are requested', () => {
    // Al's three against Bo's two and Cy's one, Bo's two against Cy's: 6 + 3 + 2.
    const { impostor } = curveOf(data, embeddings, 0.9, 'all')
    expect(impostor.length).toBe(11)
    const expected = [90, 130, 60, 80, 120, 50, 50, 90, 20, 30, 70].map(cosine).sort((a, b) => a - b)
    for (const [i, score] of impostor.entries()) expect(score).toBeCloseTo(expected[i]!, 6)
  })

  it('a pair matches at the threshold itself, as in a verification', () => {
    const curve = curveOf(data, embeddings, 0.9)
    const highest = curve.impostor.at(-1)!
    expect([curve.falseMatches(highest), curve.falseMatches(highest + 1e-9)]).toEqual([1, 0])
  })

  it('the threshold of a rate is the lowest that lets no more impostors through', () => {
    const curve = curveOf(data, embeddings, 0.9, 'all')
    const threshold = curve.thresholdFor(2 / 11)!
    expect(curve.falseMatches(threshold)).toBeLessThanOrEqual(2)
    expect(curve.falseMatches(threshold - 2e-6)).toBeGreaterThan(2)
    expect(curve.thresholdFor(0.01)).toBeNull()
  })

  it('the equal error rate is at the threshold whose larger rate is lowest', () => {
    const curve = curveOf(data, embeddings, 0.9, 'all')
    const all = [...curve.genuine, ...curve.impostor, 1.1]
    const least = Math.min(...all.map((t) => Math.max(curve.fnmr(t), curve.fmr(t))))
    expect(curve.eer.rate).toBeCloseTo(least, 12)
    expect(Math.max(curve.fnmr(curve.eer.threshold), curve.fmr(curve.eer.threshold))).toBe(curve.eer.rate)
  })
})

const usable = embeddings.map((embedding, photo) => (photo === 0 || photo === 5 ? null : embedding))

it('a photo that cannot be used makes a miss of each of its genuine pairs, and these are counted apart', () => {
  const curve = curveOf(data, usable, 0.9)
  expect(curve.notCompared).toBe(2)
  expect(curve.fnmr(-1)).toBe(0.5)
  expect(curve.fnmrCompared(-1)).toBe(0)
  expect(curve.fnmrCompared(cosine(35))).toBe(0.5)
})

it('a photo that cannot be used gives its place to the next one, and a person without any leaves the impostors', () => {
  const { impostor, impostors } = curveOf(data, usable, 0.9)
  expect([...impostor].map((score) => Math.round((Math.acos(score) * 180) / Math.PI))).toEqual([80])
  expect(impostors.notCompared).toBe(2)
})

describe.each(['cosine', 'euclidean'] as const)('the scan, %s', (metric) => {
  it('the scan scores every pair as a verification does', () => {
    const normal = normals(4)
    const dimensions = 37
    const many = dataSetOf([3, 1, 4, 2, 5, 1, 700])
    const vectors = many.photos.map(() => Float32Array.from({ length: dimensions }, normal))
    const pack = cosinePack(dimensions, metric)
    const pairs = impostorPairs(many, vectors, pack, 'all')
    let seen = 0
    let largest = 0
    pairs.each((a, b, index) => {
      seen++
      if (many.photos[a]!.person === many.photos[b]!.person) throw new Error('a genuine pair')
      largest = Math.max(largest, Math.abs(pairs.scores[index]! - scoreOf(pack, vectors[a]!, vectors[b]!)))
    })
    expect(seen).toBe(pairs.scores.length)
    expect(seen).toBe(pairs.countWith(new Uint8Array(7).fill(1)))
    expect(largest).toBeLessThan(1e-5)
  })
})

describe('listed pairs', () => {
  const listed: DataSet = {
    ...data,
    pairs: [
      { a: 0, b: 1, genuine: true },
      { a: 0, b: 3, genuine: false },
      { a: 1, b: 4, genuine: false },
      { a: 2, b: 5, genuine: false },
    ],
  }

  it('only the listed pairs are compared', () => {
    const { genuine, impostor, impostors } = curveOf(listed, embeddings, 0.9)
    expect([genuine.length, impostor.length]).toEqual([1, 3])
    expect(impostors.peoplePairs([1, 1, 1])).toBe(2)
    expect(impostors.countWith([2, 3, 1])).toBe(2 * 2 * 3 + 2)
  })
})
