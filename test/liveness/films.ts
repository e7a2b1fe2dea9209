/**
 * Films of a head that makes a challenge's movements, and of objects that somebody could hold into the camera
 * instead.
 */
import sharp from 'sharp'
import type { FrameNote } from '../../src/features/challenges/film/active-geometry.js'
import { modeOf, type Step } from '../../src/features/challenges/film/steps.js'
import type { Random } from '../hostile/random.js'
import type { Portrait } from './portrait.js'
import { addNoise, type Camera, type Pose, renderFrame, type Thing } from './scene.js'
import { type Bend, eyes, head, type Mesh, print, torso } from './surface.js'
import { between, type Moment, ORDINARY, type Reach, trajectory } from './trajectory.js'

export interface Film {
  notes: FrameNote[]
  /** JPEG files. */
  frames: Buffer[]
}

/** Material of a film. */
export interface Cast {
  portrait: Portrait
  /** Other photos of the same person. */
  samePerson: readonly Portrait[]
  stranger: Portrait
}

type MakeFilm = (cast: Cast, steps: readonly Step[], random: Random) => Promise<Film>

/** Degrees through which paper is turned: less shows no yaw, more is not found as a face. */
export const PAPER: Reach = { turn: [28, 48], nod: [25, 42] }

/** Radius of a bent sheet in distances between the eyes, about that of a face: half the breadth of a head. */
const FACE_RADIUS = [1.3, 2.2] as const

export const STILL: Reach = { turn: [0, 0], nod: [0, 0] }

export const SPECIES = {
  still_frame: stillFrame,
  still_photo_refilmed: filming(STILL, () => flat),
  flat_print: filming(PAPER, () => flat),
  flat_print_wide_lens: filming(PAPER, () => flat, closeCamera),
  print_bent_upright: filming(PAPER, (random) => bentAbout('vertical', random)),
  print_bent_across: filming(PAPER, (random) => bentAbout('horizontal', random)),
  print_hollow: filming(PAPER, (random) => bentAbout('vertical', random, -1)),
  print_bent_anew: filming(PAPER, bentAsNeeded),
  print_without_eyes: filming(PAPER, withoutEyes),
  /** Other photos of the person replace the first one where a step asks for a pose that they show. */
  photos_swapped: swapping(0),
  /** The same photos, fading into each other, so that the points wander instead of jumping. */
  photos_crossfaded: swapping(450),
  people_swapped: peopleSwapped,
} as const satisfies Record<string, MakeFilm>

export type Species = keyof typeof SPECIES

/** A head that makes the movements at ordinary speed. */
export const headFilm = filming(ORDINARY, () => headScene)

/** A head before a camera, a frame for each pose. */
export async function filmHead(
  portrait: Portrait,
  poses: readonly HeadPose[],
  camera: Camera,
  random: Random,
): Promise<Buffer[]> {
  const things = headScene(portrait)
  const frames: Buffer[] = []
  for (const pose of poses) frames.push(await renderFrame(things(pose), camera, random))
  return frames
}

export type HeadPose = Pick<Moment, 'yaw' | 'pitch' | 'roll' | 'shift'>

/** Scene at a moment of a film. */
export type Scene = (portrait: Portrait) => (moment: Moment, step: Step) => Thing[]

/** @param sceneOf may draw the scene */
function filming(reach: Reach, sceneOf: (random: Random) => Scene, camera = ordinaryCamera) {
  return async (
    { portrait }: Pick<Cast, 'portrait'>,
    steps: readonly Step[],
    random: Random,
  ): Promise<Film> => {
    const scene = sceneOf(random)
    const moments = trajectory(steps, reach, random)
    const view = camera(random)
    const things = scene(portrait)
    const frames: Buffer[] = []
    for (const moment of moments)
      frames.push(await renderFrame(things(moment, steps[moment.step]!), view, random))
    return { notes: notesOf(moments), frames }
  }
}

function notesOf(moments: readonly Moment[]): FrameNote[] {
  return moments.map(({ step, tMs }) => ({ step, tMs }))
}

/** Camera of a telephone held upright or of a computer, at arm's length or less. */
function ordinaryCamera(random: Random): Camera {
  const isPortrait = random.next() < 0.5
  return isPortrait
    ? { width: 480, height: 640, fieldOfView: 71, distance: between([5, 6.5], random) }
    : { width: 640, height: 480, fieldOfView: 45, distance: between([7.5, 10], random) }
}

/** Camera so near that the perspective is strong. */
function closeCamera(random: Random): Camera {
  return { width: 640, height: 480, fieldOfView: 71, distance: between([4.2, 5], random) }
}

/** Pivot at the neck. */
const NECK = [0, 1.3, -1.8] as const
/** Pivot between eyes and mouth. */
const MIDDLE_OF_SHEET = [0, 0.5, 0] as const

function poseOf({ yaw, pitch, roll, shift }: HeadPose, pivot: Pose['pivot']): Pose {
  return { yaw, pitch, roll, shift: [shift[0], shift[1] - 0.4, shift[2]], pivot }
}

export function headScene(portrait: Portrait): (pose: HeadPose) => Thing[] {
  const [mesh, below] = [head(portrait), torso(portrait)]
  return (pose) => [
    { mesh, pose: poseOf(pose, NECK) },
    { mesh: below, pose: poseOf({ ...pose, yaw: 0, pitch: 0 }, NECK) },
  ]
}

export const flat: Scene = (portrait) => {
  const mesh = print(portrait)
  return (moment) => [{ mesh, pose: poseOf(moment, MIDDLE_OF_SHEET) }]
}

/** @param sign -1: hollow towards the camera */
function bentAbout(axis: Bend['axis'], random: Random, sign = 1): Scene {
  const radius = sign * between(FACE_RADIUS, random)
  return (portrait) => {
    const mesh = print(portrait, { bend: { axis, radius } })
    return (moment) => [{ mesh, pose: poseOf(moment, MIDDLE_OF_SHEET) }]
  }
}

/** An informed attacker bends the sheet upright for a turn and across for a nod. */
function bentAsNeeded(random: Random): Scene {
  const radius = between(FACE_RADIUS, random)
  return (portrait) => {
    const bent = (axis: Bend['axis']) => print(portrait, { bend: { axis, radius } })
    const meshes: Record<'turn' | 'nod', Mesh> = { turn: bent('vertical'), nod: bent('horizontal') }
    let mesh = meshes.turn
    return (moment, step) => {
      if (step !== 'frontal') mesh = meshes[modeOf(step)]
      return [{ mesh, pose: poseOf(moment, MIDDLE_OF_SHEET) }]
    }
  }
}

/** Distance of the eyes behind the sheet, and the angles at which they look about. */
const BEHIND = -0.25
const GLANCE = 0.06

function withoutEyes(random: Random): Scene {
  const radius = between(FACE_RADIUS, random)
  return (portrait) => {
    const mesh = print(portrait, { bend: { axis: 'vertical', radius }, withoutEyes: true })
    const behind = eyes(portrait)
    return (moment) => {
      const pose = poseOf(moment, MIDDLE_OF_SHEET)
      const [x, y, z] = pose.shift
      const glance = GLANCE * Math.sin(moment.tMs / 400)
      return [
        { mesh, pose },
        { mesh: behind, pose: { ...pose, shift: [x + glance, y, z + BEHIND] } },
      ]
    }
  }
}

/** The same picture throughout: every frame is a different file, as a virtual camera would send it. */
async function stillFrame({ portrait }: Cast, steps: readonly Step[], random: Random): Promise<Film> {
  const moments = trajectory(steps, ORDINARY, random)
  const { width, height } = portrait
  const frames: Buffer[] = []
  for (const _ of moments) {
    const pixels = Uint8Array.from(portrait.pixels)
    addNoise(pixels, random)
    frames.push(
      await sharp(pixels, { raw: { width, height, channels: 3 } })
        .jpeg()
        .toBuffer(),
    )
  }
  return { notes: notesOf(moments), frames }
}

/** The photo of the person that looks furthest in the direction of a step; the portrait for a frontal look. */
function fittest({ portrait, samePerson }: Cast, step: Step): Portrait {
  const towards = {
    turn_left: (photo: Portrait) => photo.yaw,
    turn_right: (photo: Portrait) => -photo.yaw,
    nod_up: (photo: Portrait) => photo.pitch,
    nod_down: (photo: Portrait) => -photo.pitch,
  }
  if (step === 'frontal') return portrait
  const score = towards[step]
  return samePerson.reduce((best, photo) => (score(photo) > score(best) ? photo : best), portrait)
}

/** Share of the other photo over a step: it is shown in full for the middle half. */
function shareOfOther(at: number, moments: readonly Moment[], fadeMs: number): number {
  const { step, tMs } = moments[at]!
  const ofStep = moments.filter((moment) => moment.step === step)
  const [from, to] = [ofStep[0]!.tMs, ofStep.at(-1)!.tMs]
  const inner = Math.min(tMs - from - (to - from) / 8, to - (to - from) / 8 - tMs)
  return Math.min(Math.max(inner / Math.max(fadeMs, 1), 0), 1)
}

/** @param fadeMs for which two photos are mixed; 0 for a cut */
function swapping(fadeMs: number): MakeFilm {
  return async (cast, steps, random) => {
    const moments = trajectory(steps, STILL, random)
    const view = ordinaryCamera(random)
    const frames: Buffer[] = []
    for (const [at, moment] of moments.entries()) {
      const other = fittest(cast, steps[moment.step]!)
      const share = shareOfOther(at, moments, fadeMs)
      const show = (portrait: Portrait) => renderFrame(flat(portrait)(moment, 'frontal'), view, random)
      if (share === 0 || other === cast.portrait) frames.push(await show(cast.portrait))
      else if (share === 1) frames.push(await show(other))
      else frames.push(await mixed(await show(cast.portrait), await show(other), share))
    }
    return { notes: notesOf(moments), frames }
  }
}

async function mixed(one: Buffer, other: Buffer, share: number): Promise<Buffer> {
  const raw = (file: Buffer) => sharp(file).raw().toBuffer({ resolveWithObject: true })
  const [first, second] = [await raw(one), await raw(other)]
  const pixels = first.data.map((level, at) => level * (1 - share) + second.data[at]! * share)
  const { width, height } = first.info
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .jpeg()
    .toBuffer()
}

/** A real head makes the movements, but another person's: the portrait's head only looks ahead at the beginning. */
async function peopleSwapped(cast: Cast, steps: readonly Step[], random: Random): Promise<Film> {
  const scenes = [headScene(cast.portrait), headScene(cast.stranger)]
  const scene: Scene = () => (moment) => scenes[moment.step === 0 ? 0 : 1]!(moment)
  return filming(ORDINARY, () => scene)(cast, steps, random)
}
