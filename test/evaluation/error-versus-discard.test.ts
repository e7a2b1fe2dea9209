import { beforeAll, expect, it } from 'vitest'
import type { Evaluation } from '../../tools/evaluation/evaluation.js'
import { seededRandom } from '../../tools/evaluation/random.js'
import { reportContent } from '../../tools/evaluation/report-content.js'
import { htmlReport } from '../../tools/evaluation/report-html.js'
import { markdownReport } from '../../tools/evaluation/report-markdown.js'
import { plots } from '../../tools/evaluation/report-plots.js'
import { DIMENSIONS, evaluated, usedPhoto } from './synthetic.js'

const PEOPLE = 200
/** The photos of every tenth person are blurred, and one of them no longer resembles the person. */
const isBlurred = (person: number) => person % 10 === 0

function evaluation(): Evaluation {
  const random = seededRandom(3)
  const anybody = () => Float32Array.from({ length: DIMENSIONS }, () => random() - 0.5)
  // The uneven photos are unrelated to the misses.
  const photo = (embedding: Float32Array, sharpness: number) =>
    usedPhoto(embedding, {
      components: {
        sharpness,
        head_pose_yaw: 10 * random() - 5,
        illumination_uniformity: 0.5 + random() / 2,
      },
    })
  const results = Array.from({ length: PEOPLE }, (_, person) => {
    const own = anybody()
    // One of the misses is unrelated to blur.
    const isMissed = isBlurred(person) || person === 1
    const sharpness = isBlurred(person) ? 5 + random() : 50 + 100 * random()
    return [photo(own, 100), photo(isMissed ? own.map((v) => -v) : own, sharpness)]
  })
  return evaluated(results).evaluation
}

let measured: Evaluation
beforeAll(() => {
  measured = evaluation()
})
const curve = (component: string) =>
  measured.by_quality_component.curves.find((found) => found.component === component)!

it('the curve of a component that predicts misses falls as its poorest photos are left out', () => {
  const { points, relative_fnmr_ci95, bound, refused_photos } = curve('sharpness')
  const at = (share: number) => points.find(({ discarded }) => discarded === share)!
  expect(at(0)).toMatchObject({ genuine_pairs: 200, misses: 21, fnmr: 0.105 })
  expect(at(0.05)).toMatchObject({ genuine_pairs: 190, misses: 11 })
  expect(at(0.1)).toMatchObject({ genuine_pairs: 180, misses: 1 })
  expect(at(0).fnmr_ci95[0]).toBeLessThan(0.105)
  expect(at(0).fnmr_ci95[1]).toBeGreaterThan(0.105)
  expect(relative_fnmr_ci95[1]).toBeLessThan(0.7)
  expect([bound, refused_photos]).toEqual([{ min: 15 }, 20])
})

it('the curve of a component that predicts no misses does not fall', () => {
  for (const component of ['illumination_uniformity', 'head_pose_yaw']) {
    const { relative_fnmr, relative_fnmr_ci95, refused_photos } = curve(component)
    expect(relative_fnmr).toBeGreaterThan(0.8)
    expect(relative_fnmr_ci95[1]).toBeGreaterThan(1)
    expect(refused_photos).toBe(0)
  }
})

it('a component that no photo has is left out', () => {
  expect(measured.by_quality_component.curves.map(({ component }) => component)).toEqual([
    'sharpness',
    'illumination_uniformity',
    'head_pose_yaw',
  ])
})

it('photos beyond the bounds of an enrolment are counted, with the misses on either side', () => {
  expect(measured.by_quality_component.refusals).toEqual({
    usable_photos: 400,
    refused_photos: 20,
    genuine_pairs: 20,
    misses: 20,
    other_genuine_pairs: 180,
    other_misses: 1,
  })
})

it('every report shows the curves', () => {
  const content = reportContent(measured, '0')
  expect(markdownReport(content)).toMatch(/\| sharpness \|.*\| at least 15 \| 20 \(5\.00 %\) \| 20 of 20 \|/)
  const figures = plots(measured)
  expect(figures.discards!.match(/>(sharpness|illumination_uniformity|head_pose_yaw)</g)).toHaveLength(3)
  expect(htmlReport(content, figures)).toContain(figures.discards)
})
