/** Loads the model pack under measurement: one of the operator's, or the one that a new installation serves. */
import { resolve } from 'node:path'
import { loadModelPack, type ModelPack, verifyModelPack } from '../../models/pack/model-pack.js'
import { loadConfig } from '../../src/app/configuration.js'
import { progressSteps } from '../../src/cli/lib/progress.js'
import { prepareModels } from '../../src/cli/models/prepare-models.js'
import { modelPackDir } from '../../src/config/config.js'
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

/** Builds one of the packs that Countersign builds. @throws EmbedderUnavailableError when a part of it cannot be fetched */
export async function prepareNamedPack(name: 'standard' | 'baseline'): Promise<ModelPack> {
  const pack = await loadModelPack(await build({ COUNTERSIGN_MODEL_PACK: name }))
  await verifyModelPack(pack)
  return pack
}

function buildDefaultPack(): Promise<string> {
  // The models folder is new and empty, so the configuration names the pack of a new installation.
  return build({})
}

async function build(env: Record<string, string>): Promise<string> {
  const { COUNTERSIGN_EMBEDDER_TARBALL } = process.env
  const config = loadConfig({
    COUNTERSIGN_MODELS_DIR: await temporaryDir(),
    COUNTERSIGN_EMBEDDER_TARBALL,
    ...env,
  })
  const progress = progressSteps(`Building the ${config.modelPack} pack`)
  await prepareModels(config, progress.update).finally(progress.stop)
  return modelPackDir(config)
}
