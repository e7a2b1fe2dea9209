/** A film as it is judged: its looks once, and by them each axis alone, both axes, and the whole with the faces compared. */
import type { FrameNote, Look } from '../../src/biometrics/challenge/active-geometry.js'
import { type Mode, modeOf, type Step } from '../../src/biometrics/challenge/steps.js'
import type { FacePipeline } from '../../src/biometrics/pipeline/face-pipeline.js'
import { BiometricError } from '../../src/biometrics/types.js'
import type { Film } from './films.js'
import { lookAt } from './portrait.js'

export interface SeenFilm {
  steps: readonly Step[]
  notes: FrameNote[]
  looks: Look[]
}

const FACELESS = ['face_not_found', 'multiple_faces', 'face_too_small'] as const

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

/** The film without the movements of the other axis, as if it had not been asked for. */
export function alone({ steps, notes, looks }: SeenFilm, mode: Mode): SeenFilm {
  const kept = steps.flatMap((step, index) => (step === 'frontal' || modeOf(step) === mode ? [index] : []))
  const left: SeenFilm = { steps: kept.map((index) => steps[index]!), notes: [], looks: [] }
  let gapMs = 0
  for (const [at, { step, tMs }] of notes.entries()) {
    const before = notes[at - 1]
    if (!kept.includes(step)) {
      gapMs += tMs - (before?.tMs ?? 0)
      continue
    }
    left.notes.push({ step: kept.indexOf(step), tMs: tMs - gapMs })
    left.looks.push(looks[at]!)
  }
  return left
}
