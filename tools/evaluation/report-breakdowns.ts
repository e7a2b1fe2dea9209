/** Sections of a report by groups of people and kinds of photos. */

import type { RateBin } from './breakdowns.js'
import type { Cause, CauseBin } from './causes.js'
import type { Evaluation } from './evaluation.js'
import { count, percent, range } from './format.js'
import { type GroupSummary, MIN_ERRORS, MIN_PEOPLE } from './group-rates.js'
import type { ReportSection } from './report-parts.js'

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
      {
        columns: [
          'Group',
          'People',
          'Pairs within',
          'FMR',
          '95 % interval',
          'FMR with anybody',
          'Genuine pairs',
          'FNMR',
          '95 % interval',
        ],
        rows: groups.map((rates) => [
          rates.group,
          count(rates.people),
          count(rates.impostor_pairs),
          percent(rates.measured_fmr) + (rates.judged.fmr ? '' : ' †'),
          range(rates.measured_fmr_ci95),
          percent(rates.measured_fmr_any),
          count(rates.genuine_pairs),
          percent(rates.measured_fnmr) + (rates.judged.fnmr ? '' : ' †'),
          range(rates.measured_fnmr_ci95),
        ]),
      },
    ],
  }
}

interface BinTexts {
  what: string
  first: string
  show: (value: number) => string
}

export const quality: BinTexts = {
  what: 'Compared pairs, in four parts by the quality score (0 to 1) of the poorer of their two photos, at the threshold in use.',
  first: 'Quality',
  show: (value) => value.toFixed(2),
}
export const years: BinTexts = {
  what: 'Compared pairs by the years between their two photos, as the dates in the file names say, at the threshold in use.',
  first: 'Years',
  show: String,
}

export function breakdown(
  title: string,
  bins: readonly RateBin[],
  { what, first, show }: BinTexts,
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
        {
          columns: [
            first,
            'Genuine pairs',
            'FNMR',
            '95 % interval',
            'Impostor pairs',
            'False matches',
            'FMR',
          ],
          rows: bins.map((bin) => [
            span(bin),
            count(bin.genuine_pairs),
            percent(bin.fnmr),
            range(bin.fnmr_ci95),
            count(bin.impostor_pairs),
            count(bin.false_matches),
            percent(bin.fmr),
          ]),
        },
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
  const row = (bin: CauseBin) => [
    names[bin.cause],
    count(bin.genuine_pairs),
    count(bin.misses),
    percent(bin.share_of_misses),
    percent(bin.fnmr),
    range(bin.fnmr_ci95),
    count(bin.false_matches),
    percent(bin.share_of_false_matches),
    percent(bin.fmr),
  ]
  return [
    {
      title: 'Where the errors come from',
      paragraphs: [
        `Every pair counts once, under the first line that holds for either of its photos, at the threshold ${configured.threshold.toFixed(4)}. A line explains errors only as far as its own rate is above the last one’s. How far a head is turned is estimated from five points of the face.`,
      ],
      tables: [
        {
          columns: [
            'What the photos show',
            'Genuine pairs',
            'Misses',
            'Share of misses',
            'FNMR',
            '95 % interval',
            'False matches',
            'Share of false matches',
            'FMR',
          ],
          rows: bins.filter((bin) => bin.genuine_pairs + bin.impostor_pairs > 0).map(row),
        },
      ],
    },
  ]
}
