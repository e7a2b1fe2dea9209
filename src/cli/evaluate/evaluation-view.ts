/** The output of `countersign evaluate`: one JSON line for programs, a table for people. */
import type { Evaluation } from '../../../tools/evaluation/evaluation.js'
import { people, percent, range } from '../../../tools/evaluation/format.js'
import { type Field, fields } from '../lib/style.js'

/** Leaves out what only a report shows: curve, distributions, single pairs. */
export function evaluationView(evaluation: Evaluation) {
  const { data, eer, configured, groups } = evaluation
  return {
    pack: evaluation.model,
    model: evaluation.model,
    pack_sha256: evaluation.pack.sha256,
    provider: evaluation.provider,
    photos: data.photos,
    people: data.people,
    genuine_pairs: data.genuine_pairs,
    impostor_pairs: data.impostor_pairs + data.impostor_not_compared,
    failed_to_acquire: data.failed_to_acquire,
    not_compared: { genuine: data.genuine_not_compared, impostor: data.impostor_not_compared },
    refused: evaluation.refused,
    protocol: evaluation.protocol,
    points: evaluation.points,
    lowest_fmr: evaluation.lowest_fmr,
    eer: eer.rate,
    eer_ci95: eer.ci95,
    balanced_accuracy: evaluation.balanced_accuracy,
    configured,
    groups: groups.flatMap(({ label, groups: rates }) => rates.map((group) => ({ label, ...group }))),
    ratios: groups.map(({ label, fmr, fnmr }) => ({ label, fmr, fnmr })),
    by_quality: evaluation.by_quality,
    by_age: evaluation.by_age,
    causes: evaluation.causes,
    by_quality_component: evaluation.by_quality_component,
  }
}

export function evaluationText(evaluation: Evaluation): string {
  const { data, eer, configured, groups, lowest_fmr: lowest } = evaluation
  return fields([
    ['Model', evaluation.model],
    [
      'Photos',
      `${data.photos} of ${people(data.people)}, of which ${data.failed_to_acquire} could not be used`,
    ],
    [
      'Pairs',
      `${data.genuine_pairs} genuine (${data.genuine_not_compared} not compared: counted as misses), ${data.impostor_pairs} impostor`,
    ],
    ...evaluation.points.map(
      ({ fmr, fnmr, fnmr_ci95, threshold, supported }): Field => [
        `FNMR at FMR ${fmr}`,
        `${percent(fnmr)} (${range(fnmr_ci95)}), threshold ${threshold.toFixed(4)}${supported ? '' : '; too few people to show this rate'}`,
      ],
    ),
    ['Shown at best', `FMR ${percent(lowest)}: three over ${data.people_pairs} pairs of people`],
    ['EER', `${percent(eer.rate)}${eer.ci95 ? ` (${range(eer.ci95)})` : ''}`],
    ['Balanced accuracy', evaluation.balanced_accuracy.toFixed(4)],
    [
      'As configured',
      `threshold ${configured.threshold.toFixed(4)} for FMR ${configured.fmr} (${configured.basis}): FMR ${percent(configured.measured_fmr)} (${range(configured.measured_fmr_ci95)}), FNMR ${percent(configured.measured_fnmr)} (${range(configured.measured_fnmr_ci95)})`,
    ],
    ...evaluation.causes.bins
      .filter(({ misses, false_matches }) => misses + false_matches > 0)
      .map(
        ({ cause, misses, share_of_misses, false_matches, share_of_false_matches }): Field => [
          `Errors, ${cause.replaceAll('_', ' ')}`,
          `${misses} misses (${percent(share_of_misses)} of them), ${false_matches} false matches (${percent(share_of_false_matches)})`,
        ],
      ),
    ...groups.flatMap(({ label, groups: rates }) =>
      rates.map(
        (group): Field => [
          `${label}: ${group.group}`,
          `${people(group.people)}; FMR ${percent(group.measured_fmr)} (${range(group.measured_fmr_ci95)}) of ${group.impostor_pairs} pairs within, FNMR ${percent(group.measured_fnmr)} (${range(group.measured_fnmr_ci95)})${group.judged.fmr ? '' : '; too few to judge FMR by'}`,
        ],
      ),
    ),
  ])
}
