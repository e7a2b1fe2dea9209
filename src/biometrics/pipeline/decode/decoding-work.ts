/**
 * Predicts how much work a picture makes its decoder do, from its bytes, before any decoder sees them: its pixels are
 * not the only measure. Every figure is an upper bound, so that it holds however a decoder reads a damaged file.
 */
import type { InspectedImage } from '../../types.js'
import { hasProgrammableProfile } from './colour-profile.js'
import { DECODING_BUDGET, type DecodingBudget } from './decoding-budget.js'
import { scansOf } from './jpeg-scans.js'
import { jpegSize } from './jpeg-size.js'
import { pngShape } from './png-shape.js'
import { isLossy, webpSize } from './webp-size.js'

export interface DecodingWork {
  /** Size as stored, before any EXIF orientation; null where only a decoder can find it. */
  size: { width: number; height: number } | null
  /**
   * True for a picture that takes at most some 100 ms of CPU time, or time proportional to bytes and pixels, which
   * are bounded themselves.
   */
  isLight: boolean
  /** Reason for which no decoder may see the picture; null where one may. */
  excess: string | null
}

export function foreseeWork(
  format: InspectedImage['format'],
  bytes: Uint8Array,
  lowered: Partial<DecodingBudget> = {},
): DecodingWork {
  const budget = { ...DECODING_BUDGET, ...lowered }
  switch (format) {
    case 'jpeg':
      return jpegWork(bytes, budget)
    case 'png':
      return pngWork(bytes, budget)
    case 'webp':
      return webpWork(bytes, budget)
  }
}

function jpegWork(bytes: Uint8Array, budget: DecodingBudget): DecodingWork {
  const size = jpegSize(bytes)
  const { scans, isSingle, isArithmetic, headerBytes } = scansOf(bytes, budget.maxScans)
  const scannedPixels = scans * pixelsOf(size ?? { width: 1, height: 1 })
  if (scans > budget.maxScans) return { size, isLight: false, excess: `more than ${budget.maxScans} scans` }
  if (scannedPixels > budget.maxScannedPixels)
    return { size, isLight: false, excess: `${scans} scans of ${size!.width}×${size!.height} pixels` }
  const isLight = size !== null && !isArithmetic && (isSingle || scannedPixels <= budget.lightScannedPixels)
  return { size, isLight: isLight && !hasProgrammableProfile(bytes.subarray(0, headerBytes)), excess: null }
}

function pngWork(bytes: Uint8Array, budget: DecodingBudget): DecodingWork {
  const shape = pngShape(bytes)
  if (!shape) return { size: null, isLight: false, excess: null }
  const { width, height, unpackedBytes, rawBytes, hasProfile } = shape
  const size = { width, height }
  if (unpackedBytes > budget.maxUnpackedBytes)
    return { size, isLight: false, excess: 'more compressed text than a picture needs' }
  const isLight =
    rawBytes <= budget.lightPngBytes && unpackedBytes <= budget.lightUnpackedBytes && !hasProfile
  return { size, isLight, excess: null }
}

/** A lossless picture is never light: the work for a pixel depends on the file. */
function webpWork(bytes: Uint8Array, budget: DecodingBudget): DecodingWork {
  const size = webpSize(bytes)
  const isSmall = size !== null && pixelsOf(size) <= budget.lightWebpPixels
  return { size, isLight: isSmall && isLossy(bytes) && !hasProgrammableProfile(bytes), excess: null }
}

function pixelsOf({ width, height }: { width: number; height: number }): number {
  return width * height
}
