/** Finds the rule that refuses pictures that are not upright, and counts on turned copies of the photos the false matches that it leaves. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import sharp from 'sharp'
import type { Calibration, CalibrationPoint, UprightMeasurement } from '../../models/pack/calibration.js'
import { loadModelPack, type ModelPack } from '../../models/pack/model-pack.js'
import { Engine } from '../../src/biometrics/engine/engine.js'
import { dot, normalizeLength } from '../../src/biometrics/kernels/vector-math.js'
import { FacePipeline } from '../../src/biometrics/pipeline/face-pipeline.js'
import { scoreOf } from '../../src/biometrics/pipeline/judge/match.js'
import { vectorText } from '../../src/biometrics/pipeline/judge/vector-text.js'
import { likenessToTurned } from '../../src/biometrics/pipeline/networks/upright.js'
import { BiometricError, type EngineOptions } from '../../src/biometrics/types.js'
import { calibrate } from './calibrate.js'
import type { DataSet } from './data-set.js'
import { anyone, forEachBusily } from './engine-work.js'
import { exactInterval } from './intervals.js'
import type { EvaluationRun } from './run-evaluation.js'

/** Turns of the pictures in degrees: how heads roll, and how cameras are mounted. Every second person rolls the other way. */
export const TURNS = [0, 15, 30, 45, 60, 90, 180, 270]
/** More people would take minutes and narrow the intervals little. */
const MAX_PEOPLE = 600
/** The axis of fewer people would describe these people rather than turned faces. */
const MIN_PEOPLE = 30
/** The axis and the bound are taken from every third person, and the rates are measured on the others. */
const TAUGHT_BY = 3
/** Turns at which an aligned chip shows no upright face, and those at which it does. At 45 degrees it depends on the face. */
const TURNED = [60, 90, 180, 270]
const UPRIGHT = [0, 15, 30]

type Embeddings = Array<Float32Array | null>

/**
 * @param data the first photo of each person is used
 * @param points thresholds at which false matches are counted
 * @returns null where there are too few people
 */
async function measureUpright(
  data: DataSet,
  engineOptions: EngineOptions,
  points: readonly CalibrationPoint[],
): Promise<UprightMeasurement | null> {
  if (data.people.length < MIN_PEOPLE) return null
  return ruleOf(await loadModelPack(engineOptions.packDir), await embedTurned(data, engineOptions), points)
}

/** Embeds turned copies of the first photo of each person. @returns by turn, in the order of people; null where no face was found */
async function embedTurned(data: DataSet, engineOptions: EngineOptions): Promise<Map<number, Embeddings>> {
  const photos = data.people.map((_, person) => data.photos.find((photo) => photo.person === person)!)
  const byTurn = new Map<number, Embeddings>(TURNS.map((turn) => [turn, []]))
  const jobs = TURNS.flatMap((turn) =>
    photos.slice(0, MAX_PEOPLE).map((photo, person) => ({ turn, photo, person })),
  )
  const engine = await Engine.start({
    ...engineOptions,
    limits: { ...engineOptions.limits, acceptTurned: true },
  })
  try {
    await forEachBusily(jobs, engineOptions, async ({ turn, photo, person }) => {
      const bytes = await readFile(resolve(data.folder, photo.path))
      byTurn.get(turn)![person] = await embed(engine, await turnedCopy(bytes, turn, person))
    })
    return byTurn
  } finally {
    await engine.close()
  }
}

/** Returns a copy turned clockwise, with the EXIF orientation applied first. Quarter turns lose no pixel. */
async function turnedCopy(bytes: Buffer, degrees: number, person: number): Promise<Buffer> {
  if (degrees === 0) return bytes
  const upright = await sharp(bytes).autoOrient().toBuffer()
  const isRoll = degrees % 90 !== 0
  const turned = sharp(upright).rotate(isRoll && person % 2 === 1 ? -degrees : degrees, {
    background: 'gray',
  })
  return turned.jpeg({ quality: 92 }).toBuffer()
}

async function embed(engine: Engine, bytes: Buffer): Promise<Float32Array | null> {
  try {
    return (await engine.verify([bytes], anyone(engine))).sample.embedding
  } catch (error) {
    if (error instanceof BiometricError && error.imageIndex !== undefined) return null
    throw error
  }
}

/** The rule taught by every third person, and its rates on the others. */
export function ruleOf(
  pack: ModelPack,
  byTurn: ReadonlyMap<number, Embeddings>,
  points: readonly CalibrationPoint[],
): UprightMeasurement {
  const isTaught = (person: number) => person % TAUGHT_BY === 0
  const taughtBy = (turns: readonly number[]) =>
    turns.flatMap((turn) =>
      byTurn.get(turn)!.filter((face, person) => face !== null && isTaught(person)),
    ) as Float32Array[]
  const axis = fisherAxis(taughtBy(UPRIGHT), taughtBy(TURNED))
  const likeness = (face: Float32Array) => likenessToTurned(axis, face)
  const meanLikeness = (turns: readonly number[]) => {
    const faces = taughtBy(turns)
    return faces.reduce((sum, face) => sum + likeness(face), 0) / faces.length
  }
  const bound = Number(((meanLikeness(UPRIGHT) + meanLikeness(TURNED)) / 2).toFixed(4))
  const turns = TURNS.map((degrees) => {
    const tried = byTurn.get(degrees)!.filter((_, person) => !isTaught(person))
    const passed = tried.filter((face) => face !== null && likeness(face) < bound) as Float32Array[]
    const scores = passed.flatMap((a, i) => passed.slice(i + 1).map((b) => scoreOf(pack, a, b)))
    // A pair with a refused picture is a pair that does not match.
    const pairs = (tried.length * (tried.length - 1)) / 2
    return {
      degrees,
      photos: tried.length,
      refused: tried.length - passed.length,
      impostor_pairs: pairs,
      points: points.map(({ threshold }) => {
        const matches = scores.filter((score) => score >= threshold).length
        return { threshold, measured_fmr: matches / pairs, fmr_ci95: exactInterval(matches, pairs) }
      }),
    }
  })
  return { axis: vectorText(axis), bound, turns }
}

/** Share of the mean variance that is added to each: with a third of it a pack found fewer turned faces, and without any the axis fits noise. */
const SHRINKAGE = 0.1

/**
 * Fisher's linear discriminant (1936): the axis on which the two groups lie furthest apart for their spread. The difference of the means
 * is not enough, since the embeddings of some packs share a large part.
 * @returns [dimensions] float32 of length 1, rising towards `turned`
 */
function fisherAxis(upright: readonly Float32Array[], turned: readonly Float32Array[]): Float32Array {
  const dimensions = upright[0]!.length
  const groups = [upright, turned].map((faces) => {
    const units = faces.map((face) => {
      const unit = Float32Array.from(face)
      normalizeLength(unit)
      return unit
    })
    const mean = new Float64Array(dimensions)
    for (const unit of units) for (let i = 0; i < dimensions; i++) mean[i]! += unit[i]! / units.length
    return { units: units.map((unit) => unit.map((value, i) => value - mean[i]!)), mean }
  })
  let ridge = 0
  for (const { units } of groups)
    for (const unit of units) ridge += (SHRINKAGE * dot(unit, unit)) / (2 * units.length * dimensions)
  /** Spread within the groups, each with half of the weight, times a vector. */
  const spread = (vector: Float64Array) => {
    const result = vector.map((value) => ridge * value)
    for (const { units } of groups)
      for (const unit of units) {
        let along = 0
        for (let i = 0; i < dimensions; i++) along += unit[i]! * vector[i]!
        for (let i = 0; i < dimensions; i++) result[i]! += (along * unit[i]!) / (2 * units.length)
      }
    return result
  }
  const [from, to] = groups.map(({ mean }) => mean)
  const axis = Float32Array.from(
    solve(
      spread,
      to!.map((value, i) => value - from![i]!),
    ),
  )
  normalizeLength(axis)
  return axis
}

/** Solves `apply(x) = b` for a symmetric positive map by conjugate gradients (Hestenes and Stiefel 1952). */
function solve(apply: (vector: Float64Array) => Float64Array, b: Float64Array): Float64Array {
  const product = (u: Float64Array, v: Float64Array) => u.reduce((sum, value, i) => sum + value * v[i]!, 0)
  const x = new Float64Array(b.length)
  const rest = Float64Array.from(b)
  let step = Float64Array.from(b)
  let left = product(rest, rest)
  const enough = left * 1e-16
  for (let round = 0; round < 4 * b.length && left > enough; round++) {
    const applied = apply(step)
    const size = left / product(step, applied)
    for (let i = 0; i < x.length; i++) {
      x[i]! += size * step[i]!
      rest[i]! -= size * applied[i]!
    }
    const before = left
    left = product(rest, rest)
    step = step.map((value, i) => rest[i]! + (left / before) * value)
  }
  return x
}

/** The embedding that the pack gives here for the check picture; undefined where it finds no face in it. */
export async function measureCheckVector({
  packDir,
  limits,
}: Pick<EngineOptions, 'packDir' | 'limits'>): Promise<Calibration['check'] | undefined> {
  const { calibration: _, ...pack } = await loadModelPack(packDir)
  const pipeline = await FacePipeline.load(pack, { provider: 'cpu', limits })
  try {
    return await pipeline.measureCheckVector()
  } finally {
    await pipeline.release()
  }
}

/** The calibration of an evaluation, with the check vector and what was measured on turned copies of its photos. */
export async function calibrationOf(run: EvaluationRun): Promise<Calibration> {
  const calibration = calibrate(run, run.groups, run.data.name)
  const upright = await measureUpright(run.data, run.engine, calibration.points)
  const check = await measureCheckVector(run.engine)
  return { ...calibration, ...(check ? { check } : {}), ...(upright ? { upright } : {}) }
}
