/** Content of a report in order, without its format. */

import type { Evaluation } from './evaluation.js'
import { count, nominal, oneIn, people, percent, range } from './format.js'
import { byAge, byQuality, causes, group } from './report-breakdowns.js'
import { discards } from './report-discards.js'
import type { ReportContent } from './report-parts.js'
import {
  atTheThreshold,
  curve,
  DISTRIBUTIONS,
  failures,
  intervals,
  limits,
  measured,
} from './report-sections.js'

export function reportContent(evaluation: Evaluation, version: string): ReportContent {
  const { data, configured, eer } = evaluation
  return {
    title: `Accuracy of face verification with ${evaluation.model}`,
    subtitle: `Measured on ${evaluation.date} on ${data.name}: ${count(data.photos)} photos of ${people(data.people)}. Countersign ${version}.`,
    verdict: verdict(evaluation),
    keyFigures: [
      {
        name: 'False match rate (FMR)',
        value: percent(configured.measured_fmr),
        detail: `${range(configured.measured_fmr_ci95)}; asked for: ${nominal(configured.fmr)}`,
      },
      {
        name: 'False non-match rate (FNMR)',
        value: percent(configured.measured_fnmr),
        detail: `${range(configured.measured_fnmr_ci95)}; photos that cannot be used are misses`,
      },
      {
        name: 'Failure to acquire',
        value: percent(data.failed_to_acquire / data.photos),
        detail: `${count(data.failed_to_acquire)} of ${count(data.photos)} photos`,
      },
      {
        name: 'Equal error rate (EER)',
        value: percent(eer.rate),
        detail: eer.ci95 ? range(eer.ci95) : 'no interval',
      },
    ],
    sections: [
      measured(evaluation),
      atTheThreshold(evaluation),
      curve(evaluation),
      DISTRIBUTIONS,
      ...evaluation.groups.map((summary, index) => group(summary, evaluation, index === 0)),
      ...byQuality(evaluation),
      ...byAge(evaluation),
      ...discards(evaluation),
      ...causes(evaluation),
      failures(evaluation),
      intervals(evaluation),
      limits(evaluation),
    ],
  }
}

function verdict({ configured, model }: Evaluation): ReportContent['verdict'] {
  const { fmr, threshold, measured_fmr_ci95: ci, measured_fmr: measured } = configured
  const rate = `a false match rate of ${nominal(fmr)} (${oneIn(fmr)})`
  const found = `measured: ${percent(measured)}, 95 % interval ${range(ci)}`
  const at = `${model} at threshold ${threshold.toFixed(4)}`
  if (Number.isNaN(measured))
    return { text: `No pair of two people could be compared: nothing is shown about ${rate}.`, state: 'open' }
  if (ci[1] <= fmr) return { text: `${at} keeps ${rate} on these photos; ${found}.`, state: 'kept' }
  if (ci[0] > fmr) return { text: `${at} does not keep ${rate} on these photos; ${found}.`, state: 'broken' }
  return {
    text: `These photos neither show nor refute that ${at} keeps ${rate}; ${found}.`,
    state: 'open',
  }
}
