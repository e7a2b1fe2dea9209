/** Loads the model pack under measurement: one of the operator's, or the one that a new installation serves. */
import { resolve } from 'node:path'
import { loadModelPack, type ModelPack, verifyModelPack } from '../../models/pack/model-pack.js'
import { progressSteps } from '../../src/cli/lib/progress.js'
import { prepareModels } from '../../src/cli/models/prepare-models.js'
import { loadConfig, modelPackDir } from '../../src/config/config.js'
import { temporaryDir } from './temporary-dir.js'

/**
 * @param folder with a pack.json; undefined for the default pack of the product, which is built once a run
 * @throws ModelPackError when the pack is unusable; EmbedderUnavailableError when a part of it cannot be fetched
 */
export async function preparePack(folder: string | undefined): Promise<ModelPack> {
  const dir = folder === undefined ? await buildDefaultPack() : resolve(folder)
  const pack = await loadModelPack(dir)
  await verifyModelPack(pack)
  return pack
}

async function buildDefaultPack(): Promise<string> {
  const { COUNTERSIGN_EMBEDDER_TARBALL } = process.env
  // The models folder is new and empty, so the configuration names the pack of a new installation.
  const config = loadConfig({ COUNTERSIGN_MODELS_DIR: await temporaryDir(), COUNTERSIGN_EMBEDDER_TARBALL })
  const progress = progressSteps(`Building the ${config.modelPack} pack`)
  await prepareModels(config, progress.update).finally(progress.stop)
  return modelPackDir(config)
}
