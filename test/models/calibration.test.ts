/** The calibration that comes with a pack was measured with the pack's networks. */
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { assertMeasuredWith } from '../../models/pack/calibration.js'
import { parsePackManifest, thresholdForFmr } from '../../models/pack/model-pack.js'
import { samplePhoto } from '../../src/lib/sample-photo.js'
import { baselinePackDocument } from '../../tools/pack-builders/baseline/pack-document.js'
import { type CalibratedPack, shippedCalibration } from '../../tools/pack-builders/calibration/shipped.js'
import { findCataloguePack } from '../../tools/pack-builders/catalogue/catalogue.js'
import { standardPackDocument } from '../../tools/pack-builders/standard/pack-document.js'

const recommended = findCataloguePack('recommended')
const DOCUMENTS: Record<CalibratedPack, object> = {
  baseline: baselinePackDocument(),
  standard: standardPackDocument(),
  recommended: recommended?.kind === 'pulled' ? recommended.document(recommended.files) : {},
}
/** Maximum misses at a shown false match rate of one in 10,000, where NIST SP 800-63B-4 requires fewer than 5 %. */
const MISSES = { standard: 0.045, recommended: 0.03, baseline: 0.45 }

test.each(['baseline', 'standard'] as const)(
  'the check vector of %s is that of the photo which the installation has',
  async (pack) => {
    const photo = await samplePhoto('sample2.jpg')
    const { check } = shippedCalibration(pack)
    expect(check?.picture).toBe(createHash('sha256').update(photo).digest('hex'))
  },
)

test.each(Object.entries(DOCUMENTS))(
  'the calibration of %s was measured with its networks',
  (name, document) => {
    const pack = name as CalibratedPack
    const manifest = parsePackManifest(document)
    const calibration = shippedCalibration(pack)
    expect(() => assertMeasuredWith(calibration, manifest, name)).not.toThrow()
    // If calibration.json is lost, pack.json decides the same.
    for (const { fmr, threshold } of calibration.points) {
      const stated = thresholdForFmr({ dir: '', modelId: name, manifest }, fmr)
      expect(stated).toEqual({ threshold, fmr, clamped: false, basis: 'measured' })
    }
    const point = calibration.points.find(({ fmr }) => fmr === 1e-4)!
    expect(point.fmr_ci95[1]).toBeLessThanOrEqual(1e-4)
    expect(point.fnmr).toBeLessThan(MISSES[pack])
    // In a smaller group a rate would describe one person rather than the group.
    for (const { people } of calibration.groups) expect(people).toBeGreaterThanOrEqual(10)
  },
)
