/** Calibrations that come with the named packs: measurements of each, as `countersign evaluate` writes them. */
import { type Calibration, checkCalibration, packFingerprint } from '../../../models/pack/calibration.js'
import type { PackManifest } from '../../../models/pack/pack-schema.js'
import baseline from './baseline.json' with { type: 'json' }
import recommended from './recommended.json' with { type: 'json' }
import standard from './standard.json' with { type: 'json' }

const SHIPPED = { baseline, recommended, standard }

export type CalibratedPack = keyof typeof SHIPPED

export function shippedCalibration(pack: CalibratedPack): Calibration {
  return checkCalibration(SHIPPED[pack], `the calibration of the ${pack} pack`)
}

/** The calibration that ships for a pack, or null where there is none, or where it was measured with other networks. */
export function shippedFor(manifest: PackManifest): Calibration | null {
  if (!(manifest.id in SHIPPED)) return null
  const calibration = shippedCalibration(manifest.id as CalibratedPack)
  return calibration.pack.sha256 === packFingerprint(manifest) ? calibration : null
}

/** The points of the calibration for pack.json, which states only thresholds. */
export function statedCalibration(pack: CalibratedPack) {
  const { data, points } = shippedCalibration(pack)
  const { photos, people, genuine_pairs: genuine, impostor_pairs: impostors } = data
  return {
    source:
      `Measured on ${photos} photographs of ${people} people (${genuine} genuine and ${impostors} impostor pairs); calibration.json ` +
      'has intervals and groups. Press photographs of well-known people, some of whom the network may have been trained on, in ' +
      'random pairs: calibrate on your own captures.',
    points: points.map(({ fmr, threshold }) => ({ fmr, threshold, measured: true })),
  }
}
