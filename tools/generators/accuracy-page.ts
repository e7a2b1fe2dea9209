/** The tables of docs/accuracy.md, from the calibrations that come with the packs. */

import type { CalibrationPoint } from '../../models/pack/calibration.js'
import { markdownTable } from '../../src/lib/markdown-table.js'
import { type CalibratedPack, shippedCalibration } from '../pack-builders/calibration/shipped.js'

const PACKS: readonly CalibratedPack[] = ['standard', 'recommended', 'baseline']
/** Packs for operation, whose groups and turns are shown. */
const SERVING: readonly CalibratedPack[] = ['standard', 'recommended']
/** Rates of the table of thresholds; `models/` has the points between. */
const FMRS = [1e-3, 1e-4, 5e-5, 2e-5]
/** The rate that is asked for where nobody says anything else. */
const DEFAULT_FMR = 1e-4
/** Turns of the table. A picture turned by 270° gives what one turned by 90° does. */
const TURNS_SHOWN = [0, 30, 45, 90, 180]

export function accuracyTables(): string {
  const evaluated = pointAt(shippedCalibration('baseline').points, DEFAULT_FMR)
  return [
    '### Rates and thresholds',
    pointsTable(),
    `\`baseline\`, for evaluation only, at 1e-4: threshold ${evaluated.threshold.toFixed(4)}, measured FMR ${withInterval(evaluated)}, missed ${missed(evaluated)}. Photos without a face, of which each genuine pair counts as missed: ${PACKS.map((pack) => `${shippedCalibration(pack).data.failed_to_acquire} with \`${pack}\``).join(', ')}.`,
    '### Groups of people',
    'At 1e-4. A cell has the measured FMR among pairs of strangers within the group, their number, and the share of genuine pairs that were missed.',
    groupsTable(),
    '### Turned pictures',
    `At 1e-4, both pictures of a pair turned: photos refused or without a face, and the measured FMR of ${pairsOfTurns()} pairs.`,
    turnsTable(),
  ].join('\n\n')
}

function pointsTable(): string {
  const rows = SERVING.flatMap((pack) =>
    FMRS.map((rate, row) => {
      const point = pointAt(shippedCalibration(pack).points, rate)
      return [
        row === 0 ? `\`${pack}\`` : '',
        exponential(rate),
        point.threshold.toFixed(4),
        withInterval(point),
        missed(point),
      ]
    }),
  )
  return markdownTable(['Pack', 'FMR, as signed', 'threshold', 'measured FMR', 'missed (FNMR)'], rows)
}

function groupsTable(): string {
  const [first] = SERVING.map((pack) => shippedCalibration(pack).groups)
  const rows = first!.map(({ label, group, people }) => [
    `${label}: ${group}`,
    String(people),
    ...SERVING.map((pack) => {
      const { impostor_pairs, points } = shippedCalibration(pack).groups.find(
        (one) => one.label === label && one.group === group,
      )!
      const point = pointAt(points, DEFAULT_FMR)
      return `${withInterval(point)} of ${impostor_pairs}; missed ${missed(point)}`
    }),
  ])
  return markdownTable(['Group', 'people', ...SERVING.map((pack) => `\`${pack}\``)], rows)
}

/** Both pictures of each pair are turned: that is where embeddings are alike by nature. */
function turnsTable(): string {
  const turnsOf = (pack: CalibratedPack) => shippedCalibration(pack).upright!.turns
  const rows = turnsOf('standard')
    .filter(({ degrees }) => TURNS_SHOWN.includes(degrees))
    .map(({ degrees }) => [
      `${degrees}°`,
      ...SERVING.map((pack) => {
        const { threshold } = pointAt(shippedCalibration(pack).points, DEFAULT_FMR)
        const { photos, refused, points } = turnsOf(pack).find((turn) => turn.degrees === degrees)!
        return `${refused} of ${photos}; ${withInterval(points.find((point) => point.threshold === threshold)!)}`
      }),
    ])
  return markdownTable(['Turned by', ...SERVING.map((pack) => `\`${pack}\``)], rows)
}

/** @throws Error if the packs were tried on different numbers of pairs, which one sentence could not say */
function pairsOfTurns(): number {
  const [pairs, ...others] = new Set(
    SERVING.flatMap((pack) => shippedCalibration(pack).upright!.turns.map((turn) => turn.impostor_pairs)),
  )
  if (others.length > 0) throw new Error('The turned pictures of the packs make different numbers of pairs.')
  return pairs!
}

function pointAt<T extends { fmr: number }>(points: readonly T[], rate: number): T {
  return points.find(({ fmr }) => fmr === rate)!
}

function withInterval({
  measured_fmr,
  fmr_ci95,
}: Pick<CalibrationPoint, 'measured_fmr' | 'fmr_ci95'>): string {
  return `${exponential(measured_fmr!)} (${fmr_ci95.map(exponential).join(' to ')})`
}

function missed({ fnmr, fnmr_ci95: [low, high] }: Pick<CalibrationPoint, 'fnmr' | 'fnmr_ci95'>): string {
  return `${percent(fnmr!)} % (${percent(low)} to ${percent(high)})`
}

function percent(rate: number): string {
  return (100 * rate).toFixed(1)
}

function exponential(rate: number): string {
  return rate === 0 ? '0' : rate.toExponential(1).replace('.0e', 'e')
}
