/**
 * Networks and photographs for measuring, which lie next to the checkout and are not part of it; everything works
 * without them.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { loadModelPack, type ModelPack, verifyModelPack } from '../../models/pack/model-pack.js'
import type { PackManifest } from '../../models/pack/pack-schema.js'
import { packageFile } from '../../src/lib/package-root.js'
import { ARCFACE_TARGET } from '../../tools/pack-builders/build/arcface-target.js'
import { temporaryDir } from '../lib/temporary-dir.js'

const FOLDER = packageFile('..', 'shared', 'data')
export const DETECTOR = join(FOLDER, 'models', 'yunet_n_dynamic.onnx')
/** The same weights for an input of fixed size: OpenCV needs one, and then takes any size. */
export const FIXED_DETECTOR = join(FOLDER, 'models', 'yunet_n_320_320.onnx')
export const EMBEDDER = join(FOLDER, 'models', 'mobilefacenet.onnx')
export const hasNetworks = [DETECTOR, FIXED_DETECTOR, EMBEDDER].every((file) => existsSync(file))

export interface LabelledPhotos {
  csv: string
  photos: string[]
  /** Indices into `photos`. */
  pairs: Array<[number, number]>
  genuine: boolean[]
}

/** Photos of lfw5 and the pairs that show one person; null if they are not on this machine. */
export async function readLabelledPhotos(): Promise<LabelledPhotos | null> {
  const folder = join(FOLDER, 'faces', 'lfw5')
  const csv = join(folder, 'pairs.csv')
  if (!existsSync(csv)) return null
  const [, ...lines] = (await readFile(csv, 'utf8')).trim().split(/\r?\n/)
  const rows = lines.map((line) => line.split(',') as [string, string, string])
  const names = [...new Set([...rows.map(([a]) => a), ...rows.map(([, b]) => b)])]
  const indexOf = new Map(names.map((name, i) => [name, i]))
  return {
    csv,
    photos: names.map((name) => join(folder, name)),
    pairs: rows.map(([a, b]) => [indexOf.get(a)!, indexOf.get(b)!]),
    genuine: rows.map(([, , same]) => same === '1'),
  }
}

/**
 * Writes a pack of the two networks that OpenCV is given, configured as OpenCV works: no liveness, no mirrored second
 * look.
 */
export async function writeSameNetworksPack(): Promise<ModelPack> {
  const dir = await temporaryDir()
  const take = async (source: string, file: string) => {
    await copyFile(source, join(dir, file))
    const sha256 = createHash('sha256')
      .update(await readFile(source))
      .digest('hex')
    return { file, sha256, licence: 'for measurement', origin: 'evaluation data' }
  }
  const manifest: PackManifest = {
    format: 1,
    id: 'yunet-mobilefacenet',
    version: '1',
    description: 'For measuring against OpenCV on the same networks.',
    detector: {
      ...(await take(DETECTOR, 'detector.onnx')),
      decoder: 'yunet',
      input: { color: 'bgr', mean: [0, 0, 0], scale: [1, 1, 1] },
      sizes: [640],
      scoreThreshold: 0.5,
      nmsIou: 0.3,
    },
    embedder: {
      ...(await take(EMBEDDER, 'embedder.onnx')),
      input: {
        width: 112,
        height: 112,
        color: 'rgb',
        mean: [127.5, 127.5, 127.5],
        scale: [1 / 128, 1 / 128, 1 / 128],
      },
      alignment: {
        source: [0, 1, 2, 3, 4],
        target: ARCFACE_TARGET,
      },
      dimensions: 128,
      normalize: true,
      flipAverage: false,
      metric: 'cosine',
    },
    calibration: { source: 'one impostor pair in 1000', points: [{ fmr: 1e-3, threshold: 0.3191 }] },
  }
  await writeFile(join(dir, 'pack.json'), JSON.stringify(manifest))
  const pack = await loadModelPack(dir)
  await verifyModelPack(pack)
  return pack
}
