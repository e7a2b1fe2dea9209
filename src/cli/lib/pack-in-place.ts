/** The model pack that is installed where a command runs, and whether it reaches a false match rate. */
import type { ModelPack } from '../../../models/pack/model-pack.js'
import { type Config, modelPackDir } from '../../config/config.js'

/** Checks a rate against the installed pack. Without a pack there is nothing to check. @throws PackGradeError fmr_not_reached */
export async function assertReached(fmr: number, config: Config): Promise<void> {
  const { assertFmrReached } = await import('../../../models/pack/pack-grade.js')
  const pack = await packInPlace(config)
  if (pack) assertFmrReached(pack, fmr, '--fmr', config.acceptPacks)
}

/** The installed pack, or null where there is none yet. */
export async function packInPlace(config: Config): Promise<ModelPack | null> {
  const { loadModelPack, ModelPackError } = await import('../../../models/pack/model-pack.js')
  return loadModelPack(modelPackDir(config)).catch((error) => {
    if (error instanceof ModelPackError && error.code === 'pack_not_found') return null
    throw error
  })
}
