/** General sections of a report: data, rates, curves, and conclusions. */

import type { Evaluation } from './evaluation.js'
import { count, nominal, people, percent, range } from './format.js'
import { type ReportSection, tableOf } from './report-parts.js'

const PROTOCOLS: Record<Evaluation['protocol'], string> = {
  one: 'the first usable photo of each person against that of each other person',
  all: 'every usable photo against every usable photo of each other person',
  listed: 'the pairs that the file lists',
}

export function measured({ data, protocol, pack, provider, configured, model }: Evaluation): ReportSection {
  return {
    title: 'What was measured',
    paragraphs: [
      'Each photo went once through the whole pipeline of the service: decoding, detection, alignment, quality check, embedding. A photo that the service would refuse is a failure to acquire. Pairs are compared by the embeddings; a pair matches when its score is at or above the threshold.',
    ],
    tables: [
      {
        columns: ['', ''],
        rows: [
          ['Model pack', model],
          ['SHA-256 of all that decides a score', pack.sha256],
          ['Networks run by', provider ?? 'several execution providers'],
          ['Data', data.name],
          ['Photos', `${count(data.photos)} of ${people(data.people)}`],
          [
            'Genuine pairs (two photos of one person)',
            `${count(data.genuine_pairs)}, of which ${count(data.genuine_not_compared)} could not be compared`,
          ],
          ['Which genuine pairs', protocol === 'listed' ? PROTOCOLS.listed : 'all within a person'],
          [
            'Impostor pairs (two people)',
            `${count(data.impostor_pairs)} compared, ${count(data.impostor_not_compared)} could not be`,
          ],
          ['Which impostor pairs', PROTOCOLS[protocol]],
          ['Pairs of people', count(data.people_pairs)],
          [
            'Threshold',
            `${configured.threshold.toFixed(6)}, for an FMR of ${nominal(configured.fmr)}; ${configured.basis} in the calibration in use`,
          ],
        ],
      },
    ],
  }
}

export function atTheThreshold(evaluation: Evaluation): ReportSection {
  const { configured, data, points, lowest_fmr } = evaluation
  return {
    title: 'Error rates',
    paragraphs: [
      `FNMR counts a pair that could not be compared as a miss, as its owner would; the last column leaves such pairs out (ISO/IEC 19795-1). ${count(data.people_pairs)} pairs of people can show a false match rate of ${percent(lowest_fmr)} at best: had none of them matched, three over their number would be its upper bound.`,
    ],
    tables: [
      {
        caption: 'At the threshold in use',
        columns: ['', 'Rate', '95 % interval', 'Errors', 'Pairs'],
        rows: [
          [
            'FMR',
            percent(configured.measured_fmr),
            range(configured.measured_fmr_ci95),
            count(configured.false_matches),
            count(data.impostor_pairs),
          ],
          [
            'FNMR',
            percent(configured.measured_fnmr),
            range(configured.measured_fnmr_ci95),
            count(configured.misses),
            count(data.genuine_pairs),
          ],
          [
            'FNMR of compared pairs',
            percent(configured.measured_fnmr_compared),
            '',
            count(configured.misses - data.genuine_not_compared),
            count(data.genuine_pairs - data.genuine_not_compared),
          ],
        ],
      },
      {
        caption: 'At other thresholds',
        ...tableOf(points, [
          ['FMR', ({ fmr, supported }) => `${nominal(fmr)}${supported ? '' : ' (too few people)'}`],
          ['Threshold', ({ threshold }) => threshold.toFixed(4)],
          ['False matches', ({ false_matches }) => count(false_matches)],
          ['FNMR', ({ fnmr }) => percent(fnmr)],
          ['95 % interval', ({ fnmr_ci95 }) => range(fnmr_ci95)],
          ['FNMR of compared pairs', ({ fnmr_compared }) => percent(fnmr_compared)],
        ]),
      },
    ],
  }
}

export function curve({ det }: Evaluation): ReportSection {
  return {
    title: 'Trade-off between the two errors',
    paragraphs: [
      `The detection error trade-off (DET) curve: which share of genuine pairs is missed at which false match rate. The band is the 95 % interval of FNMR at each threshold${det.length === 0 ? '; there were too few pairs to draw it' : ''}.`,
    ],
    figure: 'det',
  }
}

export const DISTRIBUTIONS: ReportSection = {
  title: 'Scores',
  paragraphs: [
    'How scores are spread, each kind in shares of its own pairs, on a logarithmic scale, because what matters lies in the tails: impostor pairs to the right of the threshold are false matches, genuine pairs to the left of it misses.',
  ],
  figure: 'scores',
}

export function failures({ refused, data }: Evaluation): ReportSection {
  const codes = new Map<string, number>()
  for (const code of Object.values(refused)) codes.set(code, (codes.get(code) ?? 0) + 1)
  const title = 'Failures to acquire'
  if (codes.size === 0) return { title, paragraphs: ['Every photo could be used.'] }
  const rows = [...codes]
    .sort(([, a], [, b]) => b - a)
    .map(([code, photos]) => [code, count(photos), percent(photos / data.photos)])
  return {
    title,
    paragraphs: [
      'Photos that the service refuses. A person would be asked to take another; here there was none, so their genuine pairs are misses.',
    ],
    tables: [{ columns: ['Reason', 'Photos', 'Share'], rows }],
  }
}

export function intervals({ replicates, seed }: Evaluation): ReportSection {
  return {
    title: 'How the intervals were made',
    paragraphs: [
      `By a bootstrap over people (percentile method, 95 %, ${count(replicates)} replicates, seed ${seed}): people are drawn with replacement, and a pair counts as often as the product of how often its two people were drawn. Pairs that share a person are not independent, so drawing pairs would promise too much. Where errors are pairs' and not people's, this is wider than need be, never narrower (Owen 2007).`,
      'A bootstrap can only draw again the errors that it has seen: an interval is never narrower than Wilson’s for independent pairs, and where there was no error its upper end is three over the number of pairs of people, or of people (rule of three).',
    ],
  }
}

export function limits({ protocol }: Evaluation): ReportSection {
  return {
    title: 'What this does not show',
    list: [
      'Rates hold for people and photos like these. Other cameras, light, ages and groups have other rates: measure on captures from your own application.',
      'Impostors here are strangers who did not try. Relatives, twins and people chosen for their likeness match far more often; photos of photos, screens and masks are for liveness detection, which this does not measure.',
      'Where the people of the data may have been in the training data of a network, as celebrities often are, it does better on them than on others.',
      'One photo against one photo. An enrolment of several photos misses less; several attempts in a row let more impostors through.',
      ...(protocol === 'one'
        ? [
            'Impostor pairs use one photo of each person; other photos of the same people would give slightly other counts.',
          ]
        : []),
      'Labels of groups are as good as who gave them, and a group of few people says little about the others in it.',
    ],
  }
}
