/** Measures the ranges of the embedder's activations, which models/baseline/embedder-ranges.ts states. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import sharp from 'sharp'
import { loadModelPack, type ModelPack } from '../../models/pack/model-pack.js'
import type { NetworkFile } from '../../models/pack/pack-schema.js'
import { kernels } from '../../src/biometrics/kernels/kernels.js'
import { ImagePyramid } from '../../src/biometrics/pipeline/decode/image-pyramid.js'
import { FaceAligner } from '../../src/biometrics/pipeline/networks/align.js'
import { FaceDetector } from '../../src/biometrics/pipeline/networks/detect.js'
import { LandmarkFinder } from '../../src/biometrics/pipeline/networks/landmarks.js'
import { loadNetwork } from '../../src/biometrics/pipeline/networks/network.js'
import { EMBEDDER_INPUT_PX } from '../../tools/pack-builders/baseline/embedder-graph.js'
import type { OnnxGraph } from '../../tools/pack-builders/onnx/onnx-writer.js'
import { measuredActivations, type Range } from '../../tools/pack-builders/onnx/quantise.js'

const CHIP_LENGTH = 3 * EMBEDDER_INPUT_PX ** 2

/** A chip as an input of the embedder. */
export const inputOf = (chip: Float32Array) =>
  new Tensor('float32', chip, [1, 3, EMBEDDER_INPUT_PX, EMBEDDER_INPUT_PX])

/** Chips of every face that the pack finds in a photograph, and their mirror images. */
export async function chipsOf(pack: ModelPack, photos: readonly Buffer[]): Promise<Float32Array[]> {
  const { detector, landmarks, embedder } = pack.manifest
  const open = (file: NetworkFile) => loadNetwork(pack, file, 'cpu')
  const [faces, points] = [
    new FaceDetector(await open(detector), detector),
    new LandmarkFinder(await open(landmarks!), landmarks!),
  ]
  const aligner = new FaceAligner(embedder)
  const chips: Float32Array[] = []
  for (const photo of photos) {
    const { data, info } = await sharp(photo).removeAlpha().raw().toBuffer({ resolveWithObject: true })
    const pyramid = new ImagePyramid({ data: new Uint8Array(data), width: info.width, height: info.height })
    for (const { box } of await faces.detect(pyramid)) {
      const chip = Float32Array.from(await aligner.align(pyramid, await points.find(pyramid, box)))
      const mirrored = new Float32Array(CHIP_LENGTH)
      kernels.mirrorPlanar(chip, mirrored, EMBEDDER_INPUT_PX)
      chips.push(chip, mirrored)
    }
  }
  return chips
}

/**
 * @param graph the float32 embedder, to which this adds outputs
 * @param photoDir folder with the photographs that come with the weights, sample1.jpg and so on
 */
export async function measureRanges(
  graph: OnnxGraph,
  packDir: string,
  photoDir: string,
): Promise<Record<string, Range>> {
  const photos = readdirSync(photoDir).filter((name) => /^sample\d\.jpg$/.test(name))
  const chips = await chipsOf(
    await loadModelPack(packDir),
    photos.sort().map((name) => readFileSync(join(photoDir, name))),
  )
  const [input, ...activations] = measuredActivations(graph)
  for (const name of activations) graph.output(name, ['N', `${name}/c`, `${name}/h`, `${name}/w`])
  const session = await InferenceSession.create(graph.encode(), { intraOpNumThreads: 1, logSeverityLevel: 4 })
  const ranges = new Map(activations.map((name): [string, [number, number]] => [name, [0, 0]]))
  for (const chip of chips) {
    const outputs = await session.run({ [input!]: inputOf(chip) })
    for (const [name, range] of ranges)
      for (const value of outputs[name]!.data as Float32Array) {
        if (value < range[0]) range[0] = value
        if (value > range[1]) range[1] = value
      }
  }
  await session.release()
  return { [input!]: [0, 255], ...Object.fromEntries(ranges) }
}
