/** The figures of accuracy that several documents show, by name, from the calibrations that come with the packs. */

import { readFileSync } from 'node:fs'
import type { CalibrationPoint } from '../../../models/pack/calibration.js'
import { markdownTable } from '../../../src/lib/markdown-table.js'
import { packageFile } from '../../../src/lib/package-root.js'
import { type CalibratedPack, shippedCalibration } from '../../pack-builders/calibration/shipped.js'

export const PACKS: readonly CalibratedPack[] = ['standard', 'recommended', 'baseline']
/** Packs for operation, in which a face was found in each photograph: one and three photos were tried on the same pairs. */
export const SERVING = ['standard', 'recommended'] as const
/** The rate that is asked for where nobody says anything else. */
const DEFAULT_FMR = 1e-4

/** Rates, with 95 % intervals. */
type Fmr = Pick<CalibrationPoint, 'measured_fmr' | 'fmr_ci95'>
type Fnmr = Pick<CalibrationPoint, 'fnmr' | 'fnmr_ci95'>
/** The rates of references of one to three photographs. */
type SeveralPhotos = Fmr & Fnmr & { photos: number }

const SEVERAL_PHOTOS: Record<string, SeveralPhotos[]> = JSON.parse(
  readFileSync(packageFile('docs', 'quality-figures.json'), 'utf8'),
).several_photos

export function accuracyFigures(): Record<string, string> {
  return {
    ...Object.fromEntries(
      PACKS.flatMap((pack) => {
        const one = pointAt(shippedCalibration(pack).points)
        return [
          [`missed-${pack}`, `${percent(one.fnmr!)} %`],
          [`missed-${pack}-interval`, missed(one)],
          [`missed-${pack}-3-photos`, `${percent(ofThreePhotos(pack).fnmr!)} %`],
        ]
      }),
    ),
    // Two digits, as one would hide how near the rate is to the one that is signed.
    'false-matches-3-photos': inTenThousand(ofThreePhotos('standard'), (rate) => rate.toPrecision(2)),
    'false-matches': inTenThousand(pointAt(shippedCalibration('standard').points)),
    'false-matches-women': falseMatchesOf('f'),
    'false-matches-men': falseMatchesOf('m'),
    accuracy: markdownTable(
      ['Pack, at a false match rate of 1 in 10,000', 'missed with one photo', 'missed with three'],
      [
        ['`standard`, the default', 'standard'] as const,
        ['`recommended`, by `countersign models pull recommended`', 'recommended'] as const,
      ].map(([name, pack]) => [
        name,
        missed(pointAt(shippedCalibration(pack).points)),
        missed(ofThreePhotos(pack)),
      ]),
    ),
    'several-photos': markdownTable(
      ['pack', 'photographs enrolled', 'measured FMR', 'missed'],
      SERVING.flatMap((pack) =>
        SEVERAL_PHOTOS[pack]!.map((rates) => [
          rates.photos === 1 ? `\`${pack}\`` : '',
          String(rates.photos),
          falseMatches(rates),
          missed(rates),
        ]),
      ),
    ),
  }
}

function ofThreePhotos(pack: CalibratedPack): SeveralPhotos {
  return SEVERAL_PHOTOS[pack]!.find(({ photos }) => photos === 3)!
}

/** How often strangers of one sex are taken for one another by the default pack. */
function falseMatchesOf(sex: 'f' | 'm'): string {
  const { points } = shippedCalibration('standard').groups.find(
    ({ label, group }) => label === 'sex' && group === sex,
  )!
  return inTenThousand(pointAt(points))
}

/** A measured false match rate with its interval, in 10,000 pairs of strangers. */
function inTenThousand({ measured_fmr, fmr_ci95 }: Fmr, written = (rate: number) => rate.toFixed(1)): string {
  const [measured, low, high] = [measured_fmr!, ...fmr_ci95].map((rate) => written(10_000 * rate))
  return `${measured} in 10,000 (${low} to ${high})`
}

export function pointAt<T extends { fmr: number }>(points: readonly T[], rate = DEFAULT_FMR): T {
  return points.find(({ fmr }) => fmr === rate)!
}

/** The measured false match rate with its interval. */
export function falseMatches({ measured_fmr, fmr_ci95 }: Fmr): string {
  return `${exponential(measured_fmr!)} (${fmr_ci95.map(exponential).join(' to ')})`
}

/** The share of genuine pairs that were missed, with its interval. */
export function missed({ fnmr, fnmr_ci95: [low, high] }: Fnmr): string {
  return `${percent(fnmr!)} % (${percent(low)} to ${percent(high)})`
}

function percent(rate: number): string {
  return (100 * rate).toFixed(1)
}

export function exponential(rate: number): string {
  return rate === 0 ? '0' : rate.toExponential(1).replace('.0e', 'e')
}
