/** The output of `countersign evaluate-pad`: one JSON line for programs, tables for people. */
import { percent, range } from '../../../tools/evaluation/format.js'
import type { PadEvaluation } from '../../../tools/evaluation/pad-evaluation.js'
import type { BonaFideRates } from '../../../tools/evaluation/pad-rates.js'
import { listing } from '../lib/style.js'

/** Leaves out single presentations, which only a JSON report has. */
export function padView({ presentations, ...evaluation }: PadEvaluation) {
  const { attacks, bona_fide, species, ...others } = evaluation
  const [worst] = species
  return {
    bona_fide: bona_fide.presentations,
    attacks,
    bpcer: bona_fide.bpcer,
    worst_species: worst?.species ?? null,
    worst_apcer: worst?.apcer ?? null,
    worst_apcer_ub95: worst?.apcer_ub95 ?? null,
    bpcer_ci95: bona_fide.bpcer_ci95,
    bona_fide_non_response: bona_fide.non_response,
    species,
    ...others,
  }
}

export function padText({ species, bona_fide, by_condition, by_device }: PadEvaluation): string {
  const attacks = species.map((one) => [
    one.species,
    String(one.presentations),
    String(one.non_response),
    String(one.accepted),
    percent(one.apcer),
    percent(one.apcer_ub95),
    one.iapar ? `${percent(one.iapar.rate)} (at most ${percent(one.iapar.ub95)})` : '–',
  ])
  const living = (
    name: string,
    { presentations, non_response, refused, bpcer, bpcer_ci95 }: BonaFideRates,
  ) => [name, String(presentations), String(non_response), String(refused), percent(bpcer), range(bpcer_ci95)]
  return [
    listing(['ATTACKS', 'N', 'NO RESPONSE', 'ACCEPTED', 'APCER', 'AT MOST (95 %)', 'IAPAR'], attacks),
    listing(
      ['BONA FIDE', 'N', 'NO RESPONSE', 'REFUSED', 'BPCER', '95 %'],
      [
        ...by_condition.map((one) => living(`condition: ${one.label}`, one)),
        ...by_device.map((one) => living(`device: ${one.label}`, one)),
        living('all', bona_fide),
      ],
    ),
  ].join('\n\n')
}
