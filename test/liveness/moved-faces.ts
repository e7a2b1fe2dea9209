/**
 * Measures how well a pack recognizes a face that has moved: photos of one person, one frontal and one turned or
 * nodding as far as a challenge asks, against the same pairs of different people. Photos of different days are less
 * alike than frames of one film.
 */
import { calibrationPoints } from '../../models/pack/model-pack.js'
import type { FacePipeline } from '../../src/biometrics/pipeline/face-pipeline.js'
import { scoreOf } from '../../src/biometrics/pipeline/judge/match.js'
import { StageClock } from '../../src/biometrics/pipeline/stage-clock.js'
import { BiometricError } from '../../src/biometrics/types.js'
import { MODES, type Mode } from '../../src/features/challenges/film/steps.js'
import { wilson } from '../../tools/evaluation/intervals.js'
import type { Person } from './photos.js'

interface PosedFace {
  person: string
  yaw: number
  pitch: number
  embedding: Float32Array
}

export interface MovedFaces {
  people: number
  photos: number
  /** Number of photos without a usable face. */
  unusable: number
  modes: Record<Mode, MovedPairs>
}

export interface MovedPairs {
  /** Scores of pairs of one person, and the number of those people. */
  genuine: number[]
  people: number
  /** Scores of pairs of different people. */
  impostor: number[]
}

/** Degrees by which a movement may exceed the required angle. */
const BEYOND: Record<Mode, number> = { turn: 18, nod: 12 }

export async function measureMovedFaces(
  pipeline: FacePipeline,
  people: readonly Person[],
): Promise<MovedFaces> {
  const faces: PosedFace[] = []
  let photos = 0
  for (const { person, files } of people)
    for (const file of files) {
      photos++
      const posed = await look(pipeline, person, await file())
      if (posed) faces.push(posed)
    }
  const modes = Object.fromEntries(MODES.map((mode) => [mode, pairsOf(pipeline, faces, mode)])) as Record<
    Mode,
    MovedPairs
  >
  return {
    people: new Set(people.map(({ person }) => person)).size,
    photos,
    unusable: photos - faces.length,
    modes,
  }
}

async function look(pipeline: FacePipeline, person: string, file: Buffer): Promise<PosedFace | null> {
  const options = { imageIndex: 0, checkLiveness: false, clock: new StageClock() }
  try {
    const { face, alignment } = await pipeline.look(file, options)
    const { head_pose_yaw: yaw = 0, head_pose_pitch: pitch = 0 } = face.quality.components
    const { embedding } = await pipeline.embed(file, alignment, options)
    return { person, yaw, pitch, embedding }
  } catch (error) {
    if (error instanceof BiometricError) return null
    throw error
  }
}

function pairsOf(pipeline: FacePipeline, faces: readonly PosedFace[], mode: Mode): MovedPairs {
  const spec = pipeline.pack.manifest.activeLiveness
  if (!spec) throw new Error('the pack takes no challenge')
  const pitches = faces.map(({ pitch }) => pitch).sort((a, b) => a - b)
  const neutral = pitches[pitches.length >> 1]!
  const isAhead = ({ yaw, pitch }: PosedFace) =>
    Math.abs(yaw) <= spec.frontalDegrees && Math.abs(pitch - neutral) <= spec.returnDegrees
  const isBetween = (degrees: number, least: number) => degrees >= least && degrees <= least + BEYOND[mode]
  const hasMoved = (ahead: PosedFace, other: PosedFace) => {
    const [yaw, pitch] = [Math.abs(other.yaw - ahead.yaw), Math.abs(other.pitch - ahead.pitch)]
    return mode === 'turn'
      ? isBetween(yaw, spec.turnDegrees)
      : isBetween(pitch, spec.nodDegrees) && yaw < spec.frontalDegrees
  }
  const pairs: MovedPairs = { genuine: [], people: 0, impostor: [] }
  const met = new Set<string>()
  for (const ahead of faces.filter(isAhead))
    for (const other of faces) {
      if (!hasMoved(ahead, other)) continue
      const isGenuine = ahead.person === other.person
      if (isGenuine) met.add(ahead.person)
      const score = scoreOf(pipeline.pack, ahead.embedding, other.embedding)
      pairs[isGenuine ? 'genuine' : 'impostor'].push(score)
    }
  return { ...pairs, people: met.size }
}

/**
 * Formats a Markdown table: for the threshold of each calibrated rate, the shares of refused and of confused people.
 */
export function movedFacesTable(pipeline: FacePipeline, { modes }: MovedFaces): string {
  const points = calibrationPoints(pipeline.pack).toSorted((a, b) => b.fmr - a.fmr)
  const refused = (scores: readonly number[], threshold: number) => {
    const count = scores.filter((score) => score < threshold).length
    const [low, high] = wilson(count, scores.length)
    return `${count} of ${scores.length} (${percent(low)}–${percent(high)})`
  }
  const accepted = (scores: readonly number[], threshold: number) =>
    percent(scores.filter((score) => score >= threshold).length / scores.length)
  const row = ({ fmr, threshold }: (typeof points)[number]) =>
    [
      String(fmr),
      threshold.toFixed(3),
      ...MODES.flatMap((mode) => [
        refused(modes[mode].genuine, threshold),
        accepted(modes[mode].impostor, threshold),
      ]),
    ].join(' | ')
  return [
    `| Rate | Threshold | ${MODES.map((mode) => `${mode}: refused | strangers accepted`).join(' | ')} |`,
    '| ---: | ---: | ---: | ---: | ---: | ---: |',
    ...points.map((point) => `| ${row(point)} |`),
  ].join('\n')
}

function percent(share: number): string {
  return `${(100 * share).toFixed(share < 0.01 ? 2 : 1)} %`
}
