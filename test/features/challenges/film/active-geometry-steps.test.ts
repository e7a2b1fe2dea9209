/** Tests of what the frames of each step must show, and of the guidance where they do not, on the recorded film of a head. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ACTIVE_LIVENESS_68 } from '../../../../models/pack/active-liveness.js'
import type { FrameFace, Look } from '../../../../src/biometrics/measurements.js'
import {
  type FrameNote,
  judgeGeometry,
  keyIndices,
} from '../../../../src/features/challenges/film/active-geometry.js'
import type { Step } from '../../../../src/features/challenges/film/steps.js'

interface Frame {
  note: FrameNote
  look: FrameFace
}

const text = readFileSync(new URL('recordings/head.jsonl', import.meta.url), 'utf8')
const frames = text
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Frame & { steps: Step[] })
const { steps } = frames[0]!
const LAST = steps.length - 1

function judged(given: ReadonlyArray<{ note: FrameNote; look: Look }>, asked: readonly Step[] = steps) {
  const looks = given.map(({ look }, imageIndex) => ({ ...look, imageIndex }))
  const notes = given.map(({ note }) => note)
  return judgeGeometry(looks, notes, asked, { activeLiveness: ACTIVE_LIVENESS_68 })
}
const faultOf = (...given: Parameters<typeof judged>) => judged(...given).fault

const changed = (change: (look: FrameFace, index: number, note: FrameNote) => Look) =>
  frames.map(({ note, look }, index) => ({ note, look: change(look, index, note) }))
const only = (wanted: (index: number, note: FrameNote) => boolean, change: (look: FrameFace) => Look) =>
  changed((look, index, note) => (wanted(index, note) ? change(look) : look))
const ofStep = (step: number) => (_: number, note: FrameNote) => note.step === step

function posed(look: FrameFace, { yaw = 0, pitch = 0 }): FrameFace {
  const { components } = look.quality
  const pose = {
    head_pose_yaw: (components.head_pose_yaw ?? 0) + yaw,
    head_pose_pitch: (components.head_pose_pitch ?? 0) + pitch,
  }
  return { ...look, quality: { ...look.quality, components: { ...components, ...pose } } }
}
const scored = (look: FrameFace, score: number): FrameFace => ({
  ...look,
  quality: { ...look.quality, score },
})

describe('every frame', () => {
  const one = (index: number) => index === 12
  it.each([
    ['several faces', 'several_faces', (): Look => ({ imageIndex: 12, code: 'multiple_faces' })],
    ['a face that is far away', 'too_far', (): Look => ({ imageIndex: 12, code: 'face_too_small' })],
    [
      'a face that fills it',
      'too_close',
      (look: FrameFace): Look => ({ ...look, box: { ...look.box, width: 0.9 * look.width } }),
    ],
    [
      'a face that it cuts off',
      'cut_off',
      (look: FrameFace): Look => ({ ...look, box: { ...look.box, x: -0.5 * look.box.width } }),
    ],
  ] as const)('refuses the series when any frame shows %s', (_, guidance, change) => {
    expect(faultOf(only(one, change))).toEqual({ guidance })
  })
})

describe('the first look', () => {
  it('refuses a first frame that is not frontal', () => {
    const aside = only(ofStep(0), (look) => posed(look, { yaw: 2 * ACTIVE_LIVENESS_68.frontalDegrees }))
    expect(faultOf(aside)).toEqual({ guidance: 'not_frontal' })
  })

  it('refuses a first frame that is too poor to be compared', () => {
    const blurred = only(ofStep(0), (look) => {
      const components = { ...look.quality.components, sharpness: 0 }
      return { ...look, quality: { ...look.quality, components } }
    })
    expect(faultOf(blurred)).toEqual({ guidance: 'blurred' })
  })

  it('chooses the frontal frame of best quality, the earlier one of two equal ones', () => {
    const bestOf = (...best: number[]) =>
      judged(changed((look, index) => scored(look, best.includes(index) ? 0.99 : 0.5))).keys!.frontal
    expect([bestOf(2), bestOf(1, 3), bestOf()]).toEqual([2, 1, 0])
  })
})

const OPPOSITES: Partial<Record<Step, Step>> = {
  ...{ turn_left: 'turn_right', turn_right: 'turn_left' },
  ...{ nod_up: 'nod_down', nod_down: 'nod_up' },
}

describe('a movement', () => {
  /** The steps with the opposites of these movements instead. */
  const opposite = (...movements: Step[]) =>
    steps.map((step) => (movements.includes(step) ? OPPOSITES[step]! : step))
  const [turn, nod] = steps.slice(1) as [Step, Step]

  it('is mirrored when every turn goes the other way and all else is right', () => {
    expect(faultOf(frames, opposite(turn))).toEqual({ guidance: 'mirrored', finding: 'mirrored' })
  })

  it.each([
    ['a nod that goes the other way', frames, opposite(nod)],
    ['a nod that goes the other way as well', frames, opposite(turn, nod)],
    [
      'a last look that is not frontal',
      only(ofStep(LAST), (look) => posed(look, { yaw: 20 })),
      opposite(turn),
    ],
  ])('gives the guidance wrong_direction, and no finding, for %s', (_, given, asked) => {
    expect(faultOf(given, asked)).toEqual({ guidance: 'wrong_direction' })
  })

  it.each([
    [1, 'turn_more'],
    [2, 'nod_more'],
  ])('asks for the movement that is missing in step %i: %s', (step, guidance) => {
    expect(faultOf(only(ofStep(step), () => frames[0]!.look))).toEqual({ guidance })
  })

  it('requires the head to return to the middle before the next movement', () => {
    const [first, second] = judged(frames).keys!.movements as [number, number]
    const away = only(
      (index) => index > first && index < second,
      (look) => posed(look, { yaw: 30 }),
    )
    expect(faultOf(away)).toEqual({ guidance: 'not_frontal' })
  })
})

describe('the last look', () => {
  it.each([{ yaw: 20 }, { pitch: 20 }])('refuses a last look that differs from the first by %j', (by) => {
    expect(faultOf(only(ofStep(LAST), (look) => posed(look, by)))).toEqual({ guidance: 'not_frontal' })
  })

  it('chooses the last frame that looks as at the beginning', () => {
    const end = frames.length - 1
    expect(judged(frames).keys!.last).toBe(end)
    const by = { yaw: ACTIVE_LIVENESS_68.returnDegrees + 4 }
    expect(
      judged(
        only(
          (index) => index === end,
          (look) => posed(look, by),
        ),
      ).keys!.last,
    ).toBe(end - 1)
  })

  it('compares each of the other key frames once', () => {
    expect(keyIndices({ frontal: 0, movements: [3, 5], last: 9 })).toEqual([0, 3, 5, 9])
    expect(keyIndices({ frontal: 4, movements: [], last: 4 })).toEqual([4])
  })
})

describe('how far a head may have moved', () => {
  /**
   * A head that looks ahead except in one frame; ten frames a second, so half of the movement that a stride of 200 ms
   * allows.
   */
  const still = (change: (look: FrameFace) => FrameFace) =>
    Array.from({ length: 21 }, (_, index) => {
      const { look } = frames[0]!
      return { note: { step: 0, tMs: 100 * index }, look: index === 10 ? change(look) : look }
    })
  const shifted = (look: FrameFace, byX: number, scale = 1): FrameFace => {
    const [[x0, y0]] = look.landmarks as [[number, number]]
    const landmarks = look.landmarks.map(([x, y]): [number, number] => [
      x0 + (x - x0) * scale + byX,
      y0 + (y - y0) * scale,
    ])
    return { ...look, landmarks }
  }
  const { yaw, pitch, centre, size } = ACTIVE_LIVENESS_68.mostPerStride
  const spread = Math.hypot(77, 84)

  it.each([
    ['turn', (share: number) => still((look) => posed(look, { yaw: share * yaw }))],
    ['nod', (share: number) => still((look) => posed(look, { pitch: share * pitch }))],
    ['move', (share: number) => still((look) => shifted(look, share * centre * spread))],
    ['come closer', (share: number) => still((look) => shifted(look, 0, 1 + share * size))],
  ])(
    'allows movement by the time between two frames: it may %s by 0.4 strides in half a stride, and not by 0.7',
    (_, by) => {
      expect(faultOf(by(0.4), ['frontal'])).toBeNull()
      expect(faultOf(by(0.7), ['frontal'])).toEqual({ guidance: 'slower', finding: 'discontinuous' })
    },
  )
})
