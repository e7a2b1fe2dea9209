import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  loadModelPack,
  type ModelPack,
  parsePackManifest,
  thresholdForFmr,
  verifyModelPack,
} from '../../../models/pack/model-pack.js'
import type { PackManifest } from '../../../models/pack/pack-schema.js'
import { baselinePack, copyBaselinePack } from '../../biometrics/fixtures.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const baseline = await loadModelPack(baselinePack())

/** A copy of the baseline's manifest with something changed. */
function changed(change: (manifest: PackManifest & Record<string, unknown>) => void): unknown {
  const copy = structuredClone(baseline.manifest) as PackManifest & Record<string, unknown>
  change(copy)
  return copy
}

describe('a model pack', () => {
  it('is loaded and named id@version', () => {
    expect(baseline.modelId).toBe(`baseline@${baseline.manifest.version}`)
  })

  it('is verified by the hash of every file', async () => {
    await expect(verifyModelPack(baseline)).resolves.toBeUndefined()
    const wrong = structuredClone(baseline)
    wrong.manifest.landmarks!.sha256 = '0'.repeat(64)
    await expect(verifyModelPack(wrong)).rejects.toMatchObject({
      code: 'pack_file_mismatch',
      message: expect.stringContaining('landmarks.onnx'),
    })
    wrong.manifest.detector.file = 'absent.onnx'
    await expect(verifyModelPack(wrong)).rejects.toMatchObject({ code: 'pack_file_missing' })
  })

  it('is refused once a file has changed that was in order before, also where its size and time stay', async () => {
    const pack = await loadModelPack(copyBaselinePack())
    await verifyModelPack(pack)
    const file = join(pack.dir, pack.manifest.landmarks!.file)
    const { atime, mtime } = statSync(file)
    const bytes = readFileSync(file)
    bytes[bytes.length - 1]! ^= 1
    writeFileSync(file, bytes)
    utimesSync(file, atime, mtime)
    await expect(verifyModelPack(pack)).rejects.toMatchObject({ code: 'pack_file_mismatch' })
  })

  it('a pack that is absent or not JSON is refused with a code of its own', async () => {
    const dir = temporaryFolder()
    await expect(loadModelPack(dir)).rejects.toMatchObject({ code: 'pack_not_found' })
    writeFileSync(join(dir, 'pack.json'), '{ "format": 1')
    await expect(loadModelPack(dir)).rejects.toMatchObject({ code: 'pack_malformed' })
    writeFileSync(join(dir, 'pack.json'), 'null')
    await expect(loadModelPack(dir)).rejects.toMatchObject({ code: 'pack_invalid' })
  })

  it.each<[string, (manifest: PackManifest & Record<string, unknown>) => void, string]>([
    ['another format', (m) => Object.assign(m, { format: 2 }), 'format'],
    ['an unknown field', (m) => Object.assign(m, { livness: {} }), 'livness'],
    ['a path as a file', (m) => Object.assign(m.detector, { file: '../x.onnx' }), 'detector.file'],
    ['a short hash', (m) => Object.assign(m.embedder, { sha256: 'abc' }), 'embedder.sha256'],
    ['no anchors', (m) => void delete m.detector.anchors, 'anchors'],
    ['no landmarks', (m) => void delete m.landmarks, 'landmarks'],
    ['too few targets', (m) => m.embedder.alignment.target.pop(), 'same length'],
    [
      'a point that a five-point detector lacks',
      (m) => {
        delete m.landmarks
        Object.assign(m.detector, { decoder: 'yunet' })
      },
      'names point 45',
    ],
    [
      'thresholds that fall with the rate',
      (m) => m.calibration.points.push({ fmr: 1e-9, threshold: 0 }),
      'calibration.points',
    ],
  ])('a pack with %s is refused, and the error names the field', (_, change, named) => {
    expect(() => parsePackManifest(changed(change))).toThrow(
      expect.objectContaining({ code: 'pack_invalid', message: expect.stringContaining(named) }),
    )
  })
})

describe('the threshold for a false match rate', () => {
  const points = [
    { fmr: 0.001, threshold: 0.7, measured: true },
    { fmr: 0.1, threshold: 0.5, measured: true },
    { fmr: 0.00001, threshold: 0.8, measured: false },
  ]
  const calibration = { source: 'made up', points }
  const { dir, modelId, manifest } = baseline
  const pack: ModelPack = { dir, modelId, manifest: { ...manifest, calibration } }

  it('a threshold is read at a calibrated point', () => {
    expect(thresholdForFmr(pack, 0.001)).toEqual({
      threshold: 0.7,
      fmr: 0.001,
      clamped: false,
      basis: 'measured',
    })
  })

  it('a threshold is linear in log10 between two points', () => {
    expect(thresholdForFmr(pack, 0.01).threshold).toBeCloseTo(0.6, 12)
    expect(thresholdForFmr(pack, 0.0001)).toMatchObject({ basis: 'extrapolated', clamped: false })
    expect(thresholdForFmr(pack, 0.0001).threshold).toBeCloseTo(0.75, 12)
  })

  it('a threshold stays at the ends, and the result says so', () => {
    expect(thresholdForFmr(pack, 1e-9)).toEqual({
      threshold: 0.8,
      fmr: 0.00001,
      clamped: true,
      basis: 'extrapolated',
    })
    expect(thresholdForFmr(pack, 0.5)).toMatchObject({ threshold: 0.5, fmr: 0.1, clamped: true })
  })

  it.each([0, -1, 1.5, Number.NaN])('a threshold is not defined for %s', (fmr) => {
    expect(() => thresholdForFmr(pack, fmr)).toThrow(TypeError)
  })
})
