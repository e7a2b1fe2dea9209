/** The tables of docs/accuracy.md, from the calibrations that come with the packs. */
import { type CalibratedPack, shippedCalibration } from '../../models/calibration/shipped.js'
import type { CalibrationPoint } from '../../models/pack/calibration.js'
import { markdownTable } from '../../src/lib/markdown-table.js'

const PACKS: readonly CalibratedPack[] = ['standard', 'recommended', 'baseline']
const FMRS = [1e-2, 1e-3, 1e-4, 2e-5]
/** The rate that is asked for where nobody says anything else. */
const DEFAULT_FMR = 1e-4

export function accuracyTables(): string {
  return [
    missesTable(),
    ...PACKS.flatMap((pack) => [`### ${pack}`, pointsTable(pack), groupsTable(pack), turnsTable(pack)]),
  ].join('\n\n')
}

function missesTable(): string {
  const rows = PACKS.map((pack) => {
    const { data, points } = shippedCalibration(pack)
    return [
      `\`${pack}\``,
      String(data.failed_to_acquire),
      ...FMRS.map((rate) => missed(points.find(({ fmr }) => fmr === rate)!)),
    ]
  })
  return markdownTable(
    ['Pack', 'photos without a face', ...FMRS.map((fmr) => `missed at FMR ${exponential(fmr)}`)],
    rows,
  )
}

function pointsTable(pack: CalibratedPack): string {
  const rows = shippedCalibration(pack).points.map((point) => [
    exponential(point.fmr),
    point.threshold.toFixed(4),
    `${exponential(point.measured_fmr!)} (${point.fmr_ci95.map(exponential).join(' to ')})`,
    missed(point),
  ])
  return markdownTable(['FMR, as signed', 'threshold', 'measured FMR', 'missed (FNMR)'], rows)
}

function groupsTable(pack: CalibratedPack): string {
  const rows = shippedCalibration(pack).groups.map(
    ({ label, group, people, impostor_pairs, genuine_pairs, points }) => {
      const point = points.find(({ fmr }) => fmr === DEFAULT_FMR)!
      return [
        `${label}: ${group}`,
        String(people),
        `${impostor_pairs} / ${genuine_pairs}`,
        `${exponential(point.measured_fmr!)} (${point.fmr_ci95.map(exponential).join(' to ')})`,
        missed(point),
      ]
    },
  )
  return markdownTable(
    ['Group, at 1e-4', 'people', 'impostor / genuine pairs within', 'measured FMR', 'missed (FNMR)'],
    rows,
  )
}

/** Both pictures of each pair are turned: that is where embeddings are alike by nature. */
function turnsTable(pack: CalibratedPack): string {
  const { upright, points } = shippedCalibration(pack)
  const { threshold } = points.find(({ fmr }) => fmr === DEFAULT_FMR)!
  const rows = upright!.turns.map(({ degrees, photos, refused, impostor_pairs, points }) => {
    const { measured_fmr, fmr_ci95 } = points.find((point) => point.threshold === threshold)!
    return [
      `${degrees}°`,
      `${refused} of ${photos}`,
      `${exponential(measured_fmr)} (${fmr_ci95.map(exponential).join(' to ')}) of ${impostor_pairs}`,
    ]
  })
  return markdownTable(
    ['Both pictures turned by, at 1e-4', 'refused or without a face', 'measured FMR, of all pairs'],
    rows,
  )
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
