/** The section of a report on how much each quality component predicts. */
import type { QualityBound } from '../../models/pack/quality-schema.js'
import type { DiscardCurve } from './error-versus-discard.js'
import type { Evaluation } from './evaluation.js'
import { count, percent } from './format.js'
import { type ReportSection, tableOf } from './report-parts.js'

const SHOWN = [0.01, 0.05, 0.1, 0.2]

/** Empty if there is no miss to report. */
export function discards({
  by_quality_component: { curves, refusals },
  configured,
}: Evaluation): ReportSection[] {
  const all = curves[0]?.points[0]
  if (!all || all.misses === 0) return []
  const { usable_photos, refused_photos, genuine_pairs, misses, other_genuine_pairs, other_misses } = refusals
  return [
    {
      title: 'By quality component',
      paragraphs: [
        `Error versus discard (ISO/IEC 29794-1): FNMR at the threshold ${configured.threshold.toFixed(4)} when the share of compared pairs whose poorer photo is worst in one component is left out; ${percent(all.fnmr)} with all of them. The gain is the mean of FNMR up to a fifth discarded over that of all pairs, with its 95 % interval: a component pays where the interval lies below 1.`,
        `The bounds of an enrolment would refuse ${count(refused_photos)} of ${count(usable_photos)} usable photos (${percent(refused_photos / usable_photos)}). ${count(misses)} of the ${count(genuine_pairs)} pairs with one of them are missed (${percent(misses / genuine_pairs)}), ${count(other_misses)} of the other ${count(other_genuine_pairs)} (${percent(other_misses / other_genuine_pairs)}).`,
      ],
      tables: [
        tableOf(curves, [
          ['Component', ({ component }) => component],
          ...SHOWN.map((share) => [`FNMR, ${100 * share} % left out`, fnmrWithout(share)] as const),
          ['Gain', gain],
          ['Bound at enrolment', ({ bound }) => boundText(bound) || 'none'],
          [
            'Photos beyond it',
            ({ bound, refused_photos: photos }) =>
              bound ? `${count(photos)} (${percent(photos / usable_photos)})` : '–',
          ],
          [
            'Their pairs missed',
            ({ bound, refused_misses, refused_pairs }) =>
              bound ? `${count(refused_misses)} of ${count(refused_pairs)}` : '–',
          ],
        ]),
      ],
      figure: 'discards',
    },
  ]
}

const fnmrWithout =
  (share: number) =>
  ({ points }: DiscardCurve) =>
    percent(points.find(({ discarded }) => discarded === share)!.fnmr)

function gain({ relative_fnmr, relative_fnmr_ci95: [low, high] }: DiscardCurve): string {
  return `${relative_fnmr.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`
}

/** Empty where there is no bound. */
export function boundText(bound: QualityBound | null): string {
  const { min, max } = bound ?? {}
  if (min === undefined) return max === undefined ? '' : `at most ${max}`
  return max === undefined ? `at least ${min}` : `${min} to ${max}`
}
