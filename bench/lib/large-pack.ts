/** A pack whose embedder is as large as those of the best public models: another pack with another embedder. */
import { createHash } from 'node:crypto'
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadModelPack, type ModelPack } from '../../models/pack/model-pack.js'
import { buildResnet50Graph, RESNET50_DIMENSIONS, RESNET50_INPUT_PX } from './resnet50-graph.js'
import { temporaryDir } from './temporary-dir.js'

const FILE = 'resnet50.onnx'

/** @param pack the pack that gives detector, landmarks and alignment; it must cut faces of 112 × 112 pixels */
export async function makeLargePack(pack: ModelPack): Promise<ModelPack> {
  const { quantised: _, ...embedder } = pack.manifest.embedder
  const { width, height } = embedder.input
  if (width !== RESNET50_INPUT_PX || height !== RESNET50_INPUT_PX)
    throw new Error(`the pack's faces have ${width} × ${height} pixels, the large embedder takes 112 × 112`)
  const dir = await temporaryDir()
  cpSync(pack.dir, dir, { recursive: true })
  // The calibration is that of the other embedder.
  rmSync(join(dir, 'calibration.json'), { force: true })
  const bytes = buildResnet50Graph().encode()
  writeFileSync(join(dir, FILE), bytes)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const manifest = {
    ...pack.manifest,
    id: 'random-resnet50',
    embedder: { ...embedder, file: FILE, sha256, dimensions: RESNET50_DIMENSIONS },
    calibration: { source: 'none: the weights are random', points: [{ fmr: 1e-3, threshold: 0.5 }] },
  }
  writeFileSync(join(dir, 'pack.json'), JSON.stringify(manifest))
  return loadModelPack(dir)
}
