/** Error rates of people who share a label, at the one threshold that serves all of them. */
import type { PeopleGroup } from './people-groups.js'
import type { RatesAt, RatesReader } from './rates-at.js'
import type { ScoreCurve } from './score-curve.js'

export interface GroupRates extends RatesAt {
  group: string
  people: number
  genuine_pairs: number
  /** Pairs within the group. */
  impostor_pairs: number
  /** Pairs of somebody in the group with anybody. */
  impostor_pairs_any: number
  measured_fmr_any: number
  /** Whether it is among the groups that the ratios compare: people enough, and three errors at least or to be expected. */
  judged: { fmr: boolean; fnmr: boolean }
}

/**
 * How far groups differ (ISO/IEC 19795-10): the worst group's rate over the geometric mean of all, and over the best group's.
 * A group without errors counts with half an error, so that its rate is not zero; null for fewer than two judged groups.
 */
export interface GroupRatios {
  worst_to_geometric_mean: number | null
  worst_to_best: number | null
}

export interface GroupSummary {
  label: string
  fmr: GroupRatios
  fnmr: GroupRatios
  /** The highest false match rate first; those that cannot be judged last. */
  groups: GroupRates[]
}

/** With fewer people a single face decides, and the rate says more about him or her than about the group. */
export const MIN_PEOPLE = 10
/** With fewer, seen or to be expected at the rate of everybody, no error and one error cannot be told apart. */
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
