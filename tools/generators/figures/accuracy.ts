/** The figures of accuracy that several documents show, by name, from the calibrations that come with the packs. */

import { readFileSync } from 'node:fs'
import type { CalibrationPoint } from '../../../models/pack/calibration.js'
import { markdownTable } from '../../../src/lib/markdown-table.js'
import { packageFile } from '../../../src/lib/package-root.js'
import { type CalibratedPack, shippedCalibration } from '../../pack-builders/calibration/shipped.js'

const PACKS: readonly CalibratedPack[] = ['standard', 'recommended', 'baseline']
/** Packs for operation, in which a face was found in each photograph: one and three photos were tried on the same pairs. */
const SERVING: Partial<Record<CalibratedPack, string>> = {
  standard: '`standard`, the default',
  recommended: '`recommended`, by `countersign models pull recommended`',
}
/** The rate that is asked for where nobody says anything else. */
const DEFAULT_FMR = 1e-4

/** FMR and FNMR of references of one to three photographs, with 95 % intervals. */
interface SeveralPhotos {
  photos: number
  measured_fmr: number
  fmr_ci95: [number, number]
  fnmr: number
  fnmr_ci95: [number, number]
}

const SEVERAL_PHOTOS: Record<string, SeveralPhotos[]> = JSON.parse(
  readFileSync(packageFile('docs', 'quality-figures.json'), 'utf8'),
).several_photos

export function accuracyFigures(): Record<string, string> {
  return {
    ...Object.fromEntries(
      PACKS.flatMap((pack) => {
        const { fnmr, fnmr_ci95 } = pointOf(pack)
        const three = SEVERAL_PHOTOS[pack]!.find(({ photos }) => photos === 3)!
        return [
          [`missed-${pack}`, `${percent(fnmr!)} %`],
          [`missed-${pack}-interval`, interval(fnmr!, fnmr_ci95)],
          [`missed-${pack}-3-photos`, `${percent(three.fnmr)} %`],
        ]
      }),
    ),
    'false-matches-3-photos': inTenThousandOf(SEVERAL_PHOTOS.standard!.find(({ photos }) => photos === 3)!),
    'false-matches': inTenThousand(pointOf('standard')),
    'false-matches-women': falseMatchesOf('f'),
    'false-matches-men': falseMatchesOf('m'),
    accuracy: markdownTable(
      ['Pack, at a false match rate of 1 in 10,000', 'missed with one photo', 'missed with three'],
      PACKS.filter((pack) => SERVING[pack]).map((pack) => {
        const { fnmr, fnmr_ci95 } = pointOf(pack)
        const three = SEVERAL_PHOTOS[pack]!.find(({ photos }) => photos === 3)!
        return [SERVING[pack]!, interval(fnmr!, fnmr_ci95), interval(three.fnmr, three.fnmr_ci95)]
      }),
    ),
    'several-photos': markdownTable(
      ['pack', 'photographs enrolled', 'measured FMR', 'missed'],
      PACKS.filter((pack) => SERVING[pack]).flatMap((pack) =>
        SEVERAL_PHOTOS[pack]!.map(({ photos, measured_fmr, fmr_ci95, fnmr, fnmr_ci95 }) => [
          photos === 1 ? `\`${pack}\`` : '',
          String(photos),
          `${exponential(measured_fmr)} (${fmr_ci95.map(exponential).join(' to ')})`,
          interval(fnmr, fnmr_ci95),
        ]),
      ),
    ),
  }
}

function pointOf(pack: CalibratedPack) {
  return shippedCalibration(pack).points.find(({ fmr }) => fmr === DEFAULT_FMR)!
}

/** How often strangers of one sex are taken for one another by the default pack. */
function falseMatchesOf(sex: 'f' | 'm'): string {
  const { points } = shippedCalibration('standard').groups.find(
    ({ label, group }) => label === 'sex' && group === sex,
  )!
  return inTenThousand(points.find(({ fmr }) => fmr === DEFAULT_FMR)!)
}

/** A measured false match rate with its interval, in 10,000 pairs of strangers. */
function inTenThousand({ measured_fmr, fmr_ci95 }: Pick<CalibrationPoint, 'measured_fmr' | 'fmr_ci95'>) {
  const [measured, low, high] = [measured_fmr!, ...fmr_ci95!].map((rate) => (10_000 * rate).toFixed(1))
  return `${measured} in 10,000 (${low} to ${high})`
}

/** The same with two digits, for a rate so near to the one that is signed that one digit would hide the difference. */
function inTenThousandOf({ measured_fmr, fmr_ci95 }: Pick<SeveralPhotos, 'measured_fmr' | 'fmr_ci95'>) {
  const [measured, low, high] = [measured_fmr, ...fmr_ci95].map((rate) => (10_000 * rate).toPrecision(2))
  return `${measured} in 10,000 (${low} to ${high})`
}

function interval(rate: number, [low, high]: readonly [number, number]): string {
  return `${percent(rate)} % (${percent(low)} to ${percent(high)})`
}

function percent(rate: number): string {
  return (100 * rate).toFixed(1)
}

function exponential(rate: number): string {
  return rate.toExponential(1).replace('.0e', 'e')
}
