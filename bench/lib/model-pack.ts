/** Loads the model pack under measurement: one of the operator's, or the baseline, which is built once a run. */
import { resolve } from 'node:path'
import { buildBaseline } from '../../models/baseline/build-baseline.js'
import { loadModelPack, type ModelPack, verifyModelPack } from '../../models/pack/model-pack.js'
import { progressSteps } from '../../src/cli/lib/progress.js'
import { temporaryDir } from './temporary-dir.js'

/**
 * @param folder with a pack.json; undefined for the baseline pack
 * @throws ModelPackError when the pack is unusable
 */
export async function preparePack(folder: string | undefined): Promise<ModelPack> {
  const dir = folder === undefined ? await buildBaselinePack() : resolve(folder)
  const pack = await loadModelPack(dir)
  await verifyModelPack(pack)
  return pack
}

async function buildBaselinePack(): Promise<string> {
  const dir = `${await temporaryDir()}/baseline`
  const progress = progressSteps('Building the baseline pack')
  await buildBaseline({ outDir: dir, onProgress: progress.update }).finally(progress.stop)
  return dir
}
