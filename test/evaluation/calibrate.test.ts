import { beforeAll, describe, expect, it } from 'vitest'
import { parseCalibration } from '../../models/pack/calibration.js'
import { calibrate } from '../../tools/evaluation/calibrate.js'
import type { Measured } from '../../tools/evaluation/evaluation.js'
import type { PeopleGroup } from '../../tools/evaluation/people-groups.js'
import { reportContent } from '../../tools/evaluation/report-content.js'
import { htmlReport } from '../../tools/evaluation/report-html.js'
import { markdownReport } from '../../tools/evaluation/report-markdown.js'
import { plots } from '../../tools/evaluation/report-plots.js'
import { dataSetOf, evaluated, population, refusedPhoto, usedPhoto } from './synthetic.js'

const PEOPLE = 120
const NOW = Date.UTC(2026, 4, 31)

function measuredOn(people: number): { measured: Measured; groups: PeopleGroup[] } {
  const { face, photo } = population(7, { share: 0.3, weight: 4 })
  const data = dataSetOf(new Array<number>(people).fill(2))
  data.name = 'gate <b>3</b>'
  const results = data.people.map((_, person) => {
    const own = face()
    const [first, second] = [photo(own), photo(own)].map((one) => usedPhoto(one, {}, (person % 10) / 10))
    return [first!, person === 5 ? refusedPhoto() : second!]
  })
  const shift = (group: string, isIn: (person: number) => boolean) => ({
    label: 'shift',
    group,
    has: Uint8Array.from(data.people, (_, person) => (isIn(person) ? 1 : 0)),
    people: data.people.filter((_, person) => isIn(person)).length,
  })
  const groups = [shift('early', (person) => person % 2 === 0), shift('night', (person) => person < 4)]
  return { measured: evaluated(results, { data, groups, now: NOW }), groups }
}

let measured: Measured
let groups: PeopleGroup[]
beforeAll(() => {
  ;({ measured, groups } = measuredOn(PEOPLE))
})

describe('an evaluation', () => {
  it('counts all pairs, and those that could not be compared', () => {
    expect(measured.evaluation.data).toEqual({
      name: 'gate <b>3</b>',
      photos: 240,
      people: 120,
      genuine_pairs: 120,
      impostor_pairs: 7140,
      people_pairs: 7140,
      genuine_not_compared: 1,
      impostor_not_compared: 0,
      failed_to_acquire: 1,
    })
    expect(measured.evaluation.refused).toEqual({ 'p5/1.jpg': 'face_not_found' })
  })

  it('gives the same figures when it is repeated', () => {
    expect(measuredOn(PEOPLE).measured.evaluation).toEqual(measured.evaluation)
  })

  it('states no rate that so many pairs of people cannot show', () => {
    const { points, lowest_fmr } = measured.evaluation
    expect(lowest_fmr).toBeCloseTo(3 / 7140, 12)
    expect(points.map(({ fmr, supported }) => [fmr, supported])).toEqual([
      [0.01, true],
      [0.001, true],
    ])
  })

  it('lists the worse group first, and does not judge a group of four people', () => {
    const [{ groups: rates, fmr }] = measured.evaluation.groups as [Measured['evaluation']['groups'][0]]
    expect(
      rates.map(({ group, people, impostor_pairs, judged }) => [group, people, impostor_pairs, judged.fmr]),
    ).toEqual([
      ['early', 60, 1770, true],
      ['night', 4, 6, false],
    ])
    expect(fmr).toEqual({ worst_to_geometric_mean: null, worst_to_best: null })
  })

  it('divides the compared pairs by quality without losing one', () => {
    const bins = measured.evaluation.by_quality
    const total = (key: 'genuine_pairs' | 'impostor_pairs' | 'false_matches') =>
      bins.reduce((sum, bin) => sum + bin[key], 0)
    expect([total('genuine_pairs'), total('impostor_pairs')]).toEqual([119, 7140])
    expect(total('false_matches')).toBe(measured.evaluation.configured.false_matches)
    expect(measured.evaluation.by_age).toEqual([])
  })
})

describe('a calibration', () => {
  it('a calibration takes each threshold from the upper end of the interval, never below the measured point', () => {
    const { points } = calibrate(measured, groups)
    expect(points.map(({ fmr }) => fmr)).toEqual([0.01, 0.005, 0.002, 0.001, 0.0005])
    for (const { fmr, threshold, measured_fmr, fmr_ci95 } of points) {
      expect(fmr_ci95[1]).toBeLessThanOrEqual(fmr)
      expect(measured_fmr).toBeLessThan(fmr)
      expect(measured_fmr).toBe(measured.curve.fmr(threshold))
      expect(threshold).toBeGreaterThan(measured.curve.thresholdFor(fmr)!)
    }
  })

  it('a calibration keeps its rate on people with whom it was not measured', () => {
    const { points } = calibrate(measured, groups)
    const { face, photo } = population(1234, { share: 0.3, weight: 4 })
    const strangers = Array.from({ length: 1500 }, () => photo(face()))
    const { threshold } = points[0]!
    let [matches, pairs] = [0, 0]
    for (const [i, a] of strangers.entries())
      for (const b of strangers.slice(i + 1)) {
        pairs++
        if (a.reduce((sum, value, k) => sum + value * b[k]!, 0) >= threshold) matches++
      }
    expect(matches / pairs).toBeLessThan(0.01)
    expect(matches / pairs).toBeGreaterThan(0.002)
  })

  it('writes a calibration that the reader of packs accepts, with its groups', () => {
    const calibration = calibrate(measured, groups, 'gate')
    expect(parseCalibration(JSON.stringify(calibration), 'here')).toEqual(calibration)
    expect(calibration).toMatchObject({ date: '2026-05-31', data: { name: 'gate', people: 120 } })
    const night = calibration.groups.find(({ group }) => group === 'night')!
    expect(night.points).toHaveLength(calibration.points.length)
    expect(night.points[4]!.fmr_ci95[1]).toBe(0.5)
  })

  it('refuses to calibrate on a handful of people', () => {
    const few = measuredOn(20)
    expect(() => calibrate(few.measured, [])).toThrow(expect.objectContaining({ code: 'too_few_people' }))
  })
})

const html = () => htmlReport(reportContent(measured.evaluation, '1.2.3'), plots(measured.evaluation))

it('a report is one page that fetches nothing and runs nothing', () => {
  const page = html()
  expect(page).not.toMatch(
    /<script|<link|@import|\bsrc="(?!data:)|\bhref=|url\(|https?:\/\/(?!www\.w3\.org\/)/,
  )
  expect(page.match(/<svg/g)).toHaveLength(2)
  expect(page).toContain('DET curve')
})

it('a report holds the measured figures', () => {
  const { configured } = measured.evaluation
  expect(html()).toContain(`<td>${(100 * configured.measured_fnmr).toFixed(2)} %</td>`)
  expect(html()).toContain('95 % interval')
  expect(html()).toContain('1,000 replicates, seed 1')
})

it('a report escapes names instead of reading them as markup', () => {
  expect(html()).toContain('gate &lt;b&gt;3&lt;/b&gt;')
  expect(markdownReport(reportContent(measured.evaluation, '1'))).toContain('gate \\<b\\>3\\</b\\>')
})

it('a report names no photo and no person by default', () => {
  const texts = [html(), markdownReport(reportContent(measured.evaluation, '1'))]
  for (const text of texts) expect(text).not.toMatch(/p\d+\/\d\.jpg|\bp5\b/)
})

it('a report says whether the requested rate is kept', () => {
  const { evaluation } = measured
  const verdict = (low: number, high: number) =>
    reportContent(
      {
        ...evaluation,
        configured: { ...evaluation.configured, measured_fmr: low, measured_fmr_ci95: [low, high] },
      },
      '1',
    ).verdict.state
  expect([verdict(0.001, 0.01), verdict(0.005, 0.02), verdict(0.011, 0.02)]).toEqual([
    'kept',
    'open',
    'broken',
  ])
})

it('a report can be written for data without any compared pair', () => {
  const nothing = [1, 2].map(() => [refusedPhoto('low_quality'), refusedPhoto('low_quality')])
  const { evaluation } = evaluated(nothing, { protocol: 'all' })
  expect(evaluation.configured.measured_fnmr).toBe(1)
  expect(plots(evaluation)).toEqual({ det: null, scores: null, discards: null })
  expect(reportContent(evaluation, '1').verdict.state).toBe('open')
})
