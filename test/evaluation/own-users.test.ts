/** The false match rate between users without labels, on embeddings whose distribution is known exactly. */
import { describe, expect, it } from 'vitest'
import { checkCalibration } from '../../models/pack/calibration.js'
import { thresholdForFmr } from '../../models/pack/model-pack.js'
import { gradeOf } from '../../models/pack/pack-grade.js'
import { calibrateFromUsers, type UsersInput } from '../../tools/evaluation/calibrate-from-users.js'
import { likelyDuplicates } from '../../tools/evaluation/likely-duplicates.js'
import { seededRandom } from '../../tools/evaluation/random.js'
import { type StrangerPairs, strangerPairs } from '../../tools/evaluation/stranger-pairs.js'
import { fitTail, scoreAbove, shareAbove } from '../../tools/evaluation/tail-fit.js'
import { UsersRates } from '../../tools/evaluation/users-rates.js'
import { uprightMeasurement } from '../support/packs.js'
import { cosinePack, DIMENSIONS, normals, population, unit } from './synthetic.js'

/** A face in a direction at random: the cosine of two of them has the density (1 - t²)^((d - 3) / 2). */
function strangers(seed: number, count: number): Float32Array[] {
  const normal = normals(seed)
  return Array.from({ length: count }, () => unit(Float32Array.from({ length: DIMENSIONS }, normal)))
}

/** Another photo of the same person. */
function secondPhotos(faces: Float32Array[], seed: number): Float32Array[] {
  const normal = normals(seed)
  return faces.map((face) => unit(face.map((value) => value + 0.05 * normal())))
}

/** Share of pairs of such faces that score at least t, by Simpson's rule. */
function trueRate(t: number): number {
  const density = (x: number) => (1 - x * x) ** ((DIMENSIONS - 3) / 2)
  const integral = (from: number) => {
    const steps = 2000
    const width = (1 - from) / steps
    let sum = density(from) + density(1)
    for (let i = 1; i < steps; i++) sum += (i % 2 === 1 ? 4 : 2) * density(from + i * width)
    return (sum * width) / 3
  }
  return integral(t) / integral(-1)
}

function trueThreshold(rate: number): number {
  let [low, high] = [0, 1]
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2
    if (trueRate(middle) > rate) low = middle
    else high = middle
  }
  return high
}

const pairsOf = (embeddings: Float32Array[], tenantOf = embeddings.map(() => 0)): StrangerPairs =>
  strangerPairs({ pack: cosinePack(), embeddings, tenantOf })

const inputOf = (embeddings: Float32Array[], change: Partial<UsersInput> = {}): UsersInput => ({
  pack: cosinePack(),
  embeddings,
  tenantOf: embeddings.map(() => 0),
  tenants: ['acme'],
  photos: embeddings.length,
  seed: 1,
  now: Date.UTC(2026, 4, 31),
  ...change,
})

const thresholdAt = (input: UsersInput, fmr: number) =>
  calibrateFromUsers(input).calibration.points.find((point) => point.fmr === fmr)!.threshold

describe('pairs of strangers', () => {
  it('are every pair of one tenant, and none of two tenants', () => {
    const faces = strangers(1, 50)
    const found = pairsOf(faces, [...new Array<number>(20).fill(0), ...new Array<number>(30).fill(1)])
    expect(found.pairs).toBe(190 + 435)
    expect(found.histogram.reduce((sum, count) => sum + count, 0)).toBe(found.pairs)
    for (const [i, p] of found.tail.p.entries()) expect(p < 20).toBe(found.tail.q[i]! < 20)
    expect(found.countWith(faces.map(() => 1))).toBe(found.pairs)
    expect(found.countWith(faces.map((_, user) => (user < 20 ? 2 : 0)))).toBe(4 * 190)
  })

  it('have the scores that a verification computes, highest first, with Euclidean distances as well', () => {
    const faces = strangers(2, 40)
    for (const metric of ['cosine', 'euclidean'] as const) {
      const { tail } = strangerPairs({
        pack: cosinePack(DIMENSIONS, metric),
        embeddings: faces,
        tenantOf: faces.map(() => 0),
      })
      const scores = faces
        .flatMap((a, p) =>
          faces.slice(p + 1).map((b) => {
            const product = a.reduce((sum, value, i) => sum + value * b[i]!, 0)
            return metric === 'cosine' ? product : 1 - Math.sqrt(2 - 2 * product) / 2
          }),
        )
        .sort((x, y) => y - x)
      expect(tail.scores.length).toBeGreaterThanOrEqual(400)
      for (let rank = 0; rank < 400; rank++) expect(tail.scores[rank]).toBeCloseTo(scores[rank]!, 5)
    }
  })
})

describe('a fitted tail', () => {
  it('finds shape and rates of a generalized Pareto distribution', () => {
    for (const shape of [-0.3, -0.1, 0.2]) {
      const random = seededRandom(11)
      const scores = Float64Array.from(
        { length: 4000 },
        () => 0.3 + (0.05 / shape) * ((1 - random()) ** -shape - 1),
      )
      const fit = fitTail(scores.sort().reverse(), 0.3, 400_000)!
      expect(fit.shape).toBeCloseTo(shape, 1)
      const at = 0.3 + (0.05 / shape) * (0.01 ** -shape - 1)
      expect(Math.abs(shareAbove(fit, at) / 1e-4 - 1)).toBeLessThan(0.15)
      expect(shareAbove(fit, scoreAbove(fit, 1e-5))).toBeCloseTo(1e-5, 12)
    }
  })

  it('counts a score as often as its weight', () => {
    const scores = pairsOf(strangers(3, 60)).tail.scores
    const doubled = Float64Array.from([...scores, ...scores])
      .sort()
      .reverse()
    const twice = fitTail(scores, scores[150]!, 1770, new Float64Array(scores.length).fill(2))!
    const both = fitTail(doubled, scores[150]!, 1770)!
    expect(twice.share).toBe(both.share)
    expect(twice.shape).toBeCloseTo(both.shape, 2)
  })

  it('is refused to fewer than 25 scores', () => {
    const few = Float64Array.from({ length: 24 }, (_, i) => 1 - i / 100)
    expect(fitTail(few, 0, 1000)).toBeNull()
  })
})

describe('the intervals', () => {
  it('hold the true rate in at least 94 of 100 samples, measured and extrapolated', () => {
    const rates = [1e-2, 1e-3, 1e-4]
    const thresholds = rates.map(trueThreshold)
    const held = { measured: 0, extrapolated: rates.map(() => 0), safe: 0 }
    for (let sample = 0; sample < 100; sample++) {
      const users = new UsersRates(pairsOf(strangers(500 + sample, 80)), sample, 200)
      const tail = users.fittedTail()!
      const holds = ([low, high]: [number, number], rate: number) => (low <= rate && rate <= high ? 1 : 0)
      held.measured += holds(users.reader.at([thresholds[0]!])[0]!.measured_fmr_ci95, rates[0]!)
      for (const [i, rate] of rates.entries())
        if (i > 0) held.extrapolated[i]! += holds(tail.intervalAt(thresholds[i]!), rate)
      held.safe += trueRate(tail.thresholdFor(1e-4) ?? 1) <= 1e-4 ? 1 : 0
    }
    expect(held.measured).toBeGreaterThanOrEqual(94)
    expect(held.extrapolated[1]).toBeGreaterThanOrEqual(94)
    expect(held.extrapolated[2]).toBeGreaterThanOrEqual(94)
    expect(held.safe).toBeGreaterThanOrEqual(94)
  })
})

describe('users who are likely one person', () => {
  const faces = strangers(40, 400)

  it('are found as people, not as pairs, and each person keeps one user', () => {
    const [first, second] = [secondPhotos(faces.slice(0, 4), 41), secondPhotos(faces.slice(0, 1), 42)]
    const { people, surplus } = likelyDuplicates(pairsOf([...faces, ...first, ...second]))
    expect(people).toBe(4)
    expect(surplus.toSorted((a, b) => a - b)).toEqual([400, 401, 402, 403, 404])
  })

  it('are hardly ever seen among strangers', () => {
    let seen = 0
    for (let seed = 50; seed < 90; seed++) seen += likelyDuplicates(pairsOf(strangers(seed, 300))).people
    expect(seen).toBeLessThanOrEqual(8)
  })

  it('do not include a face that many users resemble: its matches are false matches', () => {
    // Four users score 0.93 with one face, and less than 0.87 with each other.
    const wolf = faces[0]!
    const directions: Float32Array[] = [wolf]
    for (const vector of strangers(43, 4)) {
      for (const other of directions) {
        const product = vector.reduce((sum, value, i) => sum + value * other[i]!, 0)
        for (const [i, value] of other.entries()) vector[i]! -= product * value
      }
      const length = Math.hypot(...vector)
      directions.push(vector.map((value) => value / length))
    }
    const star = directions
      .slice(1)
      .map((direction) => wolf.map((value, i) => 0.93 * value + Math.sqrt(1 - 0.93 ** 2) * direction[i]!))
    const { people, surplus, cut } = likelyDuplicates(pairsOf([...faces, ...star]))
    expect(cut).toBeLessThan(0.93)
    expect([people, surplus]).toEqual([0, []])
  })

  it('move the threshold for 1e-4 by less than 5 % when they are one in a hundred, and by more where they are kept', () => {
    for (const seed of [80, 90, 100]) {
      const crowd = strangers(seed, 570)
      const mixed = [...crowd, ...secondPhotos(crowd.slice(0, 6), seed + 1)]
      const [clean, kept] = [crowd, mixed].map((users) => {
        const measured = new UsersRates(pairsOf(users), 1).measured()
        return measured.find(({ fmr }) => fmr === 1e-4)!.threshold
      }) as [number, number]
      expect(Math.abs(thresholdAt(inputOf(mixed), 1e-4) / clean - 1)).toBeLessThan(0.02)
      expect(kept / clean - 1).toBeGreaterThan(0.04)
    }
  })
})

describe('a calibration from users', () => {
  const { calibration, histogram } = calibrateFromUsers(inputOf(strangers(7, 300)))

  it('says how it was got, and knows no FNMR', () => {
    expect(checkCalibration(calibration, 'test')).toBe(calibration)
    expect(calibration).toMatchObject({
      source: 'users',
      date: '2026-05-31',
      data: { people: 300, genuine_pairs: 0, impostor_pairs: 44_850, likely_duplicates: 0 },
    })
    for (const point of calibration.points) expect([point.fnmr, point.fnmr_ci95]).toEqual([null, [0, 1]])
    expect(histogram.reduce((sum, count) => sum + count, 0)).toBe(44_850)
  })

  it('measures what its pairs show, extrapolates below, and ends where no score is surely high enough', () => {
    const measured = calibration.points.filter(({ basis }) => basis === undefined)
    const extrapolated = calibration.points.filter(({ basis }) => basis === 'extrapolated')
    expect(measured.map(({ fmr }) => fmr)).toEqual([0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001])
    expect(extrapolated.map(({ fmr }) => fmr)).toEqual([5e-5, 2e-5, 1e-5])
    for (const { fmr, fmr_ci95 } of calibration.points) expect(fmr_ci95[1]).toBeLessThanOrEqual(fmr)
  })

  it('signs an extrapolated rate as such, and its pack is of evaluation grade there', () => {
    const upright = uprightMeasurement(DIMENSIONS)
    const pack = { ...cosinePack(), calibration: { ...calibration, upright } }
    expect(thresholdForFmr(pack, 1e-4).basis).toBe('measured')
    expect(gradeOf(pack, 1e-4).grade).toBe('ungrouped')
    expect(thresholdForFmr(pack, 5e-5).basis).toBe('extrapolated')
    // Between a measured point and an extrapolated one, the threshold rests on both.
    expect(thresholdForFmr(pack, 7e-5).basis).toBe('extrapolated')
    expect(gradeOf(pack, 5e-5)).toEqual({
      grade: 'evaluation',
      reasons: ['its threshold was extrapolated from the scores of 300 people, too few to show the rate'],
    })
  })

  it('has a group for a tenant whose own users show the lowest rate, and none for a smaller one', () => {
    const embeddings = strangers(8, 360)
    const tenantOf = embeddings.map((_, user) => (user < 340 ? 0 : 1))
    const { groups, data } = calibrateFromUsers(
      inputOf(embeddings, { tenantOf, tenants: ['acme', 'beta'] }),
    ).calibration
    expect(groups.map(({ label, group, people }) => [label, group, people])).toEqual([
      ['tenant', 'acme', data.people - 20],
    ])
  })

  it('is refused to users who are too few', () => {
    expect(() => calibrateFromUsers(inputOf(strangers(9, 29)))).toThrow(
      expect.objectContaining({ code: 'too_few_people' }),
    )
  })

  it('counts people, of whom some resemble each other, within its intervals', () => {
    const family = { share: 0.3, weight: 4 }
    const many = population(99, family)
    const truth = pairsOf(Array.from({ length: 2500 }, () => many.photo(many.face())))
    const rateOf = (threshold: number) =>
      truth.tail.scores.filter((score) => score >= threshold).length / truth.pairs
    let safe = 0
    for (let sample = 0; sample < 40; sample++) {
      const { face, photo } = population(2000 + 7 * sample, family)
      const users = new UsersRates(pairsOf(Array.from({ length: 80 }, () => photo(face()))), sample, 200)
      if (rateOf(users.fittedTail()!.thresholdFor(1e-3) ?? 1) <= 1e-3) safe++
    }
    expect(safe).toBeGreaterThanOrEqual(36)
  })
})
