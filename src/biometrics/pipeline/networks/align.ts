/** The alignment stage: moves a face's points onto the embedder's template and cuts the chip out there. */

import type { EmbedderSpec } from '../../../../models/pack/pack-schema.js'
import { kernels } from '../../kernels/kernels.js'
import type { PlanarTensor, PlaneFormat } from '../../kernels/planes.js'
import { estimateSimilarity, invertSimilarity } from '../../kernels/similarity-transform.js'
import type { Alignment } from '../../measurements.js'
import type { ImagePyramid } from '../decode/image-pyramid.js'
import { toPlaneFormat } from '../decode/pixel-input.js'

export class FaceAligner {
  private readonly format: PlaneFormat
  private readonly target: Float64Array
  private readonly chip: PlanarTensor

  constructor(private readonly spec: EmbedderSpec) {
    this.format = toPlaneFormat(spec.input)
    this.target = Float64Array.from(spec.alignment.target.flat())
    const { width, height } = spec.input
    this.chip = { data: new Float32Array(3 * width * height), width, height }
  }

  /**
   * @param points interleaved x, y in pixels of the pyramid's base; the template names the points that count
   * @returns [3, height, width] float32 in the embedder's format; valid until the next call
   */
  align(pyramid: ImagePyramid, points: Float64Array): Float32Array {
    return this.cut(pyramid, this.alignmentOf(points))
  }

  /** @param points as in `align` */
  alignmentOf(points: Float64Array): Alignment {
    const transform = this.estimate(points)
    invertSimilarity(transform, transform)
    return [...transform] as Alignment
  }

  /**
   * @param alignment result of `alignmentOf` for this picture
   * @returns the chip as `align` returns it, the same to the bit
   */
  cut(pyramid: ImagePyramid, alignment: Alignment): Float32Array {
    const [a, b, tx, ty] = alignment
    const { pixels, exponent } = pyramid.levelFor(Math.hypot(a, b))
    const factor = 2 ** -exponent
    // Integer coordinates are pixel centres, so a level's origin lies half a pixel off: x' = (x + 0.5) / 2^k - 0.5.
    const transform = Float64Array.of(
      a * factor,
      b * factor,
      (tx + 0.5) * factor - 0.5,
      (ty + 0.5) * factor - 0.5,
    )
    kernels.warpToPlanar(pixels, transform, this.chip, this.format)
    return this.chip.data
  }

  /**
   * @param points the points by which the chip was aligned
   * @param others interleaved x, y in the same pixels
   * @returns `others` in pixels of the chip
   */
  toChip(points: Float64Array, others: Float64Array): Float64Array {
    const [a, b, tx, ty] = this.estimate(points) as unknown as [number, number, number, number]
    return others.map((value, i) =>
      i % 2 === 0 ? a * value - b * others[i + 1]! + tx : b * others[i - 1]! + a * value + ty,
    )
  }

  /** Transform from pixels of the pyramid's base to pixels of the chip. */
  private estimate(points: Float64Array): Float64Array {
    const source = Float64Array.from(
      this.spec.alignment.source.flatMap((index) => [points[2 * index]!, points[2 * index + 1]!]),
    )
    const transform = new Float64Array(4)
    estimateSimilarity(source, this.target, transform)
    return transform
  }
}
