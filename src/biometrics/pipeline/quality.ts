/** Judging an aligned chip: is there enough light, contrast and detail to compare faces on? */
import type { FixedInput, QualitySpec } from '../../../models/pack/pack-schema.js'
import type { Quality } from '../types.js'
import { toPlaneFormat } from './pixel-input.js'

/**
 * Below (or above) these an image is refused. Lenient: they stop near-black, blown-out and badly blurred captures, and
 * leave the rest to the score. A pack can set its own.
 */
export const QUALITY_DEFAULTS: Readonly<Required<QualitySpec>> = Object.freeze({
  /** Grey levels squared. */
  minSharpness: 3,
  /** Grey level, 0..255. */
  minBrightness: 25,
  maxBrightness: 230,
  /** Grey levels. */
  minContrast: 7,
  /** 0..1; the detector's own threshold applies before. */
  minDetection: 0,
})

/** Where each part of the overall score reaches 1. */
const IDEAL = { sharpness: 60, faceWidthPx: 160, contrast: 35, darkest: 80, brightest: 180 } as const

/** What the pixels of a chip say; the rest of `Quality` comes from the detector. */
export type ChipStatistics = Pick<Quality, 'sharpness' | 'brightness' | 'contrast'>

/** @param chip [3, height, width] float32, normalised as `input` says */
export function measureChip(chip: Float32Array, input: FixedInput): ChipStatistics {
  const { width, height } = input
  const { swap, mean, scale } = toPlaneFormat(input)
  const plane = width * height
  // ITU-R BT.601 luma, with the embedder's normalisation undone in the same step.
  const luma = swap ? [0.114, 0.587, 0.299] : [0.299, 0.587, 0.114]
  const [w0, w1, w2] = [luma[0]! / scale[0]!, luma[1]! / scale[1]!, luma[2]! / scale[2]!]
  const offset = luma[0]! * mean[0]! + luma[1]! * mean[1]! + luma[2]! * mean[2]!
  const grey = new Float32Array(plane)
  const brightness = new Moments()
  for (let i = 0; i < plane; i++) {
    const level = chip[i]! * w0 + chip[plane + i]! * w1 + chip[2 * plane + i]! * w2 + offset
    grey[i] = level
    brightness.add(level)
  }
  const laplacian = new Moments()
  for (let y = 1; y < height - 1; y++) {
    for (let i = y * width + 1, end = (y + 1) * width - 1; i < end; i++) {
      laplacian.add(grey[i - 1]! + grey[i + 1]! + grey[i - width]! + grey[i + width]! - 4 * grey[i]!)
    }
  }
  return {
    sharpness: laplacian.variance,
    brightness: brightness.mean,
    contrast: Math.sqrt(brightness.variance),
  }
}

/** Joins the parts; the overall score is the worst of them, each scaled so that 1 is as good as it needs to be. */
export function rateQuality(chip: ChipStatistics, faceWidthPx: number, detection: number): Quality {
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

/** Why an image is too poor to use, as a sentence for a person; `null` when it is good enough. */
export function findQualityFault(quality: Quality, spec: QualitySpec = {}): string | null {
  const limits = { ...QUALITY_DEFAULTS, ...spec }
  if (quality.brightness < limits.minBrightness) return 'The face is too dark.'
  if (quality.brightness > limits.maxBrightness) return 'The face is overexposed.'
  if (quality.contrast < limits.minContrast) return 'The face has too little contrast.'
  if (quality.sharpness < limits.minSharpness) return 'The face is blurred.'
  if (quality.detection < limits.minDetection) return 'The face is not clearly visible.'
  return null
}

/** Running mean and variance; the values are few and small enough for the plain sums. */
class Moments {
  private count = 0
  private sum = 0
  private squares = 0

  add(value: number): void {
    this.count++
    this.sum += value
    this.squares += value * value
  }

  get mean(): number {
    return this.sum / this.count
  }

  get variance(): number {
    return Math.max(0, this.squares / this.count - this.mean ** 2)
  }
}
