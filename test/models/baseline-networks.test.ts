/** Every ONNX graph against the published layer formulas, evaluated from the quantised weights by other code. */
import { afterAll, describe, expect, test } from 'vitest'
import { BaselinePack, type Network } from './baseline-pack.js'
import { demoPhoto, noise, squareOf } from './photos.js'
import { referenceDetector, referenceEmbedder, referenceLandmarks } from './reference/networks.js'
import type { Tensor } from './reference/nhwc.js'

/** A face of the third photograph with some of its surroundings. */
const FACE = { left: 1010, top: 190, width: 300, height: 300 }

const pack = new BaselinePack()

afterAll(() => pack.close())

function maxAbsDiff(a: ArrayLike<number>, b: ArrayLike<number>): number {
  expect(a.length).toBe(b.length)
  let max = 0
  for (let i = 0; i < a.length; i++) max = Math.max(max, Math.abs(a[i]! - b[i]!))
  return max
}

/** [h,w,channels] to [channels,h,w]. */
function planar(x: Tensor): Float64Array {
  const area = x.height * x.width
  return Float64Array.from(
    { length: x.data.length },
    (_, i) => x.data[(i % area) * x.channels + Math.floor(i / area)]!,
  )
}

/**
 * Tolerances are two to five times the error that float32 was seen to leave: 2e-5 on raw grid values of up to 50,
 * 2.5e-7 on landmarks, 2e-7 on embeddings.
 */
const CASES: Array<{
  network: Network
  side: number
  dims: number[]
  reference: (image: Tensor) => ArrayLike<number>
  tolerance: number
}> = [
  {
    network: 'detector',
    side: 160,
    dims: [1, 25, 5, 5],
    reference: (image) => planar(referenceDetector(image)),
    tolerance: 5e-5,
  },
  {
    network: 'detector',
    side: 131,
    dims: [1, 25, 5, 5],
    reference: (image) => planar(referenceDetector(image)),
    tolerance: 5e-5,
  },
  { network: 'landmarks', side: 112, dims: [1, 136], reference: referenceLandmarks, tolerance: 1e-6 },
  { network: 'embedder', side: 150, dims: [1, 128], reference: referenceEmbedder, tolerance: 1e-6 },
]

describe.each(CASES)('$network at $side px', ({ network, side, dims, reference, tolerance }) => {
  test('equals the published formulas on noise', async () => {
    const image = noise(side, 20_24)
    const output = await pack.run(network, [image])
    expect(output.dims).toEqual(dims)
    expect(maxAbsDiff(output.data, reference(image))).toBeLessThan(tolerance)
  })

  test('equals the published formulas on a photographed face', async () => {
    const image = await squareOf(demoPhoto(3), FACE, side)
    const output = await pack.run(network, [image])
    expect(maxAbsDiff(output.data, reference(image))).toBeLessThan(tolerance)
  })

  test('a batch gives the results of its single images', async () => {
    const images = [noise(side, 1), await squareOf(demoPhoto(3), FACE, side)]
    const batch = await pack.run(network, images)
    expect(batch.dims).toEqual([images.length, ...dims.slice(1)])
    const alone = await Promise.all(images.map((image) => pack.run(network, [image])))
    expect(
      maxAbsDiff(
        batch.data,
        alone.flatMap(({ data }) => [...data]),
      ),
    ).toBeLessThan(tolerance)
  })
})

test('the detector takes images that are not square', async () => {
  const square = noise(160, 7)
  const image = { ...square, height: 120, data: square.data.slice(0, 120 * 160 * 3) }
  const { dims, data } = await pack.run('detector', [image])
  expect(dims).toEqual([1, 25, 4, 5])
  expect(maxAbsDiff(data, planar(referenceDetector(image)))).toBeLessThan(5e-5)
})

test('landmarks of a face lie in the face, left to right and top to bottom', async () => {
  const { data } = await pack.run('landmarks', [await squareOf(demoPhoto(3), FACE, 112)])
  const [rightEye, leftEye, nose, chin] = [36, 45, 33, 8].map((i) => ({
    x: data[2 * i]!,
    y: data[2 * i + 1]!,
  }))
  for (const value of data) expect(value).toSatisfy((v: number) => v > 0 && v < 1)
  expect(rightEye!.x).toBeLessThan(nose!.x)
  expect(nose!.x).toBeLessThan(leftEye!.x)
  expect(Math.max(rightEye!.y, leftEye!.y)).toBeLessThan(nose!.y)
  expect(nose!.y).toBeLessThan(chin!.y)
})
