/** The tables of docs/accuracy.md, from the calibrations that come with the packs. */

import { markdownTable } from '../../src/lib/markdown-table.js'
import { type CalibratedPack, shippedCalibration } from '../pack-builders/calibration/shipped.js'
import { exponential, falseMatches, missed, PACKS, pointAt, SERVING } from './figures/accuracy.js'

/** Rates of the table of thresholds; `models/` has the points between. */
const FMRS = [1e-3, 1e-4, 5e-5, 2e-5]
/** Turns of the table. A picture turned by 270° gives what one turned by 90° does. */
const TURNS_SHOWN = [0, 30, 45, 90, 180]

export function accuracyTables(): string {
  const evaluated = pointAt(shippedCalibration('baseline').points)
  return [
    '### Rates and thresholds',
    pointsTable(),
    `\`baseline\`, for evaluation only, at 1e-4: threshold ${evaluated.threshold.toFixed(4)}, measured FMR ${falseMatches(evaluated)}, missed ${missed(evaluated)}. Photos without a face, of which each genuine pair counts as missed: ${PACKS.map((pack) => `${shippedCalibration(pack).data.failed_to_acquire} with \`${pack}\``).join(', ')}.`,
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
        falseMatches(point),
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
      const point = pointAt(points)
      return `${falseMatches(point)} of ${impostor_pairs}; missed ${missed(point)}`
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
        const { threshold } = pointAt(shippedCalibration(pack).points)
        const { photos, refused, points } = turnsOf(pack).find((turn) => turn.degrees === degrees)!
        return `${refused} of ${photos}; ${falseMatches(points.find((point) => point.threshold === threshold)!)}`
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
