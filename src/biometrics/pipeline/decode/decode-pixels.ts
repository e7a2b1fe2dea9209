/** Decodes untrusted bytes to upright sRGB pixels with sharp, which only this file calls. */
import { isMainThread } from 'node:worker_threads'
import sharp, { type SharpOptions } from 'sharp'
import type { Pixels } from '../../kernels/planes.js'
import { BiometricError, type InspectedImage } from '../../types.js'
import { unknownFormat } from './foreign-format.js'
import { sniffImageFormat } from './image-format.js'
import { scansOf } from './jpeg-scans.js'
import { jpegSize } from './jpeg-size.js'
import { ANIMATED, assertSize, type DecodingLimits } from './picture-size-limits.js'
import { pngShape } from './png-shape.js'

/** A decoded picture, upright, in sRGB. */
export interface DecodedImage extends InspectedImage {
  pixels: Pixels
  /** Source pixels per decoded pixel: over 1 where a large photo was decoded at a smaller size. */
  sourceScale: number
}

/** A picture that was decoded and encoded again. */
export interface EncodedImage {
  png: Uint8Array
  width: number
  height: number
}

/**
 * Photos from this long side on, in pixels, are decoded at a fraction of their size: 12 megapixels took 244 ms of a core in full, 80
 * at a half and 42 at a quarter. The result has at least 700 px, so that a face that fills an eighth of it has the 90 px that
 * an embedder needs.
 */
const FRACTIONS = [
  { fromLongSide: 5600, divisor: 8 },
  { fromLongSide: 3200, divisor: 4 },
] as const

let configured = false

/**
 * Allows the smallest set of parsers and no cache of anyone's pictures. The setting is process-wide, so the main
 * thread makes it once, before the first worker: between the two calls below no other thread could decode anything.
 */
export function configureDecoders(): void {
  if (configured) return
  configured = true
  sharp.block({ operation: ['VipsForeignLoad'] })
  sharp.unblock({
    operation: ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer', 'VipsForeignLoadWebpBuffer'],
  })
  sharp.cache(false)
  // Each core already has a worker thread; more threads inside libvips would only compete with them.
  sharp.concurrency(1)
}

/**
 * Decodes one image in this process: JPEG, PNG or WebP, its EXIF orientation applied, transparency on white. The
 * bytes must not change until the promise has settled.
 * @throws BiometricError image_unreadable, image_too_large (only the header is read), image_too_small
 */
export async function decodePixels(
  bytes: Uint8Array,
  limits: DecodingLimits,
  imageIndex?: number,
): Promise<DecodedImage> {
  const { format, header, upright } = await open(bytes, limits, imageIndex)
  const { width, height, hasAlpha } = header
  let pipeline = upright
  const longSide = Math.max(width, height)
  const fraction = FRACTIONS.find(({ fromLongSide }) => longSide >= fromLongSide)
  if (fraction) {
    const side = Math.ceil(longSide / fraction.divisor)
    pipeline = pipeline.resize({ width: side, height: side, fit: 'inside' })
  }
  if (hasAlpha) pipeline = pipeline.flatten({ background: '#ffffff' })
  const { data, info } = await pipeline
    .toColourspace('srgb')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true })
    .catch(rethrowUnreadable(imageIndex))
  if (info.channels !== 3) {
    throw new BiometricError('image_unreadable', 'The image has an unusual set of channels.', imageIndex)
  }
  return {
    format,
    ...(fraction ? { width, height } : { width: info.width, height: info.height }),
    pixels: { data, width: info.width, height: info.height },
    sourceScale: longSide / Math.max(info.width, info.height),
  }
}

/**
 * Decodes one picture as `decodePixels` does, and encodes it again as a PNG in sRGB, its transparency kept.
 * @param box largest size of the PNG, in pixels; a smaller picture keeps its size
 * @throws BiometricError as `decodePixels`
 */
export async function encodeAsPng(
  bytes: Uint8Array,
  limits: DecodingLimits,
  box: { width: number; height: number },
): Promise<EncodedImage> {
  const { upright } = await open(bytes, limits)
  const { data, info } = await upright
    .resize({ ...box, fit: 'inside', withoutEnlargement: true })
    .toColourspace('srgb')
    .png({ compressionLevel: 9 })
    .toBuffer({ resolveWithObject: true })
    .catch(rethrowUnreadable(undefined))
  return { png: data, width: info.width, height: info.height }
}

/** Reads a picture's header; `upright` decodes the picture when something is asked of it. */
async function open(bytes: Uint8Array, limits: DecodingLimits, imageIndex?: number) {
  if (isMainThread) configureDecoders()
  const format = sniffImageFormat(bytes)
  if (!format) throw unknownFormat(bytes, imageIndex)
  // `error` refuses truncated files but accepts the harmless oddities that some phones write.
  const options = { limitInputPixels: false, failOn: 'error', sequentialRead: true } as const
  const header =
    smallJpegHeader(format, bytes) ?? (await readHeader(bytes, options).catch(rethrowUnreadable(imageIndex)))
  assertSize(header, limits, imageIndex)
  if (header.pages > 1) throw new BiometricError('image_unreadable', ANIMATED, imageIndex)
  const completed = format === 'jpeg' ? withEndMarker(bytes) : bytes
  const failOn = completed === bytes ? options.failOn : 'warning'
  const decoder = sharp(completed, { ...options, failOn, limitInputPixels: limits.maxPixels }).autoOrient()
  const brighter = format === 'png' ? brighteningOf(bytes) : 1
  const upright = brighter > 1 ? decoder.gamma(1, brighter) : decoder
  return { format, header, upright }
}

const END_OF_IMAGE = Buffer.of(0xff, 0xd9)

/**
 * The same JPEG with an end marker, if that is all it lacks: some senders cut it off. Only of a JPEG of one scan can a
 * decoder tell that every row is there, and only if its warnings count as errors.
 */
function withEndMarker(bytes: Uint8Array): Uint8Array {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (file.subarray(-2).equals(END_OF_IMAGE)) return bytes
  const { isSingle, headerBytes } = scansOf(bytes, 1)
  return isSingle && !file.includes(END_OF_IMAGE, headerBytes) ? Buffer.concat([file, END_OF_IMAGE]) : bytes
}

/** Exponent of the samples that sRGB has, roughly. */
const SRGB_GAMMA = 1 / 2.2
/** Largest exponent that sharp applies. */
const MAX_BRIGHTENING = 3

/** Exponent, over 1 where a PNG's samples have to be made brighter for sRGB, such as 2.2 for linear ones; else 1. */
function brighteningOf(png: Uint8Array): number {
  const gamma = pngShape(png)?.gamma ?? SRGB_GAMMA
  // Most files name 0.45455, which is that of sRGB.
  return gamma < 1.05 * SRGB_GAMMA ? 1 : Math.min(gamma / SRGB_GAMMA, MAX_BRIGHTENING)
}

interface Header {
  width: number
  height: number
  pages: number
  hasAlpha: boolean
}

/**
 * Header of a JPEG so small that it is decoded in full, or null. Its size is not yet the upright one: decoding in
 * full reports that.
 */
function smallJpegHeader(format: InspectedImage['format'], bytes: Uint8Array): Header | null {
  const size = format === 'jpeg' ? jpegSize(bytes) : null
  if (!size || Math.max(size.width, size.height) >= FRACTIONS.at(-1)!.fromLongSide) return null
  return { ...size, pages: 1, hasAlpha: false }
}

/** The returned size is that of the upright picture. */
async function readHeader(bytes: Uint8Array, options: SharpOptions): Promise<Header> {
  const { autoOrient, pages = 1, hasAlpha } = await sharp(bytes, options).metadata()
  return { ...autoOrient, pages, hasAlpha }
}

function rethrowUnreadable(imageIndex: number | undefined) {
  return (cause: unknown): never => {
    throw new BiometricError('image_unreadable', 'The image is damaged or incomplete.', imageIndex, { cause })
  }
}
