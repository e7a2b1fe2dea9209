/** The engine's pipeline with the baseline pack, in this process. */
import { join } from 'node:path'
import { loadModelPack } from '../../models/pack/model-pack.js'
import { FacePipeline } from '../../src/biometrics/pipeline/face-pipeline.js'
import { MODELS_DIR } from '../support/models-dir.js'

export async function loadPipeline(): Promise<FacePipeline> {
  const pack = await loadModelPack(join(MODELS_DIR, 'baseline'))
  const limits = { maxPixels: 24_000_000, minSidePx: 64, minFacePx: 80, secondFaceRatio: 0.5 }
  return FacePipeline.load(pack, { provider: 'cpu', limits })
}
