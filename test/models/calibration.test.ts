/** What pack.json says of a threshold is what was measured, with the networks that the pack has. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { findCataloguePack } from '../../models/install/catalogue.js'
import { parsePackManifest } from '../../models/pack/model-pack.js'
import { standardPackDocument } from '../../models/standard/pack-document.js'
import { packageFile } from '../../src/package-root.js'

const recommended = findCataloguePack('recommended')
const DOCUMENTS = {
  standard: standardPackDocument(),
  recommended: recommended?.kind === 'assembled' ? recommended.document() : {},
}

test.each(Object.entries(DOCUMENTS))('%s', (name, document) => {
  const measured = JSON.parse(readFileSync(packageFile('models', 'calibration', `${name}.json`), 'utf8'))
  const { id, version, detector, landmarks, embedder, calibration } = parsePackManifest(document)
  expect(measured.pack).toBe(`${id}@${version}`)
  expect(measured.networks).toEqual({
    detector: detector.sha256,
    landmarks: landmarks?.sha256,
    embedder: embedder.sha256,
  })
  expect(calibration.points).toEqual(
    measured.points.map(({ fmr, threshold }: { fmr: number; threshold: number }) => ({
      fmr,
      threshold,
      measured: true,
    })),
  )
  for (const {
    fmr,
    fmr_ci95: [low, high],
  } of measured.points) {
    expect(low).toBeLessThan(fmr)
    expect(high).toBeGreaterThan(fmr)
  }
  // Misses at one false match in 10,000, where NIST SP 800-63B-4 asks for fewer than 5 %.
  const { fnmr } = measured.points.find((point: { fmr: number }) => point.fmr === 1e-4)
  expect(fnmr).toBeLessThan(0.045)
})
