/**
 * Grades a pack at a false match rate: whether its calibration reaches the rate, and whether it was measured on
 * enough people.
 */
import { dirname } from 'node:path'
import { CodedError } from '../../src/lib/errors.js'
import type { CalibrationGroup } from './calibration.js'
import type { PackGrade } from './grades.js'
import {
  describeFault,
  type GroupFault,
  isOfPeople,
  nameOf,
  sameTraits,
  summarizeFaults,
} from './group-fault.js'
import { unknownPack } from './known-packs.js'
import { calibrationPoints, type DecisionThreshold, type ModelPack, thresholdForFmr } from './model-pack.js'

export interface GradedPack {
  grade: PackGrade
  /** Reasons against production, a clause each. */
  reasons: string[]
}

/** Thrown for a pack or a rate that the operator has not accepted by name. */
export class PackGradeError extends CodedError<
  'fmr_not_reached' | 'pack_not_accepted' | 'liveness_not_served'
> {}

/**
 * Minimum number of people in a group: with fewer, a single face decides, and the rate describes that person rather
 * than the group.
 */
const MIN_PEOPLE = 10
/** Rule of three: minimum product of pairs and rate, so that no match among the pairs would show the rate. */
const MIN_PAIRS_TIMES_RATE = 3
/** Degrees by which pictures arrive turned where a camera's orientation was lost. */
const QUARTER_TURNS = [90, 180, 270]

/** The reason of the grade `ungrouped`, as a clause. */
const NAMES_NO_GROUPS = 'its calibration divides nobody into groups of people'

/**
 * Returns `production` if the rate was measured on everybody and in each group that the data names, at the threshold
 * in use: by enough people and pairs to show it, and exceeded in none. The data have to name at least two groups by one trait.
 * @param fmr 0 < fmr <= 1
 */
export function gradeOf(pack: ModelPack, fmr: number): GradedPack {
  const { whole, groups } = faultsOf(pack, fmr)
  const reasons = [...whole, ...groups.map(describeFault)]
  if (reasons.length > 0) return { grade: 'evaluation', reasons }
  if (!dividesPeople(measuredGroups(pack))) return { grade: 'ungrouped', reasons: [NAMES_NO_GROUPS] }
  return { grade: 'production', reasons: [] }
}

/** Groups of people that the calibration itself measured. What was carried on from an earlier one only lowers a grade. */
function measuredGroups({ calibration }: ModelPack): CalibrationGroup[] {
  return (calibration?.groups ?? []).filter((group) => isOfPeople(group) && group.carried_from === undefined)
}

/** One group of everybody says no more than nobody labelled would: a trait has to divide the people. */
function dividesPeople(groups: CalibrationGroup[]): boolean {
  return groups.some((group) => groups.some((other) => other !== group && sameTraits(group, other)))
}

/** Whether a pack at a rate is of production grade, whose verdicts the SDKs accept without being asked to. */
export function isProductionGrade(pack: ModelPack, fmr: number): boolean {
  return gradeOf(pack, fmr).grade === 'production'
}

/** The faults of the calibration as a whole, a clause each, and those of single groups. */
function faultsOf(pack: ModelPack, fmr: number): { whole: string[]; groups: GroupFault[] } {
  const { calibration } = pack
  const attained = thresholdForFmr(pack, fmr)
  if (attained.fmr > fmr)
    return { whole: [`its calibration ends at a false match rate of ${attained.fmr}`], groups: [] }
  if (!calibration) return { whole: ['there is no calibration.json of it'], groups: [] }
  const { people, impostor_pairs: pairs } = calibration.data
  if (attained.basis === 'extrapolated')
    return {
      whole: [`its threshold was extrapolated from the scores of ${people} people, too few to show the rate`],
      groups: [],
    }
  const isShown = (people: number, pairs: number) =>
    people >= MIN_PEOPLE && pairs * attained.fmr >= MIN_PAIRS_TIMES_RATE
  // Many photos of few people give no more than the pairs of those people.
  const isEnough = isShown(people, Math.min(pairs, (people * (people - 1)) / 2))
  const own = measuredGroups(pack)
  const groups = calibration.groups.flatMap((group): GroupFault[] => {
    // This is the last point whose threshold is in use or lower: a higher threshold matches fewer.
    const point = group.points
      .filter(({ threshold }) => threshold <= attained.threshold)
      .sort((a, b) => b.threshold - a.threshold)[0]
    const measuredFmr = point?.measured_fmr ?? null
    const isTooSmall = !isShown(group.people, group.impostor_pairs)
    // An earlier calibration could not judge the group, and this one has measured the same trait on its own people.
    if (isTooSmall && group.carried_from !== undefined && own.some((measured) => sameTraits(measured, group)))
      return []
    if (!isTooSmall && measuredFmr !== null && measuredFmr <= attained.fmr) return []
    return [{ name: nameOf(group), people: group.people, isTooSmall, measuredFmr }]
  })
  const whole = isEnough ? [] : [`${people} people are too few to show the rate`]
  return { whole: [...whole, ...faultsOfTurns(pack, attained)], groups }
}

/** The signed rate has to hold for pictures that are not upright as well: where both are turned, embeddings are alike by nature. */
function faultsOfTurns({ calibration }: ModelPack, { fmr, threshold }: DecisionThreshold): string[] {
  const turns = calibration?.upright?.turns ?? []
  if (!QUARTER_TURNS.every((quarter) => turns.some(({ degrees }) => degrees === quarter)))
    return ['nobody has measured it on pictures that are not upright']
  return turns.flatMap(({ degrees, points }) => {
    const measured = points.findLast((point) => point.threshold <= threshold)
    // The interval counts, not the rate: one match more or less among so few pairs says nothing.
    return measured && measured.fmr_ci95[0] <= fmr ? [] : [`pictures turned by ${degrees}° match more often`]
  })
}

/** @param acceptedPacks ids of the packs whose grade and lowest rate the operator accepts */
export function isAccepted(pack: ModelPack, acceptedPacks: readonly string[]): boolean {
  return acceptedPacks.includes(pack.manifest.id)
}

/**
 * Checks a rate where it is set. Accepting a pack by name allows a rate that its makers only extrapolated, and never a rate outside
 * its calibration: verdicts would be signed at another rate than the one that was asked for.
 * @param setting what asks for the rate, for the message
 * @throws PackGradeError fmr_not_reached
 */
export function assertFmrReached(
  pack: ModelPack,
  fmr: number,
  setting: string,
  acceptedPacks: readonly string[],
): void {
  const attained = thresholdForFmr(pack, fmr)
  const asked = `${setting} asks for a false match rate of ${fmr}`
  if (attained.fmr !== fmr) {
    const rates = calibrationPoints(pack).map((point) => point.fmr)
    throw new PackGradeError(
      'fmr_not_reached',
      `${asked}; the calibration of ${pack.modelId} ends at ${attained.fmr}. Name a rate from ${Math.min(...rates)} to ${Math.max(...rates)}, or calibrate the pack on photos of your own (countersign models calibrate).`,
    )
  }
  if (attained.basis === 'extrapolated' && !isAccepted(pack, acceptedPacks))
    throw new PackGradeError(
      'fmr_not_reached',
      `${asked}, which nobody has measured with ${pack.modelId}. Either name a rate that was measured, calibrate the pack on photos of your own (countersign models calibrate), or accept what it has: COUNTERSIGN_ACCEPT_PACK=${[...acceptedPacks, pack.manifest.id].join(',')}.`,
    )
}

/**
 * Throws unless the pack may decide at the configured rate.
 * @throws PackGradeError fmr_not_reached, pack_not_accepted
 */
export function assertServable(pack: ModelPack, fmr: number, acceptedPacks: readonly string[]): void {
  assertMayDecide(pack, fmr, acceptedPacks, () => {
    const [accepted] = acceptedPacks
    if (accepted === undefined) return adviceToAccept(pack, acceptedPacks)
    // The operator accepted another pack and means that one, so the error does not advise to accept this one.
    return (
      unknownPack('COUNTERSIGN_ACCEPT_PACK', accepted, dirname(pack.dir)) ??
      `COUNTERSIGN_ACCEPT_PACK accepts ${accepted}, and COUNTERSIGN_MODEL_PACK is ${pack.manifest.id}: to serve what you accepted, set COUNTERSIGN_MODEL_PACK=${accepted}.`
    )
  })
}

/**
 * Throws unless a pack that follows may decide at the configured rate: a change of the model pack lets it decide without another start.
 * @throws PackGradeError fmr_not_reached, pack_not_accepted
 */
export function assertMayFollow(pack: ModelPack, fmr: number, acceptedPacks: readonly string[]): void {
  assertMayDecide(pack, fmr, acceptedPacks, () => adviceToAccept(pack, acceptedPacks))
}

function assertMayDecide(
  pack: ModelPack,
  fmr: number,
  acceptedPacks: readonly string[],
  advice: () => string,
): void {
  assertFmrReached(pack, fmr, 'COUNTERSIGN_FMR', acceptedPacks)
  if (isProductionGrade(pack, fmr) || isAccepted(pack, acceptedPacks)) return
  throw new PackGradeError('pack_not_accepted', `${describeGrade(pack, fmr)} ${advice()}`)
}

function adviceToAccept({ manifest: { id } }: ModelPack, acceptedPacks: readonly string[]): string {
  return `Calibrate it on photos of your own (countersign models calibrate), or accept it by name: COUNTERSIGN_ACCEPT_PACK=${[...acceptedPacks, id].join(',')}; every verdict then says so, and ${CONSEQUENCE}.`
}

/**
 * Throws unless the pack can check the required liveness: otherwise every call would be refused.
 * @param setting the setting that requires it, for the message
 * @throws PackGradeError liveness_not_served
 */
export function assertLivenessServed(
  { manifest, modelId }: ModelPack,
  required: 'none' | 'passive' | 'active' | 'both',
  setting: string,
): void {
  const lacks =
    required !== 'none' && required !== 'active' && !manifest.liveness
      ? 'no liveness network: `countersign models pull recommended` has one'
      : (required === 'active' || required === 'both') && !manifest.activeLiveness
        ? 'no bounds for challenges: `activeLiveness` in its pack.json'
        : null
  if (lacks)
    throw new PackGradeError(
      'liveness_not_served',
      `${setting} requires ${required} liveness; ${modelId} has ${lacks}.`,
    )
}

/**
 * The rate that is decided and signed instead of a rate outside the calibration, as a clause; null if it lies within.
 */
export function describeUnreached(pack: ModelPack, fmr: number): string | null {
  const { fmr: attained, basis } = thresholdForFmr(pack, fmr)
  if (attained !== fmr)
    return `the calibration of ${pack.modelId} ends at ${attained}, which decides and is signed instead`
  if (basis === 'extrapolated')
    return `nobody has measured it with ${pack.modelId}: it is signed as extrapolated (fmr_basis)`
  return null
}

/** A sentence for the operator about a pack of a lesser grade than production. It names the worst group; `gradeOf` lists all. */
export function describeGrade(pack: ModelPack, fmr: number): string {
  return `The model pack ${pack.modelId} is ${summarizeGrade(pack, fmr)}.`
}

/** The grade at a rate, and the reasons against production, in one clause. */
export function summarizeGrade(pack: ModelPack, fmr: number): string {
  const { whole, groups } = faultsOf(pack, fmr)
  const { grade, reasons } = gradeOf(pack, fmr)
  const why = [...whole, summarizeFaults(groups)].filter((clause) => clause !== null)
  const clauses = why.length > 0 ? why : reasons
  return `of ${grade} grade at a false match rate of ${fmr}${clauses.length > 0 ? `: ${clauses.join('; ')}` : ''}`
}

/** Consequence of a lesser grade than production for callers, as a clause. */
export const CONSEQUENCE =
  'every SDK refuses its production verdicts (evaluation_grade) unless the caller sets acceptEvaluationGrade too'
