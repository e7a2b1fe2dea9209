/**
 * Bounds within which captures that are taken in after strong matches move a template. They follow from the thresholds of the pack.
 *
 * The template stays so near the first one that anyone who matches it at some false match rate would match the first one at ten times that
 * rate. This follows from the triangle inequality, for any captures: a score is a distance between two embeddings, and the distance
 * from a face to the first template is at most its distance to the aged template and the distance between the two templates together. So an
 * attacker who chooses every capture gains at most a factor of ten.
 */
import { calibrationPoints, type ModelPack, thresholdForFmr } from './model-pack.js'

export interface AgeingBounds {
  /** Greatest distance of an aged template from the first one, in the unit of `distanceOfScore`. */
  fromFirst: number
  /** Greatest distance by which one capture moves the template. */
  step: number
}

/** How many times more often a stranger may match, in the worst case. */
const WORST_FACTOR = 10
/** Number of captures after which the template is as far from the first one as it may be. */
const STEPS = 3

/**
 * Takes the smallest distance between the thresholds of two rates of which one is ten times the other, so that the factor holds at each of
 * these rates.
 * @returns null for a pack whose rates span less than a factor of ten
 */
export function ageingBounds(pack: ModelPack): AgeingBounds | null {
  const points = calibrationPoints(pack)
  const greatest = Math.max(...points.map(({ fmr }) => fmr))
  const distances = points
    .filter(({ fmr }) => fmr * WORST_FACTOR <= greatest)
    .map(({ fmr, threshold }) => {
      const laxer = thresholdForFmr(pack, fmr * WORST_FACTOR).threshold
      return distanceOfScore(pack, laxer) - distanceOfScore(pack, threshold)
    })
  if (distances.length === 0) return null
  const fromFirst = Math.max(0, Math.min(...distances))
  return { fromFirst, step: fromFirst / STEPS }
}

/** The distance between two embeddings of a score: the angle in radians for the cosine, otherwise the Euclidean distance. */
export function distanceOfScore({ manifest }: Pick<ModelPack, 'manifest'>, score: number): number {
  return manifest.embedder.metric === 'euclidean'
    ? 2 * (1 - score)
    : Math.acos(Math.min(1, Math.max(-1, score)))
}
