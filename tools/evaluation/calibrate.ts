/** Computes the thresholds with which a pack is used from measured scores. */
import type { Calibration, CalibrationPoint } from '../../models/pack/calibration.js'
import { CodedError } from '../../src/lib/errors.js'
import type { Measured } from './evaluation.js'
import type { PeopleGroup } from './people-groups.js'
import type { RatesAt } from './rates-at.js'
import { justAbove } from './score-curve.js'

/** Thrown when the data cannot show any of the rates. */
export class CalibrationError extends CodedError<'too_few_people'> {}

/** Rates from 1e-2 down to 1e-6, three to a decade. */
export const RATES = [1e-2, 1e-3, 1e-4, 1e-5]
  .flatMap((decade) => [1, 0.5, 0.2].map((part) => Number((decade * part).toPrecision(1))))
  .concat(1e-6)

/**
 * Returns for each rate the lowest threshold at which the upper end of the interval does not exceed it. The measured
 * point itself would be too low for every second set of other people.
 * @throws CalibrationError too_few_people
 */
export function calibrate(
  { evaluation, curve, reader }: Measured,
  groups: readonly PeopleGroup[],
  name?: string,
): Calibration {
  const { pack, provider, date, data, lowest_fmr } = evaluation
  const candidates = reader.at(candidateThresholds(curve.tail.scores))
  const points = measuredPoints(candidates, lowest_fmr)
  if (points.length === 0)
    throw new CalibrationError(
      'too_few_people',
      `${data.people} people are too few to calibrate with: not even a false match rate of ${RATES[0]} can be shown.`,
    )
  const { photos, people, genuine_pairs, impostor_pairs, failed_to_acquire } = data
  return {
    format: 1,
    pack,
    ...(provider && provider !== 'cpu' ? { provider } : {}),
    date,
    data: {
      ...(name ? { name } : {}),
      photos,
      people,
      genuine_pairs,
      impostor_pairs,
      failed_to_acquire,
    },
    points,
    groups: groups.map(({ label, group, has, people: members }) => ({
      label,
      group,
      people: members,
      genuine_pairs: curve.genuinePeople.filter((person) => has[person]).length,
      impostor_pairs: curve.impostors.countWith(has),
      points: reader
        .at(
          points.map(({ threshold }) => threshold),
          has,
        )
        .map((rates, i) => ({ fmr: points[i]!.fmr, ...pointOf(rates) })),
    })),
  }
}

/**
 * The points of the rates that were measured.
 * @param candidates rates at thresholds from high to low: beyond the first one over a rate, none is used
 * @param lowestFmr the lowest rate that the pairs can show
 */
export function measuredPoints(candidates: readonly RatesAt[], lowestFmr: number): CalibrationPoint[] {
  return RATES.filter((fmr) => fmr >= lowestFmr).flatMap((fmr) => {
    const over = candidates.findIndex(({ measured_fmr_ci95: [, upper] }) => upper > fmr)
    const chosen = candidates[(over < 0 ? candidates.length : over) - 1]
    return chosen ? [{ fmr, ...pointOf(chosen) }] : []
  })
}

export function pointOf(rates: RatesAt) {
  return {
    threshold: rates.threshold,
    measured_fmr: orNull(rates.measured_fmr),
    fmr_ci95: rates.measured_fmr_ci95,
    fnmr: orNull(rates.measured_fnmr),
    fnmr_ci95: rates.measured_fnmr_ci95,
  }
}

function orNull(rate: number): number | null {
  return Number.isNaN(rate) ? null : rate
}

/**
 * Candidate thresholds just above impostor scores, descending: each of the most alike ones, then at steps of a
 * fiftieth of their rank.
 */
export function candidateThresholds(descending: Float64Array): number[] {
  const thresholds: number[] = []
  for (let rank = 0; rank < descending.length - 1; rank += Math.max(1, Math.floor(rank / 50)))
    thresholds.push(justAbove(descending[rank]!))
  return [...new Set(thresholds)]
}
