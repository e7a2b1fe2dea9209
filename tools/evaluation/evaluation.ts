/** Evaluates the engine's results on photos as ISO/IEC 19795-1 requires: computes every figure of the report. */

import { packFingerprint } from '../../models/pack/calibration.js'
import { type ModelPack, thresholdForFmr } from '../../models/pack/model-pack.js'
import { breakdowns, type RateBin } from './breakdowns.js'
import { type Causes, findCauses } from './causes.js'
import { type DataSet, DataSetError } from './data-set.js'
import type { PhotoResult } from './embedding-cache.js'
import { type ErrorVersusDiscard, errorVersusDiscard } from './error-versus-discard.js'
import { type GroupSummary, groupRates } from './group-rates.js'
import { type Interval, percentileInterval, ruleOfThree } from './intervals.js'
import { genuinePairs, type ImpostorProtocol, impostorPairs } from './pair-scores.js'
import type { PeopleGroup } from './people-groups.js'
import { PersonBootstrap } from './person-bootstrap.js'
import { type RatesAt, RatesReader } from './rates-at.js'
import { countBelow, ScoreCurve } from './score-curve.js'

/** False match rates at which FNMR is read, if there are enough pairs for them. */
export const FMRS = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6]

export interface OperatingPoint {
  /** Maximum share of impostor pairs that matches. */
  fmr: number
  threshold: number
  fnmr: number
  /** Interval of FNMR at this FMR: other people would have led to another threshold as well. */
  fnmr_ci95: Interval
  /** FNMR without the pairs that could not be compared. */
  fnmr_compared: number
  false_matches: number
  /** True if there are enough pairs of people: had none of them matched, the rule of three would show this rate. */
  supported: boolean
}

export interface DetPoint {
  threshold: number
  fmr: number
  fmr_ci95: Interval
  fnmr: number
  fnmr_ci95: Interval
}

/** Two photos and their score, for the reader to look at. */
export interface NotablePair {
  score: number
  photos: [string, string]
}

export interface Evaluation {
  pack: { id: string; version: string; sha256: string }
  model: string
  /** Execution provider of the networks; null if there were several. */
  provider: string | null
  date: string
  data: {
    name: string
    photos: number
    people: number
    genuine_pairs: number
    /** Number of compared pairs; pairs with an unusable photo are counted separately. */
    impostor_pairs: number
    people_pairs: number
    genuine_not_compared: number
    impostor_not_compared: number
    failed_to_acquire: number
  }
  protocol: ImpostorProtocol | 'listed'
  seed: number
  replicates: number
  /** Error code of each photo that could not be used. */
  refused: Record<string, string>
  points: OperatingPoint[]
  /** Lowest false match rate that so many pairs of people can show. */
  lowest_fmr: number
  eer: { rate: number; threshold: number; ci95: Interval | null }
  balanced_accuracy: number
  configured: RatesAt & { fmr: number; basis: string }
  groups: GroupSummary[]
  by_quality: RateBin[]
  by_age: RateBin[]
  causes: Causes
  by_quality_component: ErrorVersusDiscard
  det: DetPoint[]
  histogram: { from: number; to: number; genuine: number[]; impostor: number[] }
  worst: { false_matches: NotablePair[]; misses: NotablePair[] }
}

export interface EvaluationInput {
  data: DataSet
  results: readonly PhotoResult[]
  pack: ModelPack
  /** False match rate that the service is configured for. */
  fmr: number
  protocol: ImpostorProtocol
  groups: readonly PeopleGroup[]
  seed: number
  /** Milliseconds since 1970. */
  now: number
}

/** The figures, and the scores behind them, which a calibration reads as well. */
export interface Measured {
  evaluation: Evaluation
  curve: ScoreCurve
  reader: RatesReader
}

/** @throws DataSetError too_few_pairs if the data holds no genuine or no impostor pair, usable or not */
export function evaluate(input: EvaluationInput): Measured {
  const { data, results, pack, fmr, protocol, groups, seed } = input
  const embeddings = results.map(({ embedding }) => embedding)
  const genuine = genuinePairs(data, embeddings, pack)
  const impostors = impostorPairs(data, embeddings, pack, protocol)
  if (genuine.scores.length === 0 || impostors.scores.length + impostors.notCompared === 0)
    throw new DataSetError('too_few_pairs', 'Pairs of one person and pairs of two people are needed.')
  const decision = thresholdForFmr(pack, fmr)
  const curve = new ScoreCurve(data, embeddings, pack, genuine, impostors, decision.threshold)
  const bootstrap = new PersonBootstrap(curve, seed)
  const reader = new RatesReader(curve, bootstrap)
  const everybody = new Uint8Array(data.people.length).fill(1)
  const peoplePairs = impostors.peoplePairs(everybody)
  const eerReplicates = bootstrap.eer()
  const isTailEnough =
    curve.tail.scores.length === curve.impostor.length || eerReplicates.length === bootstrap.replicates
  const pairs = { data, genuine, curve, bootstrap, threshold: decision.threshold }
  const { id, version } = pack.manifest
  const providers = new Set(results.map(({ provider }) => provider))
  const evaluation: Evaluation = {
    pack: { id, version, sha256: packFingerprint(pack.manifest) },
    model: pack.modelId,
    provider: providers.size === 1 ? [...providers][0]! : null,
    date: new Date(input.now).toISOString().slice(0, 10),
    data: {
      name: data.name,
      photos: data.photos.length,
      people: data.people.length,
      genuine_pairs: genuine.scores.length,
      impostor_pairs: impostors.scores.length,
      people_pairs: peoplePairs,
      genuine_not_compared: curve.notCompared,
      impostor_not_compared: impostors.notCompared,
      failed_to_acquire: results.filter(({ embedding }) => embedding === null).length,
    },
    protocol: data.pairs ? 'listed' : protocol,
    seed,
    replicates: bootstrap.replicates,
    refused: Object.fromEntries(
      data.photos.flatMap(({ path }, i) => (results[i]!.refusal ? [[path, results[i]!.refusal!]] : [])),
    ),
    points: operatingPoints(curve, bootstrap, ruleOfThree(peoplePairs)),
    lowest_fmr: ruleOfThree(peoplePairs),
    eer: {
      ...curve.eer,
      ci95: isTailEnough ? percentileInterval(eerReplicates) : null,
    },
    balanced_accuracy: curve.balancedAccuracy(),
    configured: { fmr, basis: decision.basis, ...reader.at([decision.threshold])[0]! },
    groups: groupRates(groups, decision.threshold, curve, reader),
    ...breakdowns(results, pairs),
    causes: findCauses(results, pairs),
    by_quality_component: errorVersusDiscard(results, pairs, pack.manifest.quality),
    det: detCurve(curve, reader),
    histogram: histogram(curve),
    worst: worstPairs(data, curve, genuine),
  }
  return { evaluation, curve, reader }
}

function operatingPoints(curve: ScoreCurve, bootstrap: PersonBootstrap, lowestFmr: number): OperatingPoint[] {
  const reached = FMRS.flatMap((fmr) => {
    const threshold = curve.thresholdFor(fmr)
    return threshold === null ? [] : [{ fmr, threshold }]
  })
  const replicates = bootstrap.fnmrAtFmr(reached.map(({ fmr }) => fmr))
  return reached.map(({ fmr, threshold }, i) => ({
    fmr,
    threshold,
    fnmr: curve.fnmr(threshold),
    fnmr_ci95: percentileInterval(replicates[i]!),
    fnmr_compared: curve.fnmrCompared(threshold),
    false_matches: curve.falseMatches(threshold),
    supported: fmr >= lowestFmr,
  }))
}

/** Points of the curve that a plot shows: evenly in log10(FMR), down to the last false match. */
function detCurve(curve: ScoreCurve, reader: RatesReader): DetPoint[] {
  const fmrs = Array.from({ length: 61 }, (_, i) => 10 ** (-i / 10))
  const thresholds = [...new Set(fmrs.flatMap((fmr) => curve.thresholdFor(fmr) ?? []))].filter(
    (threshold) => threshold > curve.tail.scores.at(-1)!,
  )
  return reader
    .at(thresholds)
    .map(({ threshold, measured_fmr, measured_fmr_ci95, measured_fnmr, measured_fnmr_ci95 }) => ({
      threshold,
      fmr: measured_fmr,
      fmr_ci95: measured_fmr_ci95,
      fnmr: measured_fnmr,
      fnmr_ci95: measured_fnmr_ci95,
    }))
}

const HISTOGRAM_BINS = 80

function histogram({ genuine, notCompared, impostor }: ScoreCurve): Evaluation['histogram'] {
  const compared = genuine.subarray(notCompared)
  const from = Math.min(impostor[0]!, compared[0] ?? impostor[0]!)
  const to = Math.max(impostor.at(-1)!, compared.at(-1) ?? impostor.at(-1)!)
  const edge = (bin: number) => from + ((to - from) * bin) / HISTOGRAM_BINS
  const count = (scores: Float64Array) =>
    Array.from({ length: HISTOGRAM_BINS }, (_, bin) => {
      const isLast = bin === HISTOGRAM_BINS - 1
      const end = isLast ? scores.length : countBelow(scores, edge(bin + 1))
      return end - (bin === 0 ? 0 : countBelow(scores, edge(bin)))
    })
  return { from, to, genuine: count(compared), impostor: count(impostor) }
}

const SHOWN_PAIRS = 12

function worstPairs(
  { photos }: DataSet,
  { tail }: ScoreCurve,
  genuine: ReturnType<typeof genuinePairs>,
): Evaluation['worst'] {
  const pair = (score: number, a: number, b: number): NotablePair => ({
    score,
    photos: [photos[a]!.path, photos[b]!.path],
  })
  const misses = [...genuine.scores.keys()]
    .filter((i) => genuine.scores[i] !== Number.NEGATIVE_INFINITY)
    .sort((x, y) => genuine.scores[x]! - genuine.scores[y]!)
    .slice(0, SHOWN_PAIRS)
  return {
    false_matches: Array.from(tail.scores.subarray(0, SHOWN_PAIRS), (score, i) =>
      pair(score, tail.a[i]!, tail.b[i]!),
    ),
    misses: misses.map((i) => pair(genuine.scores[i]!, genuine.a[i]!, genuine.b[i]!)),
  }
}
