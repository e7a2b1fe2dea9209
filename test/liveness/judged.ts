/** Judges a film: by each axis, by both axes, and as a whole with the faces compared. */

import type { Look } from '../../src/biometrics/measurements.js'
import type { FacePipeline } from '../../src/biometrics/pipeline/face-pipeline.js'
import { StageClock } from '../../src/biometrics/pipeline/stage-clock.js'
import { BiometricError } from '../../src/biometrics/types.js'
import type { CaptureFault } from '../../src/contract/capture-fault.js'
import {
  type FrameNote,
  judgeGeometry,
  type KeyFrames,
  keyIndices,
} from '../../src/features/challenges/film/active-geometry.js'
import { showsOneFace } from '../../src/features/challenges/film/same-face.js'
import { type Mode, modeOf, type Step } from '../../src/features/challenges/film/steps.js'
import type { Film } from './films.js'
import { lookAt } from './portrait.js'

export interface SeenFilm {
  steps: readonly Step[]
  notes: FrameNote[]
  looks: Look[]
}

const FACELESS = ['face_not_found', 'multiple_faces', 'face_too_small', 'face_not_upright'] as const

export async function see(pipeline: FacePipeline, film: Film, steps: readonly Step[]): Promise<SeenFilm> {
  const looks: Look[] = []
  for (const [imageIndex, frame] of film.frames.entries()) {
    try {
      looks.push(await lookAt(pipeline, frame, imageIndex))
    } catch (error) {
      const code = error instanceof BiometricError && FACELESS.find((known) => known === error.code)
      if (!code) throw error
      looks.push({ imageIndex, code })
    }
  }
  return { steps, notes: film.notes, looks }
}

/** The film without the movements of the other axis, as if the challenge had not asked for them. */
export function alone({ steps, notes, looks }: SeenFilm, mode: Mode): SeenFilm {
  const kept = steps.flatMap((step, index) => (step === 'frontal' || modeOf(step) === mode ? [index] : []))
  const left: SeenFilm = { steps: kept.map((index) => steps[index]!), notes: [], looks: [] }
  let gapMs = 0
  for (const [at, { step, tMs }] of notes.entries()) {
    if (!kept.includes(step)) {
      gapMs += tMs - (notes[at - 1]?.tMs ?? 0)
      continue
    }
    left.notes.push({ step: kept.indexOf(step), tMs: tMs - gapMs })
    left.looks.push(looks[at]!)
  }
  return left
}

export interface Judged {
  turn: boolean
  nod: boolean
  both: boolean
  /** Fault of the whole film. */
  fault: CaptureFault | null
}

export async function judge(pipeline: FacePipeline, film: Film, steps: readonly Step[]): Promise<Judged> {
  const seen = await see(pipeline, film, steps)
  const { activeLiveness, quality } = pipeline.pack.manifest
  if (!activeLiveness) throw new Error('the pack takes no challenge')
  const verdictOf = ({ looks, notes, steps }: SeenFilm) =>
    judgeGeometry(looks, notes, steps, { activeLiveness, quality })
  const { keys, fault } = verdictOf(seen)
  const isPassed = (mode: Mode) => verdictOf(alone(seen, mode)).keys !== null
  const change = keys && (await faceChange(pipeline, film, keys))
  return {
    turn: isPassed('turn'),
    nod: isPassed('nod'),
    both: keys !== null && !change,
    fault: fault ?? change,
  }
}

/** Compares the key frames as the engine does. */
export async function faceChange(
  pipeline: FacePipeline,
  film: Pick<Film, 'frames'>,
  keys: KeyFrames,
): Promise<CaptureFault | null> {
  const clock = new StageClock()
  const embeddings = new Map<number, Float32Array>()
  for (const imageIndex of keyIndices(keys)) {
    const options = { imageIndex, checkLiveness: false, clock }
    const frame = film.frames[imageIndex]!
    const { alignment } = await pipeline.look(frame, options)
    embeddings.set(imageIndex, (await pipeline.embed(frame, alignment, options)).embedding)
  }
  return showsOneFace(pipeline.pack, keys, (index) => embeddings.get(index)!)
    ? null
    : { guidance: 'try_again', finding: 'face_changed' }
}
