/** A tenant's logo on the capture page: a PNG or WebP file that is decoded and encoded again, so that only its pixels are kept. */
import { createHash } from 'node:crypto'
import { CapturePageError } from './capture-page-settings.js'

/** Largest accepted file, in bytes. SVG is not accepted: it can contain scripts and links. */
export const MAX_LOGO_FILE_BYTES = 512 * 1024
const MAX_PIXELS = 4_000_000
/** Largest kept size, in pixels: twice the size on the page, for screens with two device pixels a CSS pixel. */
const MAX_WIDTH = 480
const MAX_HEIGHT = 128

export interface EncodedLogo {
  /** The encoded logo, a PNG. */
  image: Buffer
  /** SHA-256 of `image`, in hex. */
  sha256: string
  /** Width in pixels, at most 480; height at most 128. */
  width: number
  height: number
}

/** @throws CapturePageError invalid_logo */
export async function encodeLogo(file: Uint8Array): Promise<EncodedLogo> {
  const bytes = Buffer.from(file)
  if (bytes.length > MAX_LOGO_FILE_BYTES)
    throw refusal(`has ${bytes.length} bytes; ${MAX_LOGO_FILE_BYTES} are allowed`)
  // The signature is checked before a decoder reads a byte: only these two decoders ever run.
  if (!isPng(bytes) && !isWebp(bytes)) throw refusal('is neither a PNG nor a WebP file')
  const { default: sharp } = await import('sharp')
  const made = await sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'error' })
    .resize({ width: MAX_WIDTH, height: MAX_HEIGHT, fit: 'inside', withoutEnlargement: true })
    .png({ compressionLevel: 9 })
    .toBuffer({ resolveWithObject: true })
    .catch(() => {
      throw refusal(`cannot be read, or has more than ${MAX_PIXELS / 1e6} megapixels`)
    })
  const { width, height } = made.info
  return { image: made.data, sha256: createHash('sha256').update(made.data).digest('hex'), width, height }
}

function isPng(bytes: Buffer): boolean {
  return bytes.subarray(0, 8).equals(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'))
}

function isWebp(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP'
}

function refusal(issue: string): CapturePageError {
  return new CapturePageError('invalid_logo', `The logo ${issue}.`)
}
