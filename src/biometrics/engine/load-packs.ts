/** Reads and checks the packs of an engine. */
import { loadModelPack, type ModelPack, verifyModelPack } from '../../../models/pack/model-pack.js'
import { ModelPackError } from '../../../models/pack/model-pack-error.js'

/**
 * @param dirs folders of the packs, the primary one first
 * @throws ModelPackError when a pack is unusable, or two have the same model id
 */
export async function loadPacks(dirs: readonly string[]): Promise<ModelPack[]> {
  const packs: ModelPack[] = []
  for (const dir of dirs) {
    const pack = await loadModelPack(dir)
    const twin = packs.find(({ modelId }) => modelId === pack.modelId)
    if (twin)
      throw new ModelPackError(
        'pack_invalid',
        `${twin.dir} and ${dir} are both ${pack.modelId}: packs that are active together need different model ids`,
      )
    await verifyModelPack(pack)
    packs.push(pack)
  }
  return packs
}
