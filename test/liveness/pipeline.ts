/** The engine's pipeline in this process. */
import { join } from 'node:path'
import { loadModelPack } from '../../models/pack/model-pack.js'
import { FacePipeline } from '../../src/biometrics/pipeline/face-pipeline.js'
import type { ImageLimits } from '../../src/biometrics/types.js'
import { MODELS_DIR } from '../support/models-dir.js'

const LIMITS: ImageLimits = { maxPixels: 25_000_000, minSidePx: 64, minFacePx: 80, secondFaceRatio: 0.5 }

/** @param packDir folder of a pack; by default the baseline's @param otherDirs folders of packs that may follow */
export async function loadPipeline(
  packDir = join(MODELS_DIR, 'baseline'),
  limits: Partial<ImageLimits> = {},
  otherDirs: readonly string[] = [],
): Promise<FacePipeline> {
  const pack = await loadModelPack(packDir)
  const otherPacks = await Promise.all(otherDirs.map(loadModelPack))
  return FacePipeline.load(pack, { provider: 'cpu', limits: { ...LIMITS, ...limits }, otherPacks })
}
