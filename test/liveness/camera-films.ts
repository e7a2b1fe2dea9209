/** Films for the camera of the capture component: they keep to the pace at which it shows the steps of a challenge. */
import { modeOf, type Step } from '../../src/features/challenges/film/steps.js'
import type { Random } from '../hostile/random.js'
import { type FilmFormat, writeFilm } from '../support/film.js'
import { type Cast, flat, headScene, PAPER, STILL } from './films.js'
import { type Camera, renderFrame, type Thing } from './scene.js'
import { between, type Moment, ORDINARY, type Part, poseAt, type Reach, swayOf } from './trajectory.js'

export const PICTURE: FilmFormat = { width: 480, height: 360, fps: 10 }

/** Milliseconds of the film, whose clock starts when the camera is turned on. */
export const PACE = {
  /** Milliseconds for which a waiting person looks straight ahead: the first step is shown at their end. */
  leadMs: 6000,
  /** Milliseconds for which each step is shown. */
  stepMs: 3000,
} as const

/** Length of the rendered part of the lead, which is repeated until the challenge begins. */
const LOOP_MS = 1000
/** Milliseconds after the last step: a capture that begins a little late ends later. */
const TAIL_MS = 1500
const CAMERA: Camera = { width: PICTURE.width, height: PICTURE.height, fieldOfView: 45, distance: 8 }

/**
 * Milliseconds from a step's display to the movement. The rest of the step is the tolerance for an early or late
 * capture.
 */
const MOVEMENT = { afterMs: 450, outMs: 1000, holdMs: 150 } as const
/** Milliseconds of a cut: one photo replaces another between two frames. */
const EXCHANGE = { afterMs: 450, outMs: 0, holdMs: 2000 } as const

/** Degrees of a movement, no further than required: a profile says less about whose face it is. */
const CLEAR: Reach = { turn: [24.5, 26.5], nod: [18, 20] }

interface Act {
  reach: Reach
  movement: { afterMs: number; outMs: number; holdMs: number }
  /** Scene at a moment of the film. */
  show(cast: Cast): (moment: Moment, step: Step) => Thing[]
}

export const ACTS = {
  head: {
    reach: CLEAR,
    movement: MOVEMENT,
    show: ({ portrait }) => held(headScene(portrait), -portrait.yaw / 2, 0),
  },
  still_photo: { reach: STILL, movement: MOVEMENT, show: ({ portrait }) => flat(portrait) },
  flat_print: { reach: PAPER, movement: MOVEMENT, show: ({ portrait }) => flat(portrait) },
  /** Photos of the person in every pose that a challenge asks for, each shown when it is asked for. */
  photos_swapped: { reach: ORDINARY, movement: EXCHANGE, show: ({ portrait }) => headScene(portrait) },
  /** After the frontal look another person's head takes over, held as the first one, and makes the movements. */
  people_swapped: {
    reach: CLEAR,
    movement: MOVEMENT,
    show({ portrait, stranger }) {
      const first = headScene(portrait)
      const second = held(headScene(stranger), portrait.yaw - stranger.yaw, portrait.pitch - stranger.pitch)
      return (moment, step) => (moment.step === 0 ? first : second)(moment, step)
    },
  },
} as const satisfies Record<string, Act>

type Shown = ReturnType<Act['show']>

/** A pose by the same degrees of yaw and pitch throughout. */
function held(shown: Shown, aside: number, up: number): Shown {
  return (moment, step) => shown({ ...moment, yaw: moment.yaw + aside, pitch: moment.pitch + up }, step)
}

export type ActName = keyof typeof ACTS

/** @returns JPEGs, one a frame, and the time at which each is shown; the first `LOOP_MS` of them make the lead */
export async function act(
  name: ActName,
  cast: Cast,
  steps: readonly Step[],
  random: Random,
): Promise<{ moments: Moment[]; frames: Buffer[] }> {
  const { show }: Act = ACTS[name]
  const things = show(cast)
  const moments = momentsOf(ACTS[name], steps, random)
  const frames: Buffer[] = []
  for (const moment of moments)
    frames.push(await renderFrame(things(moment, steps[moment.step]!), CAMERA, random))
  return { moments, frames }
}

/** @param file path of the film, as Chromium's fake camera reads it */
export async function writeAct(file: string, ...what: Parameters<typeof act>): Promise<void> {
  const { frames } = await act(...what)
  const loop = frames.slice(0, (LOOP_MS / 1000) * PICTURE.fps)
  const lead = Array.from({ length: PACE.leadMs / LOOP_MS }, () => loop).flat()
  await writeFilm(file, [...lead, ...frames.slice(loop.length)], PICTURE)
}

function momentsOf({ reach, movement }: Act, steps: readonly Step[], random: Random): Moment[] {
  const { afterMs, outMs, holdMs } = movement
  const parts = steps.map((step, index): Part => {
    const startMs = index * PACE.stepMs + afterMs
    const endMs = (index + 1) * PACE.stepMs
    if (step === 'frontal') return { step, startMs, outMs: 0, holdMs: 0, endMs, degrees: 0 }
    return { step, startMs, outMs, holdMs, endMs, degrees: between(reach[modeOf(step)], random) }
  })
  const sway = swayOf(random)
  const moments: Moment[] = []
  for (let tMs = -LOOP_MS; tMs < steps.length * PACE.stepMs + TAIL_MS; tMs += 1000 / PICTURE.fps) {
    const step = Math.min(Math.max(Math.floor(tMs / PACE.stepMs), 0), steps.length - 1)
    const { yaw, pitch } = poseAt(parts[step]!, tMs)
    const swayed = sway(tMs)
    moments.push({ ...swayed, step, tMs, yaw: yaw + swayed.yaw, pitch: pitch + swayed.pitch })
  }
  return moments
}
