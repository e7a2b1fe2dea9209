/**
 * Which series of frames show one head that did what was asked, judged on measurements that the engine made of rendered films:
 * `test/liveness/record.ts` recorded them. Each rule is broken here by one thing only, so that no other rule refuses in its place.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ACTIVE_LIVENESS_68 } from '../../../../models/pack/active-liveness.js'
import type { FrameFace, Look } from '../../../../src/biometrics/measurements.js'
import { CAPTURE_LIMITS } from '../../../../src/contract/capture-limits.js'
import { type FrameNote, judgeGeometry } from '../../../../src/features/challenges/film/active-geometry.js'
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
const OUT_OF_ORDER = { guidance: 'try_again', finding: 'out_of_order' }

/** The head's film with each note changed. */
const noted = (change: (note: FrameNote, index: number) => Partial<FrameNote>) =>
  head.frames.map(({ note, look }, index) => ({ look, note: { ...note, ...change(note, index) } }))

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

describe('continuity', () => {
  const { mostPerStride } = ACTIVE_LIVENESS_68
  const DISCONTINUOUS = { guidance: 'slower', finding: 'discontinuous' }
  /** From this frame on, in the middle of the last frontal look, something else is in front of the camera. */
  const from = head.frames.length - 2
  const changed = (change: (look: FrameFace) => FrameFace) =>
    head.frames.map(({ note, look }, index) => ({ note, look: index < from ? look : change(look) }))
  const moved = (look: FrameFace, byX: number, by = 1): FrameFace => {
    const [[x, y]] = look.landmarks as [[number, number]]
    const at = ([px, py]: readonly [number, number]): [number, number] => [
      x + (px - x) * by + byX,
      y + (py - y) * by,
    ]
    return { ...look, landmarks: look.landmarks.map((point) => at(point as [number, number])) }
  }
  const posed = (look: FrameFace, by: { yaw?: number; pitch?: number }): FrameFace => {
    const { components } = look.quality
    const { head_pose_yaw: yaw = 0, head_pose_pitch: pitch = 0 } = components
    const pose = { head_pose_yaw: yaw + (by.yaw ?? 0), head_pose_pitch: pitch + (by.pitch ?? 0) }
    return { ...look, quality: { ...look.quality, components: { ...components, ...pose } } }
  }
  /** The head looks aside for one frame of the last step, further than a head can move until the next frame. */
  const glanced = (by: { yaw?: number; pitch?: number }) =>
    head.frames.map(({ note, look }, index) => ({ note, look: index === from ? posed(look, by) : look }))

  it.each([
    ['in another place', changed((look) => moved(look, -sizeOf(look)))],
    ['of another size', changed((look) => moved(look, 0, 1 + 3 * mostPerStride.size))],
    ['turned elsewhere', glanced({ yaw: 2 * mostPerStride.yaw })],
    ['nodding elsewhere', glanced({ pitch: 2 * mostPerStride.pitch })],
  ])('refuses a face that is suddenly %s', (_, frames) => {
    expect(faultOf(frames)).toEqual(DISCONTINUOUS)
  })

  it('allows no larger jump after a long pause', () => {
    const jump = changed((look) => moved(look, -2 * mostPerStride.centre * sizeOf(look)))
    const pause = CAPTURE_LIMITS.max_gap_ms - (head.frames[from]!.note.tMs - head.frames[from - 1]!.note.tMs)
    const frames = jump.map(({ note, look }, index) => ({
      look,
      note: { ...note, tMs: note.tMs + (index < from ? 0 : pause) },
    }))
    expect(faultOf(jump)).toEqual(DISCONTINUOUS)
    expect(faultOf(frames)).toEqual(DISCONTINUOUS)
  })
})

function sizeOf({ landmarks }: FrameFace): number {
  const [right, left, , rightMouth, leftMouth] = landmarks as Array<[number, number]>
  const middle = (a: [number, number], b: [number, number]) => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2] as const
  const [eyes, mouth] = [middle(right!, left!), middle(rightMouth!, leftMouth!)]
  const across = Math.hypot(left![0] - right![0], left![1] - right![1])
  return Math.hypot(across, eyes[0] - mouth[0], eyes[1] - mouth[1])
}

describe('the order of frames', () => {
  const lastStep = head.steps.length - 1
  const middle = head.frames.findIndex(({ note }) => note.step === 1) + 1

  it.each([
    ['a first frame of a later step', noted(({ step }, index) => ({ step: index === 0 ? 1 : step }))],
    ['a last frame before the last step', noted(({ step }) => ({ step: Math.min(step, lastStep - 1) }))],
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
    const faceless = head.frames.map(({ note, look }, imageIndex): { note: FrameNote; look: Look } =>
      note.step === 0 && imageIndex < 3
        ? { note, look: { imageIndex, code: 'face_not_found' } }
        : { note, look },
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

  it('refuses a series shorter than two seconds', () => {
    expect(faultOf(still(21, CAPTURE_LIMITS.min_duration_ms / 20), ['frontal'])).toBe(ACCEPTED)
    expect(faultOf(still(20, CAPTURE_LIMITS.min_duration_ms / 20), ['frontal'])).toEqual({
      guidance: 'slower',
    })
  })

  it('refuses a series longer than twenty seconds', () => {
    expect(faultOf(still(41, CAPTURE_LIMITS.max_duration_ms / 40), ['frontal'])).toBe(ACCEPTED)
    expect(faultOf(still(42, CAPTURE_LIMITS.max_duration_ms / 40), ['frontal'])).toEqual({
      guidance: 'try_again',
    })
  })
})

describe('frames in which the detector found no face', () => {
  /** Spread over the film, so that no gap between two faces is too long. */
  const without = (count: number) =>
    head.frames.map(({ note, look }, imageIndex): { note: FrameNote; look: Look } =>
      imageIndex % 3 === 1 && imageIndex < 3 * count
        ? { note, look: { imageIndex, code: 'face_not_found' } }
        : { note, look },
    )

  it('counts at most three frames without a face as not sent', () => {
    expect(faultOf(without(3))).toBe(ACCEPTED)
    expect(faultOf(without(4))).toEqual({ guidance: 'no_face' })
  })

  it('counts a frame without a face as not sent only if the gap that it leaves is short', () => {
    const at = head.frames.findIndex(({ note }) => note.step === 3)
    const frames = noted(({ tMs }, index) => ({ tMs: index <= at ? tMs : tMs + 600 }))
    const gone = frames.map(({ note, look }, imageIndex): { note: FrameNote; look: Look } =>
      imageIndex === at || imageIndex === at + 1
        ? {
            note: { ...note, tMs: note.tMs - (imageIndex === at + 1 ? 200 : 0) },
            look: { imageIndex, code: 'face_not_found' },
          }
        : { note, look },
    )
    expect(faultOf(gone)).toEqual({ guidance: 'try_again' })
  })
})
