/** The converted embedder against an evaluation of the TensorFlow Lite graph as it stands, by other code. */
import { createHash } from 'node:crypto'
import { InferenceSession, Tensor as OrtTensor } from 'onnxruntime-node'
import { expect, test } from 'vitest'
import { buildMobileFaceNetGraph } from '../../tools/pack-builders/standard/mobilefacenet-graph.js'
import { EMBEDDER_PIN } from '../../tools/pack-builders/standard/pins.js'
import { readTfliteModel } from '../../tools/pack-builders/tflite/tflite-model.js'
import { findEmbedderModel } from './embedder-tarball.js'
import { demoPhoto, noise, squareOf } from './photos.js'
import { map, type Tensor } from './reference/nhwc.js'
import { referenceTflite } from './reference/tflite.js'

/** A face of the third photograph with some of its surroundings. */
const FACE = { left: 1010, top: 190, width: 300, height: 300 }
const SIDE_PX = 112
/** Four times the error that float32 was seen to leave, on numbers of up to 21. */
const TOLERANCE = 6e-5

const { bytes, missing } = await findEmbedderModel()
if (missing) console.warn(`The embedder's tests are skipped: ${missing}`)

/** Input as the pack normalizes it: (x - 127.5) / 128. */
const scaled = (image: Tensor) => map(image, (value) => (value - 127.5) / 128)

async function run(onnx: Uint8Array, images: Tensor[]): Promise<Float32Array[]> {
  const session = await InferenceSession.create(onnx, { intraOpNumThreads: 1, interOpNumThreads: 1 })
  const planes = images.flatMap(({ data }) =>
    Array.from(
      { length: data.length },
      (_, i) => data[(i % SIDE_PX ** 2) * 3 + Math.floor(i / SIDE_PX ** 2)]!,
    ),
  )
  const input = new OrtTensor('float32', Float32Array.from(planes), [images.length, 3, SIDE_PX, SIDE_PX])
  const { output } = await session.run({ input })
  await session.release()
  const data = output!.data as Float32Array
  return images.map((_, i) =>
    data.slice((i * data.length) / images.length, ((i + 1) * data.length) / images.length),
  )
}

const maxAbsDiff = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Math.max(...Array.from(a, (value, i) => Math.abs(value - b[i]!)))

test.skipIf(missing)(
  'the network equals the TensorFlow Lite graph, singly and in a batch, and has the pinned bytes',
  async () => {
    const model = readTfliteModel(bytes!)
    const onnx = buildMobileFaceNetGraph(model).encode()
    expect({ sha256: createHash('sha256').update(onnx).digest('hex'), bytes: onnx.byteLength }).toEqual(
      EMBEDDER_PIN,
    )

    const images = [noise(SIDE_PX, 20_24), await squareOf(demoPhoto(3), FACE, SIDE_PX)].map(scaled)
    const together = await run(onnx, images)
    for (const [i, image] of images.entries()) {
      const expected = referenceTflite(model, image)
      expect(expected).toHaveLength(192)
      expect(Math.max(...expected.map(Math.abs))).toBeGreaterThan(1)
      expect(maxAbsDiff(together[i]!, expected)).toBeLessThan(TOLERANCE)
      const [alone] = await run(onnx, [image])
      expect(maxAbsDiff(alone!, expected)).toBeLessThan(TOLERANCE)
    }
  },
)
