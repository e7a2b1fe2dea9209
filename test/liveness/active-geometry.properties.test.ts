/** Properties that a challenge's frames must have for any steps, judged on measurements without pixels. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ACTIVE_LIVENESS_68 } from '../../models/pack/active-liveness.js'
import type { FrameFace, Look } from '../../src/biometrics/measurements.js'
import { type FrameNote, judgeGeometry } from '../../src/features/challenges/film/active-geometry.js'
import { drawSteps, MODES, type Step } from '../../src/features/challenges/film/steps.js'
import { Random } from '../hostile/random.js'
import { check } from '../support/properties.js'
import { type Moment, type Reach, trajectory } from './trajectory.js'

interface Series {
  steps: Step[]
  notes: FrameNote[]
  looks: FrameFace[]
  random: Random
}

/** Measurements that the engine would make of a head that goes well past the required angles. */
const CLEAR: Reach = { turn: [28, 34], nod: [18, 24] }

const series = fc.integer().map((seed): Series => {
  const random = new Random(seed)
  const steps = drawSteps(MODES, (below) => random.below(below))
  const moments = trajectory(steps, CLEAR, random)
  return { steps, notes: moments.map(({ step, tMs }) => ({ step, tMs })), looks: moments.map(lookOf), random }
})

const EYES_PX = 60

function lookOf({ yaw, pitch, shift }: Moment, imageIndex: number): FrameFace {
  const [x, y] = [320 + EYES_PX * shift[0], 240 + EYES_PX * shift[1]]
  const points: Array<[number, number]> = [
    [x - 30, y - 30],
    [x + 30, y - 30],
    [x, y + 6],
    [x - 22, y + 36],
    [x + 22, y + 36],
  ]
  return {
    imageIndex,
    faces: { count: 1, isLargestCentral: true },
    box: { x: x - 70, y: y - 90, width: 140, height: 180 },
    landmarks: points,
    width: 640,
    height: 480,
    quality: {
      score: 0.8,
      faceWidthPx: 140,
      detection: 0.9,
      sharpness: 80,
      brightness: 120,
      contrast: 40,
      components: {
        sharpness: 80,
        luminance_mean: 120,
        luminance_variance: 900,
        head_pose_yaw: yaw,
        head_pose_pitch: pitch,
      },
    },
  }
}

function isAccepted(looks: readonly Look[], notes: readonly FrameNote[], steps: readonly Step[]): boolean {
  return judgeGeometry(looks, notes, steps, { activeLiveness: ACTIVE_LIVENESS_68 }).keys !== null
}

const framesOf = ({ notes }: Series, wanted: number) =>
  notes.flatMap(({ step }, at) => (step === wanted ? [at] : []))

describe('frames of a challenge', () => {
  it('frames pass as they were captured', () => {
    check(
      fc.property(series, ({ looks, notes, steps }) => {
        expect(isAccepted(looks, notes, steps)).toBe(true)
      }),
    )
  })

  it('frames never pass with two movements exchanged', () => {
    check(
      fc.property(series, (given) => {
        const [first, second] = [framesOf(given, 1), framesOf(given, 2)]
        const looks = [...given.looks]
        for (const [i, at] of first.entries()) looks[at] = given.looks[second[i % second.length]!]!
        for (const [i, at] of second.entries()) looks[at] = given.looks[first[i % first.length]!]!
        expect(isAccepted(looks, given.notes, given.steps)).toBe(false)
      }),
    )
  })

  it('frames never pass if one frame replaces all later ones', () => {
    check(
      fc.property(series, fc.double({ min: 0, max: 1, noNaN: true }), (given, share) => {
        const before = framesOf(given, given.steps.length - 2)[0]!
        const frozen = Math.floor(share * before)
        const looks = given.looks.map((look, at) => (at > frozen ? given.looks[frozen]! : look))
        expect(isAccepted(looks, given.notes, given.steps)).toBe(false)
      }),
    )
  })

  it('frames never pass without the frames of a step', () => {
    check(
      fc.property(series, fc.nat(), (given, pick) => {
        const gone = pick % given.steps.length
        const kept = given.notes.flatMap(({ step }, at) => (step === gone ? [] : [at]))
        const looks = kept.map((at) => given.looks[at]!)
        const notes = kept.map((at) => given.notes[at]!)
        expect(isAccepted(looks, notes, given.steps)).toBe(false)
      }),
    )
  })

  it('frames never pass without one of the movements', () => {
    check(
      fc.property(series, fc.nat(), (given, pick) => {
        const idle = 1 + (pick % (given.steps.length - 2))
        const looks = given.looks.map((look, at) => (given.notes[at]!.step === idle ? given.looks[0]! : look))
        expect(isAccepted(looks, given.notes, given.steps)).toBe(false)
      }),
    )
  })

  it('frames never pass in the opposite direction', () => {
    check(
      fc.property(series, fc.nat(), (given, pick) => {
        const turned = 1 + (pick % (given.steps.length - 2))
        const opposite = {
          frontal: 'frontal',
          turn_left: 'turn_right',
          turn_right: 'turn_left',
          nod_up: 'nod_down',
          nod_down: 'nod_up',
        } as const
        const steps = given.steps.map((step, at) => (at === turned ? opposite[step] : step))
        expect(isAccepted(given.looks, given.notes, steps)).toBe(false)
      }),
    )
  })

  it('frames never pass with a movement later than the steps say', () => {
    check(
      fc.property(series, (given) => {
        const by = Math.max(framesOf(given, 1).length, framesOf(given, 0).length)
        const looks = given.looks.map((_, at) => given.looks[Math.max(at - by, 0)]!)
        expect(isAccepted(looks, given.notes, given.steps)).toBe(false)
      }),
    )
  })

  it('frames never pass with a clock that stands, runs back, or runs far too fast or slowly', () => {
    check(
      fc.property(series, fc.constantFrom(0, -1, 0.1, 8), (given, factor) => {
        const endMs = factor < 0 ? given.notes.at(-1)!.tMs : 0
        const notes = given.notes.map(({ step, tMs }) => ({ step, tMs: endMs + Math.round(factor * tMs) }))
        expect(isAccepted(given.looks, notes, given.steps)).toBe(false)
      }),
    )
  })

  it('frames pass if the detector missed a face now and then, but not if it found none for long', () => {
    check(
      fc.property(series, (given) => {
        const missing = (gone: ReadonlySet<number>): Look[] =>
          given.looks.map((look, at) => (gone.has(at) ? { imageIndex: at, code: 'face_not_found' } : look))
        const one = framesOf(given, 0)[1]!
        expect(isAccepted(missing(new Set([one])), given.notes, given.steps)).toBe(true)
        const many = framesOf(given, 1)
        expect(isAccepted(missing(new Set(many)), given.notes, given.steps)).toBe(false)
      }),
    )
  })
})
