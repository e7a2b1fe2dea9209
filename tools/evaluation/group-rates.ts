/** Error rates of people who share a label, at the one threshold that serves all of them. */
import type { PeopleGroup } from './people-groups.js'
import type { RatesAt, RatesReader } from './rates-at.js'
import type { ScoreCurve } from './score-curve.js'

export interface GroupRates extends RatesAt {
  group: string
  people: number
  genuine_pairs: number
  /** Number of pairs within the group. */
  impostor_pairs: number
  /** Number of pairs of a member with anybody. */
  impostor_pairs_any: number
  measured_fmr_any: number
  /** True if the ratios include the group: it has enough people, and at least three errors, seen or expected. */
  judged: { fmr: boolean; fnmr: boolean }
}

/**
 * Differences between groups (ISO/IEC 19795-10): the worst group's rate divided by the geometric mean of all, and by
 * the best group's. A group without errors counts with half an error, so that its rate is not zero; null for fewer
 * than two judged groups.
 */
export interface GroupRatios {
  worst_to_geometric_mean: number | null
  worst_to_best: number | null
}

export interface GroupSummary {
  label: string
  fmr: GroupRatios
  fnmr: GroupRatios
  /** Groups by descending false match rate; those that cannot be judged come last. */
  groups: GroupRates[]
}

/**
 * Minimum number of people of a judged group: with fewer, a single face decides, and the rate describes that person
 * rather than the group.
 */
export const MIN_PEOPLE = 10
/**
 * Minimum number of errors, seen or expected at the overall rate: with fewer, no error and one error cannot be
 * distinguished.
 */
export const MIN_ERRORS = 3

export function groupRates(
  groups: readonly PeopleGroup[],
  threshold: number,
  curve: ScoreCurve,
  reader: RatesReader,
): GroupSummary[] {
  const labels = [...new Set(groups.map(({ label }) => label))]
  return labels.map((label) => {
    const rates = groups
      .filter((group) => group.label === label)
      .map((group) => ratesOf(group, threshold, curve, reader))
      .sort(worstFirst)
    const byFmr = rates.filter(({ judged }) => judged.fmr)
    const byFnmr = rates.filter(({ judged }) => judged.fnmr)
    return {
      label,
      fmr: ratios(byFmr.map((group) => smoothed(group.false_matches, group.impostor_pairs))),
      fnmr: ratios(byFnmr.map((group) => smoothed(group.misses, group.genuine_pairs))),
      groups: rates,
    }
  })
}

function ratesOf(
  { group, has, people }: PeopleGroup,
  threshold: number,
  curve: ScoreCurve,
  reader: RatesReader,
): GroupRates {
  const { impostors, genuinePeople } = curve
  const isJudged = (errors: number, expected: number) =>
    people >= MIN_PEOPLE && Math.max(errors, expected) >= MIN_ERRORS
  const others = has.map((member) => 1 - member)
  const everybody = has.map(() => 1)
  const anyPairs = impostors.countWith(everybody) - impostors.countWith(others)
  const rates = reader.at([threshold], has)[0]!
  const genuine = genuinePeople.filter((person) => has[person]).length
  const within = impostors.countWith(has)
  return {
    group,
    people,
    genuine_pairs: genuine,
    impostor_pairs: within,
    impostor_pairs_any: anyPairs,
    measured_fmr_any: reader.falseMatches(threshold, has, true) / anyPairs,
    judged: {
      fmr: isJudged(rates.false_matches, within * curve.fmr(threshold)),
      fnmr: isJudged(rates.misses, genuine * curve.fnmr(threshold)),
    },
    ...rates,
  }
}

function worstFirst(a: GroupRates, b: GroupRates): number {
  if (a.judged.fmr !== b.judged.fmr) return a.judged.fmr ? -1 : 1
  return (b.measured_fmr || 0) - (a.measured_fmr || 0) || b.measured_fnmr - a.measured_fnmr
}

function smoothed(errors: number, trials: number): number {
  return Math.max(errors, 0.5) / trials
}

function ratios(rates: number[]): GroupRatios {
  if (rates.length < 2) return { worst_to_geometric_mean: null, worst_to_best: null }
  const worst = Math.max(...rates)
  const mean = Math.exp(rates.reduce((sum, rate) => sum + Math.log(rate), 0) / rates.length)
  return { worst_to_geometric_mean: worst / mean, worst_to_best: worst / Math.min(...rates) }
}
