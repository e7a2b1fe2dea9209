import { describe, expect, it } from 'vitest'
import type { PhotoFace, PhotoResult } from '../../tools/evaluation/embedding-cache.js'
import { reportContent } from '../../tools/evaluation/report-content.js'
import { DIMENSIONS, evaluated, refusedPhoto, usedPhoto } from './synthetic.js'

/** A person's axis, or another's: the latter is a miss. */
const axis = (index: number) => Float32Array.from({ length: DIMENSIONS }, (_, i) => (i === index ? 1 : 0))
const photo = (index: number, face?: Partial<PhotoFace>, quality?: number) =>
  usedPhoto(axis(index), face, quality)
const refused = refusedPhoto()
const evaluationOf = (results: PhotoResult[][]) => evaluated(results, { protocol: 'all' }).evaluation

const others = Array.from({ length: 8 }, (_, person) => [photo(person), photo(person)])

describe('what errors have in common', () => {
  it('counts each pair once, under the first cause that its photos show', () => {
    const evaluation = evaluationOf([
      [photo(10), refused],
      [photo(11), photo(12, { isAmbiguous: true, yawDegrees: 50 })],
      [photo(13, { yawDegrees: 30 }), photo(14)],
      // This pair is not recognized either, without a visible cause.
      [photo(11), photo(15)],
      ...others,
    ])
    const bins = Object.fromEntries(evaluation.causes.bins.map((bin) => [bin.cause, bin]))
    expect(bins).toMatchObject({
      not_compared: { genuine_pairs: 1, misses: 1, share_of_misses: 0.25, impostor_pairs: 0 },
      other_face: { genuine_pairs: 1, misses: 1, share_of_misses: 0.25 },
      turned_head: { genuine_pairs: 1, misses: 1, share_of_misses: 0.25, fnmr: 1 },
      poor_quality: { genuine_pairs: 0, misses: 0 },
      none: { genuine_pairs: 9, misses: 1, false_matches: 1, share_of_false_matches: 1 },
    })
    const { data, configured } = evaluation
    const sum = (key: 'genuine_pairs' | 'misses' | 'impostor_pairs' | 'false_matches') =>
      evaluation.causes.bins.reduce((total, bin) => total + bin[key], 0)
    expect(sum('genuine_pairs')).toBe(data.genuine_pairs)
    expect(sum('misses')).toBe(configured.misses)
    expect(sum('impostor_pairs')).toBe(data.impostor_pairs)
    expect(sum('false_matches')).toBe(configured.false_matches)
  })

  it('finds the poorest tenth by the quality of the poorer photo', () => {
    const graded = Array.from({ length: 10 }, (_, i) => [photo(i % 8, {}, 0.5 + i / 20), photo(i % 8)])
    const { bins, bounds } = evaluationOf(graded).causes
    expect(bounds.poor_quality_below).toBe(0.55)
    expect(bins.find(({ cause }) => cause === 'poor_quality')).toMatchObject({ genuine_pairs: 1 })
  })

  it('shows a table in the report if there are errors', () => {
    const titles = (results: PhotoResult[][]) =>
      reportContent(evaluationOf(results), '1').sections.map(({ title }) => title)
    expect(titles([[photo(10), refused], ...others])).toContain('Where the errors come from')
    expect(titles(others)).not.toContain('Where the errors come from')
  })
})
