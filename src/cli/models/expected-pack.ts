/** The model pack that `serve` will decide with, also before it is built. */
import { join } from 'node:path'
import { loadModelPack, type ModelPack, parsePackManifest } from '../../../models/pack/model-pack.js'
import { baselinePackDocument } from '../../../tools/pack-builders/baseline/pack-document.js'
import { shippedCalibration } from '../../../tools/pack-builders/calibration/shipped.js'
import { standardPackDocument } from '../../../tools/pack-builders/standard/pack-document.js'
import { BASELINE_PACK, STANDARD_PACK } from '../../config/default-model-pack.js'
import { isThere } from '../../config/is-there.js'

const DOCUMENTS: Record<string, () => ModelPack> = {
  [STANDARD_PACK]: () => toBeBuilt(standardPackDocument(), 'standard'),
  [BASELINE_PACK]: () => toBeBuilt(baselinePackDocument(), 'baseline'),
}

/** Begins what is said of a pack before the first start. */
export const NOT_BUILT = 'The model pack is not there yet, and the first start builds it. '

/**
 * @param name configured name of the pack
 * @param dir folder of it
 * @returns whether the pack is in the folder, since otherwise the first start builds it; null for one that is missing and cannot be built
 * @throws ModelPackError for a pack that is there and cannot be read
 */
export async function expectedPack(name: string, dir: string) {
  if (isThere(join(dir, 'pack.json'))) return { pack: await loadModelPack(dir), isThere: true }
  const build = DOCUMENTS[name]
  return build ? { pack: build(), isThere: false } : null
}

function toBeBuilt(document: unknown, name: 'baseline' | 'standard'): ModelPack {
  const manifest = parsePackManifest(document)
  return {
    dir: '',
    manifest,
    modelId: `${manifest.id}@${manifest.version}`,
    calibration: shippedCalibration(name),
  }
}
