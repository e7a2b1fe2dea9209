/** Overall quality of an aligned chip: how much light, contrast and detail it has for a comparison. */
import type { FixedInput } from '../../../../models/pack/pack-schema.js'
import type { Quality } from '../../types.js'
import { toPlaneFormat } from '../decode/pixel-input.js'

/** Values at which each part of the overall score reaches 1. */
const IDEAL = { sharpness: 60, faceWidthPx: 160, contrast: 35, darkest: 80, brightest: 180 } as const

/** Measurements of a chip's pixels; the rest of `Quality` comes from the detector. */
export type ChipStatistics = Pick<Quality, 'sharpness' | 'brightness' | 'contrast'>

/**
 * @param chip [3, height, width] float32, normalized as `input` says
 * @returns [height, width] gray levels, 0..255
 */
export function toGrey(chip: Float32Array, input: FixedInput): Float32Array {
  const { width, height } = input
  const { swap, mean, scale } = toPlaneFormat(input)
  const plane = width * height
  // This is ITU-R BT.601 luma, with the embedder's normalization undone in the same step.
  const luma = swap ? [0.114, 0.587, 0.299] : [0.299, 0.587, 0.114]
  const [w0, w1, w2] = [luma[0]! / scale[0]!, luma[1]! / scale[1]!, luma[2]! / scale[2]!]
  const offset = luma[0]! * mean[0]! + luma[1]! * mean[1]! + luma[2]! * mean[2]!
  const grey = new Float32Array(plane)
  for (let i = 0; i < plane; i++)
    grey[i] = chip[i]! * w0 + chip[plane + i]! * w1 + chip[2 * plane + i]! * w2 + offset
  return grey
}

/** @param grey [height, width] gray levels of the chip */
export function measureChip(grey: Float32Array, { width, height }: FixedInput): ChipStatistics {
  let [sum, squares] = [0, 0]
  for (let i = 0; i < grey.length; i++) {
    const level = grey[i]!
    sum += level
    squares += level * level
  }
  const brightness = new Moments(grey.length, sum, squares)
  let [edges, edgeSquares] = [0, 0]
  for (let y = 1; y < height - 1; y++) {
    for (let i = y * width + 1, end = (y + 1) * width - 1; i < end; i++) {
      const edge = grey[i - 1]! + grey[i + 1]! + grey[i - width]! + grey[i + width]! - 4 * grey[i]!
      edges += edge
      edgeSquares += edge * edge
    }
  }
  return {
    sharpness: new Moments((width - 2) * (height - 2), edges, edgeSquares).variance,
    brightness: brightness.mean,
    contrast: Math.sqrt(brightness.variance),
  }
}

/** Joins the parts; the overall score is the lowest of them, each scaled so that 1 is as good as it needs to be. */
export function rateQuality(
  chip: ChipStatistics,
  faceWidthPx: number,
  detection: number,
): Omit<Quality, 'components'> {
  const { sharpness, brightness, contrast } = chip
  const light =
    brightness < IDEAL.darkest ? brightness / IDEAL.darkest : (255 - brightness) / (255 - IDEAL.brightest)
  const parts = [
    detection,
    faceWidthPx / IDEAL.faceWidthPx,
    Math.sqrt(sharpness / IDEAL.sharpness),
    contrast / IDEAL.contrast,
    light,
  ]
  const score = Math.min(1, Math.max(0, Math.min(...parts)))
  return { score, faceWidthPx, detection, sharpness, brightness, contrast }
}

/**
 * Mean and variance from plain sums, for values that are few and small enough. Callers sum in local variables: as an
 * object's fields the sums take three times as long.
 */
export class Moments {
  constructor(
    readonly size: number,
    private readonly sum: number,
    private readonly squares: number,
  ) {}

  get mean(): number {
    return this.sum / this.size
  }

  get variance(): number {
    return Math.max(0, this.squares / this.size - this.mean ** 2)
  }
}
