/** The engine's pipeline in this process. */
import { join } from 'node:path'
import { loadModelPack } from '../../models/pack/model-pack.js'
import { FacePipeline } from '../../src/biometrics/pipeline/face-pipeline.js'
import type { ImageLimits } from '../../src/biometrics/types.js'
import { MODELS_DIR } from '../support/models-dir.js'

const LIMITS: ImageLimits = { maxPixels: 24_000_000, minSidePx: 64, minFacePx: 80, secondFaceRatio: 0.5 }

/** @param packDir folder of a pack; by default the baseline's */
export async function loadPipeline(
  packDir = join(MODELS_DIR, 'baseline'),
  limits: Partial<ImageLimits> = {},
): Promise<FacePipeline> {
  const pack = await loadModelPack(packDir)
  return FacePipeline.load(pack, { provider: 'cpu', limits: { ...LIMITS, ...limits } })
}
