/**
 * Which series of frames show one head that did what was asked, and which guidance the others get, judged on measurements that the engine
 * made of rendered films: `test/liveness/record.ts` recorded them. Each rule is broken here by one thing only, so that no other rule
 * refuses in its place.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ACTIVE_LIVENESS_68 } from '../../../../models/pack/active-liveness.js'
import type { FrameFace, Look } from '../../../../src/biometrics/measurements.js'
import { CAPTURE_LIMITS } from '../../../../src/contract/capture-limits.js'
import {
  type FrameNote,
  judgeGeometry,
  keyIndices,
} from '../../../../src/features/challenges/film/active-geometry.js'
import type { Step } from '../../../../src/features/challenges/film/steps.js'

interface Recording {
  steps: Step[]
  frames: Array<{ note: FrameNote; look: FrameFace }>
}

function recorded(name: string): Recording {
  const text = readFileSync(new URL(`recordings/${name}.jsonl`, import.meta.url), 'utf8')
  const frames = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { steps: Step[]; note: FrameNote; look: FrameFace })
  return { steps: frames[0]!.steps, frames }
}

const head = recorded('head')
const paper = recorded('bent-paper')

function judged(frames: ReadonlyArray<{ note: FrameNote; look: Look }>, steps: readonly Step[] = head.steps) {
  const looks = frames.map(({ look }, imageIndex) => ({ ...look, imageIndex }))
  return judgeGeometry(
    looks,
    frames.map(({ note }) => note),
    steps,
    { activeLiveness: ACTIVE_LIVENESS_68 },
  )
}

const faultOf = (...given: Parameters<typeof judged>) => judged(...given).fault
const ACCEPTED = null
const FACELESS: Look = { imageIndex: 0, code: 'face_not_found' }
const LAST_STEP = head.steps.length - 1
const OUT_OF_ORDER = { guidance: 'try_again', finding: 'out_of_order' }

/** The head's film with each note changed. */
const noted = (change: (note: FrameNote, index: number) => Partial<FrameNote>) =>
  head.frames.map(({ note, look }, index) => ({ look, note: { ...note, ...change(note, index) } }))

const changed = (change: (look: FrameFace, index: number, note: FrameNote) => Look) =>
  head.frames.map(({ note, look }, index) => ({ note, look: change(look, index, note) }))
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
/** The face at another place, by this many pixels, and of another size. */
function shifted(look: FrameFace, byX: number, scale = 1): FrameFace {
  const [[x0, y0]] = look.landmarks as [[number, number]]
  const landmarks = look.landmarks.map(([x, y]): [number, number] => [
    x0 + (x - x0) * scale + byX,
    y0 + (y - y0) * scale,
  ])
  return { ...look, landmarks }
}

function sizeOf({ landmarks }: FrameFace): number {
  const [right, left, , rightMouth, leftMouth] = landmarks as Array<[number, number]>
  const middle = (a: [number, number], b: [number, number]) => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2] as const
  const [eyes, mouth] = [middle(right!, left!), middle(rightMouth!, leftMouth!)]
  const across = Math.hypot(left![0] - right![0], left![1] - right![1])
  return Math.hypot(across, eyes[0] - mouth[0], eyes[1] - mouth[1])
}

describe('a head that turned and nodded as it was asked', () => {
  it('accepts a head that moved as asked, with a key frame for each movement', () => {
    const { keys, fault } = judged(head.frames)
    expect(fault).toBe(ACCEPTED)
    expect(keys!.movements.map((index) => head.frames[index]!.note.step)).toEqual([1, 2])
    expect([head.frames[keys!.frontal]!.note.step, head.frames[keys!.last]!.note.step]).toEqual([0, 3])
  })
})

describe('paper', () => {
  it('refuses paper as flat even when it is bent and turned as far as asked, because the face lost its breadth', () => {
    expect(faultOf(paper.frames, paper.steps)).toEqual({ guidance: 'try_again', finding: 'flat' })
  })
})

describe('every frame', () => {
  const one = (index: number) => index === 12
  it.each([
    ['several faces', 'several_faces', (): Look => ({ imageIndex: 0, code: 'multiple_faces' })],
    ['a face that is far away', 'too_far', (): Look => ({ imageIndex: 0, code: 'face_too_small' })],
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
    head.steps.map((step) => (movements.includes(step) ? OPPOSITES[step]! : step))
  const [turn, nod] = head.steps.slice(1) as [Step, Step]

  it('is mirrored when every turn goes the other way and all else is right', () => {
    expect(faultOf(head.frames, opposite(turn))).toEqual({ guidance: 'mirrored', finding: 'mirrored' })
  })

  it.each([
    ['a nod that goes the other way', head.frames, opposite(nod)],
    ['a nod that goes the other way as well', head.frames, opposite(turn, nod)],
    [
      'a last look that is not frontal',
      only(ofStep(LAST_STEP), (look) => posed(look, { yaw: 20 })),
      opposite(turn),
    ],
  ])('gives the guidance wrong_direction, and no finding, for %s', (_, given, asked) => {
    expect(faultOf(given, asked)).toEqual({ guidance: 'wrong_direction' })
  })

  it.each([
    [1, 'turn_more'],
    [2, 'nod_more'],
  ])('asks for the movement that is missing in step %i: %s', (step, guidance) => {
    expect(faultOf(only(ofStep(step), () => head.frames[0]!.look))).toEqual({ guidance })
  })

  it('requires the head to return to the middle before the next movement', () => {
    const [first, second] = judged(head.frames).keys!.movements as [number, number]
    const away = only(
      (index) => index > first && index < second,
      (look) => posed(look, { yaw: 30 }),
    )
    expect(faultOf(away)).toEqual({ guidance: 'not_frontal' })
  })
})

describe('the last look', () => {
  it.each([{ yaw: 20 }, { pitch: 20 }])('refuses a last look that differs from the first by %j', (by) => {
    expect(faultOf(only(ofStep(LAST_STEP), (look) => posed(look, by)))).toEqual({ guidance: 'not_frontal' })
  })

  it('chooses the last frame that looks as at the beginning', () => {
    const end = head.frames.length - 1
    expect(judged(head.frames).keys!.last).toBe(end)
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
      const { look } = head.frames[0]!
      return { note: { step: 0, tMs: 100 * index }, look: index === 10 ? change(look) : look }
    })
  const { yaw, pitch, centre, size } = ACTIVE_LIVENESS_68.mostPerStride

  it.each([
    ['turn', (share: number) => still((look) => posed(look, { yaw: share * yaw }))],
    ['nod', (share: number) => still((look) => posed(look, { pitch: share * pitch }))],
    ['move', (share: number) => still((look) => shifted(look, share * centre * sizeOf(look)))],
    ['come closer', (share: number) => still((look) => shifted(look, 0, 1 + share * size))],
  ])(
    'allows movement by the time between two frames: it may %s by 0.4 strides in half a stride, and not by 0.7',
    (_, by) => {
      expect(faultOf(by(0.4), ['frontal'])).toBeNull()
      expect(faultOf(by(0.7), ['frontal'])).toEqual({ guidance: 'slower', finding: 'discontinuous' })
    },
  )

  it('allows no larger jump after a long pause', () => {
    const from = head.frames.length - 2
    const jump = only(
      (index) => index >= from,
      (look) => shifted(look, -2 * centre * sizeOf(look)),
    )
    const pause = CAPTURE_LIMITS.max_gap_ms - (head.frames[from]!.note.tMs - head.frames[from - 1]!.note.tMs)
    const later = jump.map(({ note, look }, index) => ({
      look,
      note: { ...note, tMs: note.tMs + (index < from ? 0 : pause) },
    }))
    for (const frames of [jump, later])
      expect(faultOf(frames)).toEqual({ guidance: 'slower', finding: 'discontinuous' })
  })
})

describe('the order of frames', () => {
  const middle = head.frames.findIndex(({ note }) => note.step === 1) + 1

  it.each([
    ['a first frame of a later step', noted(({ step }, index) => ({ step: index === 0 ? 1 : step }))],
    ['a last frame before the last step', noted(({ step }) => ({ step: Math.min(step, LAST_STEP - 1) }))],
    ['a step back', noted(({ step }, index) => ({ step: index === middle ? 0 : step }))],
    ['a step that is left out', noted(({ step }) => ({ step: step === 1 ? 0 : step }))],
    [
      'two frames of one moment',
      noted(({ tMs }, index) => ({ tMs: index === middle ? head.frames[index - 1]!.note.tMs : tMs })),
    ],
    ['a clock that runs back', noted((_, index) => ({ tMs: head.frames.at(-1 - index)!.note.tMs }))],
  ])('refuses a series with %s', (_, frames) => {
    expect(faultOf(frames)).toEqual(OUT_OF_ORDER)
  })

  it('refuses a series in which a frame was left out and its note was kept', () => {
    const faceless = only(
      (index, note) => note.step === 0 && index < 3,
      () => FACELESS,
    )
    expect(faultOf(faceless)).toBe(ACCEPTED)
    const first = head.frames.findIndex(({ note }) => note.step === 1)
    const onlyFaceless = faceless.slice(0, 3).concat(head.frames.slice(first))
    const closed = onlyFaceless.map(({ look, note }, index) => ({
      look,
      note: { ...note, tMs: index < 3 ? head.frames[first]!.note.tMs - 200 * (3 - index) : note.tMs },
    }))
    expect(faultOf(closed)).toEqual(OUT_OF_ORDER)
  })
})

describe('the time that frames take', () => {
  /** The film with the gap before each of these frames as long as given, in milliseconds. */
  const gaps = (wanted: Record<number, number>) => {
    let by = 0
    return noted(({ tMs }, index) => {
      const length = wanted[index]
      if (length !== undefined) by += length - (tMs - head.frames[index - 1]!.note.tMs)
      return { tMs: tMs + by }
    })
  }

  it('limits the time between two frames', () => {
    const { min_interval_ms: minIntervalMs, max_interval_ms: maxIntervalMs } = CAPTURE_LIMITS
    expect(faultOf(gaps({ 3: maxIntervalMs, 10: maxIntervalMs, 11: maxIntervalMs }))).toBe(ACCEPTED)
    expect(faultOf(gaps({ 10: minIntervalMs - 1 }))).toEqual({ guidance: 'try_again' })
  })

  it('accepts one gap of up to a second, where a camera stops for a moment, and no second one', () => {
    const { max_interval_ms: maxIntervalMs, max_gap_ms: maxGapMs } = CAPTURE_LIMITS
    expect(faultOf(gaps({ 10: maxGapMs }))).toBe(ACCEPTED)
    expect(faultOf(gaps({ 10: maxGapMs + 1 }))).toEqual({ guidance: 'try_again' })
    expect(faultOf(gaps({ 3: maxIntervalMs + 1, 10: maxIntervalMs + 1 }))).toEqual({ guidance: 'try_again' })
  })

  /** A person who only looks ahead: nothing moves, so nothing but the time can be wrong. */
  const still = (count: number, intervalMs: number) =>
    Array.from({ length: count }, (_, index) => ({
      look: head.frames[0]!.look,
      note: { step: 0, tMs: index * intervalMs },
    }))

  it.each([
    ['shorter than two seconds', 21, 20, CAPTURE_LIMITS.min_duration_ms / 20, 'slower'],
    ['longer than twenty seconds', 41, 42, CAPTURE_LIMITS.max_duration_ms / 40, 'try_again'],
  ])('refuses a series %s', (_, accepted, refused, intervalMs, guidance) => {
    expect(faultOf(still(accepted, intervalMs), ['frontal'])).toBe(ACCEPTED)
    expect(faultOf(still(refused, intervalMs), ['frontal'])).toEqual({ guidance })
  })
})

describe('frames in which the detector found no face', () => {
  /** Spread over the film, so that no gap between two faces is too long. */
  const without = (count: number) =>
    only(
      (index) => index % 3 === 1 && index < 3 * count,
      () => FACELESS,
    )

  it('counts at most three frames without a face as not sent', () => {
    expect(faultOf(without(3))).toBe(ACCEPTED)
    expect(faultOf(without(4))).toEqual({ guidance: 'no_face' })
  })

  it('counts a frame without a face as not sent only if the gap that it leaves is short', () => {
    const at = head.frames.findIndex(({ note }) => note.step === 3)
    const frames = noted(({ tMs }, index) => ({ tMs: index <= at ? tMs : tMs + 600 }))
    const gone = frames.map(({ note, look }, index) => {
      if (index === at) return { note, look: FACELESS }
      return index === at + 1 ? { note: { ...note, tMs: note.tMs - 200 }, look: FACELESS } : { note, look }
    })
    expect(faultOf(gone)).toEqual({ guidance: 'try_again' })
  })
})
