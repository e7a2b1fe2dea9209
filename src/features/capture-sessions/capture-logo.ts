/** A tenant's logo on the capture page: a PNG or WebP file that a decoder process decodes and encodes again, so that only its pixels are kept. */
import { createHash } from 'node:crypto'
import { DecoderProcess } from '../../biometrics/pipeline/decode/decoder-process.js'
import { admitPicture } from '../../biometrics/pipeline/decode/picture-admission.js'
import type { DecodingLimits } from '../../biometrics/pipeline/decode/picture-size-limits.js'
import { BiometricError } from '../../biometrics/types.js'
import { CapturePageError, type LogoFacts } from './capture-page-settings.js'

/** Largest accepted file, in bytes. SVG is not accepted: it can contain scripts and links. */
export const MAX_LOGO_FILE_BYTES = 512 * 1024
const LIMITS: DecodingLimits = { maxPixels: 4_000_000, minSidePx: 1 }
/** Largest kept size, in pixels: twice the size on the page, for screens with two device pixels a CSS pixel. */
const LARGEST = { width: 480, height: 128 } as const

/** No file is decoded in a process that holds keys. */
const decoder = new DecoderProcess()

/** @returns the encoded logo, a PNG of at most 480 × 128 pixels @throws CapturePageError invalid_logo */
export async function encodeLogo(file: Uint8Array): Promise<{ image: Buffer; facts: LogoFacts }> {
  const bytes = Buffer.from(file)
  if (bytes.length > MAX_LOGO_FILE_BYTES)
    throw refusal(`has ${bytes.length} bytes; ${MAX_LOGO_FILE_BYTES} are allowed`)
  // The signature is checked before a decoder reads a byte: only these two decoders ever run.
  if (!isPng(bytes) && !isWebp(bytes)) throw refusal('is neither a PNG nor a WebP file')
  try {
    admitPicture(bytes, LIMITS)
    const { png, width, height } = await decoder.encodeAsPng(bytes, LIMITS, LARGEST)
    const image = Buffer.from(png)
    const sha256 = createHash('sha256').update(image).digest('hex')
    return { image, facts: { sha256, width, height } }
  } catch (error) {
    if (!(error instanceof BiometricError)) throw error
    const { maxPixels } = LIMITS
    throw refusal(
      `cannot be read, is animated, takes too much work to decode, or has more than ${maxPixels / 1e6} megapixels`,
    )
  }
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
