/** Report of presentation attack detection, in the formats and with the look of every report. */
import { writeFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { VERSION } from '../../src/lib/version.js'
import { count, nominal, percent, range } from './format.js'
import type { PadEvaluation } from './pad-evaluation.js'
import type { BonaFideRates, SpeciesRates } from './pad-rates.js'
import { assertReportFormat } from './report.js'
import { htmlReport } from './report-html.js'
import { markdownReport } from './report-markdown.js'
import { type ReportContent, type ReportSection, type ReportTable, tableOf } from './report-parts.js'

/**
 * Writes the report. Only JSON, which is meant for further computation, names presentations.
 * @throws ReportError unknown_report_format; the operating system's error for a file that cannot be written
 */
export async function writePadReport(file: string, evaluation: PadEvaluation): Promise<void> {
  assertReportFormat(file)
  await writeFile(file, render(extname(file), evaluation))
}

function render(format: string, evaluation: PadEvaluation): string {
  if (format === '.json') return `${JSON.stringify(evaluation, null, 2)}\n`
  const content = padReportContent(evaluation, VERSION)
  if (format === '.md') return markdownReport(content)
  return htmlReport(content)
}

export function padReportContent(evaluation: PadEvaluation, version: string): ReportContent {
  const { model, data, date, attacks, bona_fide: living, species } = evaluation
  const [worst] = species
  const withoutResponse = species.reduce((sum, { non_response }) => sum + non_response, 0)
  return {
    title: `Presentation attack detection with ${model}`,
    subtitle: `Measured on ${date} on ${data}: ${count(living.presentations)} bona fide presentations and ${count(attacks)} attacks of ${count(species.length)} species. Countersign ${version}.`,
    verdict: verdict(worst),
    keyFigures: [
      {
        name: 'APCER of the worst species',
        value: percent(worst?.apcer ?? null),
        detail: worst ? `${worst.species}; at most ${percent(worst.apcer_ub95)}` : 'no attack',
      },
      {
        name: 'BPCER',
        value: percent(living.bpcer),
        detail: `${range(living.bpcer_ci95)}; ${count(living.refused)} of ${count(responses(living))}`,
      },
      {
        name: 'No response, bona fide',
        value: percent(living.non_response / living.presentations),
        detail: `${count(living.non_response)} of ${count(living.presentations)}`,
      },
      {
        name: 'No response, attacks',
        value: percent(withoutResponse / attacks),
        detail: `${count(withoutResponse)} of ${count(attacks)}`,
      },
    ],
    sections: [
      {
        title: 'Attacks by species',
        paragraphs: [
          'APCER: share of the attacks with a response that were taken for bona fide. Its bound is exact (Clopper and Pearson), 95 %, one-sided: only what stays below it has been shown. An attack without a response is not accepted, and is no merit of the check either.',
        ],
        tables: [speciesTable(species)],
      },
      ...acceptance(evaluation),
      {
        title: 'Bona fide presentations',
        paragraphs: [
          'BPCER: share of the bona fide presentations with a response that were taken for attacks, with its exact interval (Clopper and Pearson), 95 %, two-sided.',
        ],
        tables: [
          bonaFideTable('Condition', evaluation.by_condition, living),
          bonaFideTable('Device', evaluation.by_device, living),
        ],
      },
      ...nonResponses(evaluation),
      limits(evaluation),
    ],
  }
}

function verdict(worst: SpeciesRates | undefined): ReportContent['verdict'] {
  if (!worst || worst.apcer === null)
    return { text: 'No attack had a response: nothing is shown about attacks.', state: 'open' }
  const text = `${worst.species} is the worst species: ${count(worst.accepted)} of ${count(responses(worst))} passed (APCER ${percent(worst.apcer)}); shown is an APCER of at most ${percent(worst.apcer_ub95)}.`
  return { text, state: worst.accepted > 0 ? 'broken' : 'open' }
}

type Sizes = Pick<SpeciesRates, 'presentations' | 'subjects' | 'non_response'>

const SIZES: ReadonlyArray<readonly [string, (sizes: Sizes) => string]> = [
  ['Presentations', ({ presentations }) => count(presentations)],
  ['Subjects', ({ subjects }) => count(subjects)],
  ['No response', ({ non_response }) => count(non_response)],
]

function speciesTable(species: readonly SpeciesRates[]): ReportTable {
  return tableOf(species, [
    ['Species', (one) => one.species],
    ...SIZES,
    ['Accepted', (one) => count(one.accepted)],
    ['APCER', (one) => percent(one.apcer)],
    ['at most (95 %)', (one) => percent(one.apcer_ub95)],
  ])
}

function bonaFideTable(name: string, rates: readonly BonaFideRates[], all: BonaFideRates): ReportTable {
  return tableOf<BonaFideRates>(
    [...rates, all],
    [
      [name, (one) => one.label ?? 'all'],
      ...SIZES,
      ['Refused', (one) => count(one.refused)],
      ['BPCER', (one) => percent(one.bpcer)],
      ['95 %', (one) => range(one.bpcer_ci95)],
    ],
  )
}

function acceptance({ species, fmr }: PadEvaluation): ReportSection[] {
  const measured = species.flatMap(({ species, iapar }) => (iapar ? [{ species, ...iapar }] : []))
  if (measured.length === 0) return []
  return [
    {
      title: 'Attacks against the whole system',
      paragraphs: [
        `IAPAR: share of all attacks with a reference that were taken for bona fide and matched it, at a false match rate of ${nominal(fmr)}.`,
      ],
      tables: [
        tableOf(measured, [
          ['Species', (one) => one.species],
          ['Presentations', (one) => count(one.presentations)],
          ['Accepted', (one) => count(one.accepted)],
          ['IAPAR', (one) => percent(one.rate)],
          ['at most (95 %)', (one) => percent(one.ub95)],
        ]),
      ],
    },
  ]
}

function nonResponses({ non_responses }: PadEvaluation): ReportSection[] {
  const rows = Object.entries(non_responses).map(([reason, number]) => [reason, count(number)])
  if (rows.length === 0) return []
  return [
    {
      title: 'Presentations without a response',
      paragraphs: ['No picture of them could be judged: in production the person is asked for others.'],
      tables: [{ columns: ['Reason', 'Presentations'], rows }],
    },
  ]
}

function limits({ liveness_threshold: threshold }: PadEvaluation): ReportSection {
  return {
    title: 'What this does not show',
    list: [
      'Species that are not listed: another print, screen, mask or camera may pass at another rate.',
      'Injected pictures: what never was before a camera is no presentation.',
      'Bounds hold for presentations that know nothing of each other; several of one subject or one session say less than their number.',
      'Conformity to ISO/IEC 30107-3, which asks for a test laboratory, its instruments and its protocol.',
      ...(threshold === null
        ? []
        : [`Other thresholds than ${threshold} of the liveness network: the JSON report has each score.`]),
    ],
  }
}

function responses({ presentations, non_response }: SpeciesRates | BonaFideRates): number {
  return presentations - non_response
}
