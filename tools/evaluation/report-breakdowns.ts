/** Sections of a report by groups of people and kinds of photos. */

import type { RateBin } from './breakdowns.js'
import type { Cause } from './causes.js'
import type { Evaluation } from './evaluation.js'
import { count, percent, range } from './format.js'
import { type GroupSummary, MIN_ERRORS, MIN_PEOPLE } from './group-rates.js'
import { type ReportSection, tableOf } from './report-parts.js'

export function group(
  { label, groups, fmr, fnmr }: GroupSummary,
  { configured }: Evaluation,
  isFirst: boolean,
): ReportSection {
  const ratio = (value: number | null) => (value === null ? 'not judged' : value.toFixed(1))
  return {
    title: `Groups: ${label}`,
    paragraphs: [
      ...(isFirst
        ? [
            `At the one threshold ${configured.threshold.toFixed(4)}, worst first. FMR is of pairs within the group, which are the ones an impostor would choose; "with anybody" is of pairs of a member with everybody else. A rate with † is not judged: it is of fewer than ${MIN_PEOPLE} people, or of so few pairs that ${MIN_ERRORS} errors are neither seen nor to be expected.`,
          ]
        : []),
      `Worst group over the geometric mean of the judged groups: ${ratio(fmr.worst_to_geometric_mean)} for FMR, ${ratio(fnmr.worst_to_geometric_mean)} for FNMR; over the best group: ${ratio(fmr.worst_to_best)} and ${ratio(fnmr.worst_to_best)} (ISO/IEC 19795-10; a group without errors counts with half an error).`,
    ],
    tables: [
      tableOf(groups, [
        ['Group', (rates) => rates.group],
        ['People', (rates) => count(rates.people)],
        ['Pairs within', (rates) => count(rates.impostor_pairs)],
        ['FMR', (rates) => percent(rates.measured_fmr) + (rates.judged.fmr ? '' : ' †')],
        ['95 % interval', (rates) => range(rates.measured_fmr_ci95)],
        ['FMR with anybody', (rates) => percent(rates.measured_fmr_any)],
        ['Genuine pairs', (rates) => count(rates.genuine_pairs)],
        ['FNMR', (rates) => percent(rates.measured_fnmr) + (rates.judged.fnmr ? '' : ' †')],
        ['95 % interval', (rates) => range(rates.measured_fnmr_ci95)],
      ]),
    ],
  }
}

export const byQuality = ({ by_quality }: Evaluation) =>
  breakdown(
    'By quality of the photos',
    by_quality,
    'Compared pairs, in four parts by the quality score (0 to 1) of the poorer of their two photos, at the threshold in use.',
    'Quality',
    (value) => value.toFixed(2),
  )

export const byAge = ({ by_age }: Evaluation) =>
  breakdown(
    'By time between the photos',
    by_age,
    'Compared pairs by the years between their two photos, as the dates in the file names say, at the threshold in use.',
    'Years',
    String,
  )

/** Empty where all pairs are in one bin. */
function breakdown(
  title: string,
  bins: readonly RateBin[],
  what: string,
  first: string,
  show: (value: number) => string,
): ReportSection[] {
  if (bins.length < 2) return []
  const span = ({ from, to }: RateBin) => {
    if (from === null) return `below ${show(to!)}`
    return to === null ? `${show(from)} and more` : `${show(from)} to ${show(to)}`
  }
  return [
    {
      title,
      paragraphs: [what],
      tables: [
        tableOf(bins, [
          [first, span],
          ['Genuine pairs', (bin) => count(bin.genuine_pairs)],
          ['FNMR', (bin) => percent(bin.fnmr)],
          ['95 % interval', (bin) => range(bin.fnmr_ci95)],
          ['Impostor pairs', (bin) => count(bin.impostor_pairs)],
          ['False matches', (bin) => count(bin.false_matches)],
          ['FMR', (bin) => percent(bin.fmr)],
        ]),
      ],
    },
  ]
}

/** Empty if there is no error to report. */
export function causes({ causes: { bins, bounds }, configured }: Evaluation): ReportSection[] {
  const errors = bins.reduce((sum, { misses, false_matches }) => sum + misses + false_matches, 0)
  if (errors === 0) return []
  const names: Record<Cause, string> = {
    not_compared: 'A photo that could not be used',
    other_face: 'Two candidates: the largest face is not the one nearest the middle',
    turned_head: `A head turned by ${bounds.turned_head_degrees}° or more`,
    poor_quality: `A photo of quality below ${bounds.poor_quality_below.toFixed(2)}, as in the poorest tenth of pairs`,
    years_apart: `${bounds.years_apart} years or more between the photos`,
    none: 'Nothing of that',
  }
  const seen = bins.filter((bin) => bin.genuine_pairs + bin.impostor_pairs > 0)
  return [
    {
      title: 'Where the errors come from',
      paragraphs: [
        `Every pair counts once, under the first line that holds for either of its photos, at the threshold ${configured.threshold.toFixed(4)}. A line explains errors only as far as its own rate is above the last one’s. How far a head is turned is estimated from five points of the face.`,
      ],
      tables: [
        tableOf(seen, [
          ['What the photos show', (bin) => names[bin.cause]],
          ['Genuine pairs', (bin) => count(bin.genuine_pairs)],
          ['Misses', (bin) => count(bin.misses)],
          ['Share of misses', (bin) => percent(bin.share_of_misses)],
          ['FNMR', (bin) => percent(bin.fnmr)],
          ['95 % interval', (bin) => range(bin.fnmr_ci95)],
          ['False matches', (bin) => count(bin.false_matches)],
          ['Share of false matches', (bin) => percent(bin.share_of_false_matches)],
          ['FMR', (bin) => percent(bin.fmr)],
        ]),
      ],
    },
  ]
}
