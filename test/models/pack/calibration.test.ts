import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import {
  CALIBRATION_JSON,
  type Calibration,
  keepCalibration,
  packFingerprint,
  parseCalibration,
} from '../../../models/pack/calibration.js'
import { loadModelPack, thresholdForFmr } from '../../../models/pack/model-pack.js'
import type { PackManifest } from '../../../models/pack/pack-schema.js'
import { uprightMeasurement } from '../../support/packs.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const dir = temporaryFolder()
let manifest: PackManifest
beforeAll(async () => {
  const text = await readFile(join(inject('modelsDir'), 'baseline', 'pack.json'), 'utf8')
  await writeFile(join(dir, 'pack.json'), text)
  manifest = JSON.parse(text)
})

const point = (fmr: number, threshold: number) => ({
  fmr,
  threshold,
  measured_fmr: fmr / 2,
  fmr_ci95: [fmr / 4, fmr] as [number, number],
  fnmr: 0.04,
  fnmr_ci95: [0.03, 0.05] as [number, number],
})
const calibrationOf = (of: PackManifest): Calibration => ({
  format: 1,
  pack: { id: of.id, version: of.version, sha256: packFingerprint(of) },
  date: '2026-05-31',
  data: { photos: 2000, people: 600, genuine_pairs: 2900, impostor_pairs: 179_700, failed_to_acquire: 3 },
  points: [point(1e-3, 0.75), point(1e-4, 0.8)],
  groups: [],
})
const put = (calibration: unknown) => writeFile(join(dir, CALIBRATION_JSON), JSON.stringify(calibration))

describe('a calibration beside a pack', () => {
  it('a calibration decides before the points that the pack states, and never beyond its last point', async () => {
    await put(calibrationOf(manifest))
    const pack = await loadModelPack(dir)
    expect(thresholdForFmr(pack, 1e-4)).toEqual({
      threshold: 0.8,
      fmr: 1e-4,
      clamped: false,
      basis: 'measured',
    })
    expect(thresholdForFmr(pack, 10 ** -3.5).threshold).toBeCloseTo(0.775, 12)
    expect(thresholdForFmr(pack, 1e-6)).toEqual({
      threshold: 0.8,
      fmr: 1e-4,
      clamped: true,
      basis: 'measured',
    })
    expect(thresholdForFmr(pack, 0.5)).toMatchObject({ threshold: 0.75, fmr: 1e-3, clamped: true })
  })

  it('a calibration that was measured with another pack stops the pack from loading', async () => {
    const other = { ...manifest, detector: { ...manifest.detector, scoreThreshold: 0.3 } }
    await put(calibrationOf(other))
    await expect(loadModelPack(dir)).rejects.toMatchObject({ code: 'calibration_mismatch' })
  })

  it('a rule about turned pictures whose axis has another length than the embeddings stops the pack from loading', async () => {
    const upright = uprightMeasurement(manifest.embedder.dimensions - 1)
    await put({ ...calibrationOf(manifest), upright })
    await expect(loadModelPack(dir)).rejects.toMatchObject({
      code: 'calibration_invalid',
      message: expect.stringContaining('upright.axis'),
    })
    await put({ ...calibrationOf(manifest), upright: uprightMeasurement(manifest.embedder.dimensions) })
    await loadModelPack(dir)
  })

  it('a calibration is kept when its pack is replaced, unless the new pack scores differently', async () => {
    await put(calibrationOf(manifest))
    const to = await mkdtemp(join(dir, 'to-'))
    const retuned = {
      ...manifest,
      embedder: { ...manifest.embedder, flipAverage: !manifest.embedder.flipAverage },
    }
    expect(await keepCalibration(dir, to, retuned, null)).toBe(false)
    expect(await keepCalibration(dir, to, { ...manifest, description: 'reworded' }, null)).toBe(true)
    expect(JSON.parse(await readFile(join(to, CALIBRATION_JSON), 'utf8'))).toEqual(calibrationOf(manifest))
  })

  it("a calibration that came with the pack is replaced by the new pack's", async () => {
    await put({ ...calibrationOf(manifest), origin: 'shipped' })
    const to = await mkdtemp(join(dir, 'to-'))
    expect(await keepCalibration(dir, to, manifest, null)).toBe(false)
    expect(await readdir(to)).toEqual([])
  })
})

const parse = (changes: object) =>
  parseCalibration(JSON.stringify({ ...calibrationOf(manifest), ...changes }), 'it')

it('a calibration whose interval exceeds its rate is refused', () => {
  const point0 = { ...point(1e-3, 0.7), fmr_ci95: [0, 2e-3] }
  expect(() => parse({ points: [point0] })).toThrow('the upper bound of a false match rate is over the rate')
})

it('a calibration whose thresholds fall with the rate is refused', () => {
  expect(() => parse({ points: [point(1e-3, 0.7), point(1e-4, 0.6)] })).toThrow(
    'cannot have a lower threshold',
  )
})

it('a calibration that is no JSON or has an unknown field is refused, and the error says where', () => {
  expect(() => parse({ data: {} })).toThrow(/it is no calibration: data/)
  expect(() => parseCalibration('{', 'it')).toThrow(expect.objectContaining({ code: 'calibration_invalid' }))
})
