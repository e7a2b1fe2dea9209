/** Cuts the film of any challenge together from frames of one rendered head. */
import type { ModelPack } from '../../models/pack/model-pack.js'
import { FacePipeline } from '../../src/biometrics/pipeline/face-pipeline.js'
import type { ImageLimits } from '../../src/biometrics/types.js'
import type { Movement, Step } from '../../src/features/challenges/film/steps.js'
import { Random } from '../../test/hostile/random.js'
import { filmHead } from '../../test/liveness/films.js'
import { portraitOf } from '../../test/liveness/portrait.js'
import { face } from '../../test/support/faces.js'
import { type FilmParts, FRAMES } from './challenge-orders.js'

const CAMERA = { width: 640, height: 480, fieldOfView: 45, distance: 8.5 } as const

/** Degrees at each frame of a movement: out and back, and further than a challenge asks for. */
const SHARES = [0.35, 0.75, 1, 1, 0.6, 0.2] as const
const REACH: Record<Movement, { yaw: number; pitch: number }> = {
  turn_left: { yaw: 33, pitch: 0 },
  turn_right: { yaw: -33, pitch: 0 },
  nod_up: { yaw: 0, pitch: 24 },
  nod_down: { yaw: 0, pitch: -24 },
}
/** Amplitude, in degrees, of small movements of a head that tries to hold still. */
const SWAY_DEGREES = 0.6

export interface Film {
  parts: FilmParts
  /** Returns the next frame of the frontal look. */
  enrolImage: Buffer
}

export async function filmParts(pack: ModelPack, provider: string, limits: ImageLimits): Promise<Film> {
  const photo = await face('adaElsewhere')
  const pipeline = await FacePipeline.load(pack, { provider, limits })
  const portrait = await portraitOf(pipeline, 'ada', photo).finally(() => pipeline.release())
  const random = new Random(1)
  const sway = () => SWAY_DEGREES * (2 * random.next() - 1)
  const shoot = (poses: ReadonlyArray<{ yaw: number; pitch: number }>) =>
    filmHead(
      portrait,
      poses.map(({ yaw, pitch }) => ({
        yaw: yaw + sway(),
        pitch: pitch + sway(),
        roll: sway(),
        shift: [0.01 * sway(), 0.01 * sway(), 0.01 * sway()] as const,
      })),
      CAMERA,
      random,
    )
  const look = () => shoot(SHARES.map(() => ({ yaw: 0, pitch: 0 })))
  const move = (movement: Movement) =>
    shoot(SHARES.map((share) => ({ yaw: share * REACH[movement].yaw, pitch: share * REACH[movement].pitch })))
  const [enrolImage] = await look()
  return {
    enrolImage: enrolImage!,
    parts: {
      ahead: { first: await look(), last: await look() },
      movements: {
        turn_left: await move('turn_left'),
        turn_right: await move('turn_right'),
        nod_up: await move('nod_up'),
        nod_down: await move('nod_down'),
      },
    },
  }
}

/** Returns each frame with its step: six frames of each movement; the frontal looks share the rest equally. */
export function filmFor<Frame>(
  steps: readonly Step[],
  { ahead, movements }: { ahead: { first: Frame[]; last: Frame[] }; movements: Record<Movement, Frame[]> },
): Array<{ step: number; frame: Frame }> {
  const moving = SHARES.length * (steps.length - 2)
  const still = (FRAMES - moving) / 2
  return steps.flatMap((name, step) => {
    const frames =
      name === 'frontal' ? (step === 0 ? ahead.first : ahead.last).slice(0, still) : movements[name]
    return frames.map((frame) => ({ step, frame }))
  })
}
