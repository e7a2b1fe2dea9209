/**
 * Movement of an object in front of the camera that follows a challenge: from the middle out, and back, without a
 * jump.
 */

import { CAPTURE_LIMITS } from '../../src/contract/capture-limits.js'
import type { FrameNote } from '../../src/features/challenges/film/active-geometry.js'
import { modeOf, type Step } from '../../src/features/challenges/film/steps.js'
import type { Random } from '../hostile/random.js'

/** Pose at the time of a frame: degrees from the middle, and distances between the eyes. */
export interface Moment extends FrameNote {
  yaw: number
  pitch: number
  roll: number
  shift: readonly [x: number, y: number, z: number]
}

/** Angles of a movement, in degrees. */
export interface Reach {
  turn: readonly [least: number, most: number]
  nod: readonly [least: number, most: number]
}

/** Angles of people who are asked to turn and to nod clearly. */
export const ORDINARY: Reach = { turn: [26, 38], nod: [18, 28] }

const MIDDLE_MS = [800, 1100] as const
/** Milliseconds between the instruction and the movement. */
const REACTION_MS = [150, 350] as const
const OUTWARD_MS = [600, 1000] as const
const HOLD_MS = [100, 300] as const
const FRAMES_A_SECOND = [5, 8] as const
/** Variation of the interval between two frames. */
const UNEVENNESS = 0.12

/** Poses, one per frame, as many as a challenge takes. */
export function trajectory(steps: readonly Step[], reach: Reach, random: Random): Moment[] {
  const plan = planOf(steps, reach, random)
  const lengthMs = plan.at(-1)!.endMs
  const mostASecond = ((CAPTURE_LIMITS.max_frames - 2) * 1000) / lengthMs
  const intervalMs = 1000 / Math.min(between(FRAMES_A_SECOND, random), mostASecond)
  const sway = swayOf(random)
  const moments: Moment[] = []
  for (let atMs = 0; atMs < lengthMs && moments.length < CAPTURE_LIMITS.max_frames; ) {
    const part = plan.findIndex(({ endMs }) => atMs < endMs)
    const { yaw, pitch } = poseAt(plan[part]!, atMs)
    const swayed = sway(atMs)
    moments.push({
      ...swayed,
      step: part,
      tMs: Math.round(atMs),
      yaw: yaw + swayed.yaw,
      pitch: pitch + swayed.pitch,
    })
    atMs += intervalMs * (1 + UNEVENNESS * (2 * random.next() - 1))
  }
  return moments
}

/** Movement for a step, by the film's clock. */
export interface Part {
  step: Step
  startMs: number
  outMs: number
  holdMs: number
  endMs: number
  degrees: number
}

function planOf(steps: readonly Step[], reach: Reach, random: Random): Part[] {
  let startMs = 0
  return steps.map((step) => {
    const isMiddle = step === 'frontal'
    const begin = startMs
    const waited = isMiddle ? between(MIDDLE_MS, random) : between(REACTION_MS, random)
    const out = isMiddle ? 0 : between(OUTWARD_MS, random)
    const hold = isMiddle ? 0 : between(HOLD_MS, random)
    const degrees = isMiddle ? 0 : between(reach[modeOf(step)], random)
    startMs = begin + waited + 2 * out + hold
    return { step, startMs: begin + waited, outMs: out, holdMs: hold, endMs: startMs, degrees }
  })
}

export function poseAt(
  { step, startMs, outMs, holdMs, degrees }: Part,
  atMs: number,
): { yaw: number; pitch: number } {
  const since = Math.max(atMs - startMs, 0)
  const rising = Math.min(since / Math.max(outMs, 1), 1)
  const falling = Math.min(Math.max(since - outMs - holdMs, 0) / Math.max(outMs, 1), 1)
  const moved = degrees * ease(rising) * (1 - ease(falling))
  switch (step) {
    case 'turn_left':
      return { yaw: moved, pitch: 0 }
    case 'turn_right':
      return { yaw: -moved, pitch: 0 }
    case 'nod_up':
      return { yaw: 0, pitch: moved }
    case 'nod_down':
      return { yaw: 0, pitch: -moved }
    case 'frontal':
      return { yaw: 0, pitch: 0 }
  }
}

function ease(share: number): number {
  return (1 - Math.cos(Math.PI * share)) / 2
}

/** Small movements of a person who tries to hold still: slow waves and a tremor. */
export function swayOf(random: Random): (atMs: number) => Omit<Moment, 'step' | 'tMs'> {
  const wave = (size: number) => {
    const phase = 2 * Math.PI * random.next()
    const hertz = 0.2 + 0.5 * random.next()
    return (atMs: number) => size * Math.sin(phase + (2 * Math.PI * hertz * atMs) / 1000)
  }
  const [yaw, pitch, roll] = [wave(1.2), wave(1.2), wave(1.5)]
  const [x, y, z] = [wave(0.06), wave(0.06), wave(0.12)]
  const tremor = () => 0.6 * (random.next() - 0.5)
  return (atMs) => ({
    yaw: yaw(atMs) + tremor(),
    pitch: pitch(atMs) + tremor(),
    roll: roll(atMs),
    shift: [x(atMs), y(atMs), z(atMs)],
  })
}

export function between([least, most]: readonly [number, number], random: Random): number {
  return least + (most - least) * random.next()
}
