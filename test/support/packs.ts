/** Model packs for tests of the command line. */
import { createHash } from 'node:crypto'
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Calibration, packFingerprint } from '../../models/pack/calibration.js'
import { loadPackManifest } from '../../models/pack/model-pack.js'
import type { PackManifest } from '../../models/pack/pack-schema.js'

/** The baseline pack under another id, as if somebody had brought it; `changes` go into its manifest. */
export async function writeBroughtPack(
  dir: string,
  modelsDir: string,
  changes: (manifest: Record<string, unknown>) => object = () => ({}),
): Promise<void> {
  await cp(join(modelsDir, 'baseline'), dir, { recursive: true })
  const file = join(dir, 'pack.json')
  const manifest = JSON.parse(await readFile(file, 'utf8'))
  await writeFile(file, JSON.stringify({ ...manifest, id: 'brought', ...changes(manifest) }))
}

/** Changes the embedder's file of a pack, and names it in its pack.json and calibration.json as the author of the pack would. */
export async function changeEmbedder(dir: string, change: (embedder: Buffer) => Buffer): Promise<void> {
  const [manifestFile, calibrationFile] = [join(dir, 'pack.json'), join(dir, 'calibration.json')]
  const manifest = JSON.parse(await readFile(manifestFile, 'utf8')) as PackManifest
  const { quantised: _, ...embedder } = manifest.embedder
  const path = join(dir, embedder.file)
  const bytes = change(await readFile(path))
  await writeFile(path, bytes)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const changed = { ...manifest, embedder: { ...embedder, sha256 } }
  await writeFile(manifestFile, JSON.stringify(changed))
  const calibration = JSON.parse(await readFile(calibrationFile, 'utf8')) as Calibration
  const pack = { ...calibration.pack, sha256: packFingerprint(changed) }
  await writeFile(calibrationFile, JSON.stringify({ ...calibration, pack }))
}

/**
 * A pack `shifted@1.0.0` to go with the baseline: the same networks, but chips that show less around the face, another rate at
 * its threshold, and doubtful faces as a last resort. It shares the baseline's detection and landmarks.
 */
export async function writeShiftedPack(dir: string, modelsDir: string): Promise<void> {
  await writeBroughtPack(dir, modelsDir, (manifest) => {
    const { embedder, detector } = manifest as unknown as PackManifest
    const target = embedder.alignment.target.map(([x, y]) => [x * 1.1 - 8, y * 1.1 - 8])
    return {
      id: 'shifted',
      detector: { ...detector, lastResortScoreThreshold: 0.2 },
      embedder: { ...embedder, alignment: { ...embedder.alignment, target } },
      calibration: {
        source: 'for tests',
        points: [
          { fmr: 1e-3, threshold: 0.72 },
          { fmr: 1e-4, threshold: 0.76 },
        ],
      },
    }
  })
  await rm(join(dir, 'calibration.json'), { force: true })
}

/** The part of a calibration about turned pictures, with a rule that refuses no face. @param measured false match rate at each turn */
export function uprightMeasurement(
  dimensions: number,
  measured: Record<number, number> = { 90: 0, 180: 0, 270: 0 },
): NonNullable<Calibration['upright']> {
  return {
    axis: Buffer.alloc(4 * dimensions).toString('base64'),
    bound: 1,
    turns: Object.entries(measured).map(([degrees, rate]) => ({
      ...{ degrees: Number(degrees), photos: 600, refused: 590, impostor_pairs: 179_700 },
      points: [{ threshold: 0, measured_fmr: rate, fmr_ci95: [rate / 2, 2 * rate] }],
    })),
  }
}

/** A calibration as if it had been measured with the pack in that folder. */
export async function writeCalibration(
  file: string,
  packDir: string,
  changes: Partial<Calibration> = {},
): Promise<void> {
  const manifest = await loadPackManifest(packDir)
  const point = {
    fmr: 1e-4,
    threshold: 0.8,
    measured_fmr: 5e-5,
    fmr_ci95: [2e-5, 9e-5] as [number, number],
    fnmr: 0.04,
    fnmr_ci95: [0.03, 0.05] as [number, number],
  }
  const calibration: Calibration = {
    format: 1,
    pack: { id: manifest.id, version: manifest.version, sha256: packFingerprint(manifest) },
    date: '2026-05-31',
    data: { photos: 2000, people: 600, genuine_pairs: 2900, impostor_pairs: 179_700, failed_to_acquire: 3 },
    points: [point],
    groups: ['f', 'm'].map((group) => ({
      ...{ label: 'sex', group, people: 300, genuine_pairs: 1450, impostor_pairs: 44_850 },
      points: [point],
    })),
    upright: uprightMeasurement(manifest.embedder.dimensions),
    ...changes,
  }
  await writeFile(file, JSON.stringify(calibration))
}
