/** The landmark stage: 68 facial points for detectors that find none. */

import type { LandmarksSpec } from '../../../../models/pack/pack-schema.js'
import { kernels } from '../../kernels/kernels.js'
import type { PlaneFormat, Rectangle } from '../../kernels/planes.js'
import type { Box } from '../../types.js'
import type { ImagePyramid } from '../decode/image-pyramid.js'
import { toPlaneFormat } from '../decode/pixel-input.js'
import { BatchedNetwork } from './batched-network.js'
import type { Network } from './network.js'
import { ScratchBuffer } from './scratch-buffer.js'

/** Numbers of 68 points: x and y of each. */
const COORDINATES = 136

/** In a mirrored face, point i of the 68 (iBUG 300-W order) is what point `MIRRORED_68[i]` is in the original. */
const MIRRORED_68: readonly number[] = [
  ...[16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0], // jaw
  ...[26, 25, 24, 23, 22, 21, 20, 19, 18, 17], // brows
  ...[27, 28, 29, 30, 35, 34, 33, 32, 31], // nose
  ...[45, 44, 43, 42, 47, 46, 39, 38, 37, 36, 41, 40], // eyes
  ...[54, 53, 52, 51, 50, 49, 48, 59, 58, 57, 56, 55], // outer lips
  ...[64, 63, 62, 61, 60, 67, 66, 65], // inner lips
]

export class LandmarkFinder {
  private readonly network: BatchedNetwork
  private readonly format: PlaneFormat
  private readonly scratch = new ScratchBuffer()

  constructor(
    network: Network,
    private readonly spec: LandmarksSpec,
  ) {
    this.network = new BatchedNetwork(network, 'landmarks', spec.input, COORDINATES)
    this.format = toPlaneFormat(spec.input)
  }

  /** @returns [68 × 2] interleaved x, y, in pixels of the pyramid's base */
  async find(pyramid: ImagePyramid, box: Box): Promise<Float64Array> {
    const { width, height } = this.spec.input
    const { pixels, exponent } = pyramid.levelFor(Math.max(box.width / width, box.height / height))
    const levelScale = 2 ** exponent
    const crop = clipToPixels(box, levelScale, pixels.width, pixels.height)
    // The crop keeps its shape; the network was trained with the short side padded on both ends.
    const ratio = Math.min(width / crop.width, height / crop.height)
    const contentWidth = Math.max(1, Math.round(crop.width * ratio))
    const contentHeight = Math.max(1, Math.round(crop.height * ratio))
    const padLeft = (width - contentWidth) >> 1
    const padTop = (height - contentHeight) >> 1

    const length = 3 * width * height
    const both = this.scratch.take(2 * length)
    const straight = both.subarray(0, length)
    kernels.resizeToPlanar(
      pixels,
      crop,
      { data: straight, width, height },
      { x: padLeft, y: padTop, width: contentWidth, height: contentHeight },
      this.format,
    )
    const { flipAverage } = this.spec
    if (flipAverage) kernels.mirrorPlanar(straight, both.subarray(length), width)
    const found = await this.network.run(flipAverage ? both : straight)
    const relative = Float64Array.from(found.subarray(0, COORDINATES))
    if (flipAverage) {
      const other = found.subarray(COORDINATES)
      for (let i = 0; i < 68; i++) {
        const j = MIRRORED_68[i]!
        relative[2 * i] = (relative[2 * i]! + 1 - other[2 * j]!) / 2
        relative[2 * i + 1] = (relative[2 * i + 1]! + other[2 * j + 1]!) / 2
      }
    }
    for (let i = 0; i < 68; i++) {
      const x = crop.x + ((relative[2 * i]! * width - padLeft) * crop.width) / contentWidth
      const y = crop.y + ((relative[2 * i + 1]! * height - padTop) * crop.height) / contentHeight
      relative[2 * i] = x * levelScale
      relative[2 * i + 1] = y * levelScale
    }
    return relative
  }
}

/**
 * Reduces the 68 points to five in the order of five-point detectors: the eyes' centers, nose tip, mouth corners.
 * @returns [10] interleaved x, y
 */
export function fivePointsOf68(points: Float64Array): Float64Array {
  const mean = (first: number, last: number) => {
    let [x, y] = [0, 0]
    for (let i = first; i <= last; i++) {
      x += points[2 * i]!
      y += points[2 * i + 1]!
    }
    return [x / (last - first + 1), y / (last - first + 1)]
  }
  const groups = [mean(36, 41), mean(42, 47), mean(30, 30), mean(48, 48), mean(54, 54)]
  return Float64Array.from(groups.flat())
}

/** The part of `box / divisor` inside an image of width × height, on whole pixels, at least 1×1. */
export function clipToPixels(box: Box, divisor: number, width: number, height: number): Rectangle {
  const left = Math.min(Math.max(Math.floor(box.x / divisor), 0), width - 1)
  const top = Math.min(Math.max(Math.floor(box.y / divisor), 0), height - 1)
  const right = Math.max(Math.min(Math.floor((box.x + box.width) / divisor), width), left + 1)
  const bottom = Math.max(Math.min(Math.floor((box.y + box.height) / divisor), height), top + 1)
  return { x: left, y: top, width: right - left, height: bottom - top }
}
