/**
 * Predicts how much work a picture makes its decoder do, from its bytes, before any decoder sees them. Pixels are not
 * everything: a few bytes can have every pixel visited again (a scan of a JPEG), or unpack to megabytes that are
 * never used (text in a PNG).
 *
 * Every figure is an upper bound, so that it holds however a decoder reads a damaged file. Times are CPU time of
 * libvips 8.18 on one core of a server of 2025; `test/support/costly-pictures.ts` makes the files with which they
 * were measured.
 */
import type { InspectedImage } from '../types.js'
import { hasProgrammableProfile } from './colour-profile.js'
import { scansOf } from './jpeg-scans.js'
import { jpegSize } from './jpeg-size.js'
import { pngShape } from './png-shape.js'
import { webpSize } from './webp-size.js'

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

/**
 * Maximum number of scans of a JPEG. Encoders make about ten scans of a photo; each takes some microseconds, however
 * small the picture.
 */
const MAX_SCANS = 200
/** Maximum scans times pixels: a hundred scans of the largest photo that is accepted by default take 0.24 s. */
const MAX_SCANNED_PIXELS = 2_400_000_000
/**
 * Maximum unpacked size, in bytes, of text and color profiles of a PNG, which are held whole: unpacking these takes
 * 0.7 s.
 */
const MAX_UNPACKED_BYTES = 64 * 1024 * 1024

/** Scans times pixels up to which a JPEG is light: a progressive JPEG of 12 megapixels in ten scans takes 240 ms. */
const LIGHT_SCANNED_PIXELS = 40_000_000
/** Largest rows of a light PNG, in bytes: interlaced and with the costliest filter they take 5.4 ns a byte. */
const LIGHT_PNG_BYTES = 16_000_000
/** Largest unpacked text of a light PNG, in bytes: it takes 11 ns a byte. */
const LIGHT_UNPACKED_BYTES = 4_000_000
/** Largest light WebP, in pixels: it takes 31 ns a pixel, lossy or not. */
const LIGHT_WEBP_PIXELS = 3_000_000

const NO_EXCESS = { excess: null } as const

export function foreseeWork(format: InspectedImage['format'], bytes: Uint8Array): DecodingWork {
  switch (format) {
    case 'jpeg':
      return jpegWork(bytes)
    case 'png':
      return pngWork(bytes)
    case 'webp':
      return webpWork(bytes)
  }
}

function jpegWork(bytes: Uint8Array): DecodingWork {
  const size = jpegSize(bytes)
  const { scans, isSingle, headerBytes } = scansOf(bytes, MAX_SCANS)
  const scannedPixels = scans * pixelsOf(size ?? { width: 1, height: 1 })
  if (scans > MAX_SCANS) return { size, isLight: false, excess: `more than ${MAX_SCANS} scans` }
  if (scannedPixels > MAX_SCANNED_PIXELS)
    return { size, isLight: false, excess: `${scans} scans of ${size!.width}×${size!.height} pixels` }
  const isLight = size !== null && (isSingle || scannedPixels <= LIGHT_SCANNED_PIXELS)
  return { size, isLight: isLight && !hasProgrammableProfile(bytes.subarray(0, headerBytes)), ...NO_EXCESS }
}

function pngWork(bytes: Uint8Array): DecodingWork {
  const shape = pngShape(bytes)
  if (!shape) return { size: null, isLight: false, ...NO_EXCESS }
  const { width, height, unpackedBytes, rawBytes, hasProfile } = shape
  const size = { width, height }
  if (unpackedBytes > MAX_UNPACKED_BYTES)
    return { size, isLight: false, excess: 'more compressed text than a picture needs' }
  const isLight = rawBytes <= LIGHT_PNG_BYTES && unpackedBytes <= LIGHT_UNPACKED_BYTES && !hasProfile
  return { size, isLight, ...NO_EXCESS }
}

function webpWork(bytes: Uint8Array): DecodingWork {
  const size = webpSize(bytes)
  const isLight = size !== null && pixelsOf(size) <= LIGHT_WEBP_PIXELS && !hasProgrammableProfile(bytes)
  return { size, isLight, ...NO_EXCESS }
}

function pixelsOf({ width, height }: { width: number; height: number }): number {
  return width * height
}
