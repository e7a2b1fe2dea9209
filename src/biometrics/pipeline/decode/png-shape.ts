/**
 * Reads the unpacked size of a PNG, its animation and its coding of light from its chunks (PNG specification, third edition, sections 5 and
 * 11).
 */

const SIGNATURE_BYTES = 8
/** Bytes around a chunk's content: length and type before it, a checksum behind it. */
const CHUNK_BYTES = 12
/** Deflate unpacks one byte to at most this many. */
const MAX_INFLATION = 1032
/** libpng unpacks at most this many bytes of a chunk (`PNG_USER_CHUNK_MALLOC_MAX`). */
const MAX_UNPACKED_BYTES = 8_000_000

/** Samples per pixel, by color type. */
const SAMPLES: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }

const type = (name: string) => Buffer.from(name, 'latin1').readUInt32BE()
const HEADER = type('IHDR')
const PROFILE = type('iCCP')
const ANIMATION = type('acTL')
const GAMMA = type('gAMA')
const CODING = type('cICP')
const STANDARD = type('sRGB')
const PACKED = new Set([PROFILE, type('zTXt'), type('iTXt')])

export interface PngShape {
  width: number
  height: number
  /** Size of the rows of pixels in memory, in bytes. */
  rawBytes: number
  /** Largest size in bytes to which compressed text and profiles can unpack. */
  unpackedBytes: number
  hasProfile: boolean
  isAnimated: boolean
  /** Transfer characteristics of its samples (ITU-T H.273, table 3); null where the file names none. */
  transfer: number | null
  /** Exponent by which samples were made from light, such as 1 for linear ones; null where other chunks decide. */
  gamma: number | null
}

/** @returns null where the file does not begin with a header */
export function pngShape(bytes: Uint8Array): PngShape | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < SIGNATURE_BYTES + CHUNK_BYTES + 13 || view.getUint32(12) !== HEADER) return null
  const [width, height] = [view.getUint32(16), view.getUint32(20)]
  const [bits, colour] = [bytes[24]!, bytes[25]!]
  let unpackedBytes = 0
  let hasProfile = false
  let isAnimated = false
  let isStandard = false
  let transfer: number | null = null
  let gamma: number | null = null
  for (let offset = SIGNATURE_BYTES; offset + CHUNK_BYTES <= bytes.length; ) {
    const length = view.getUint32(offset)
    const chunk = view.getUint32(offset + 4)
    if (PACKED.has(chunk)) unpackedBytes += Math.min(length * MAX_INFLATION, MAX_UNPACKED_BYTES)
    if (chunk === PROFILE) hasProfile = true
    if (chunk === ANIMATION) isAnimated = true
    if (chunk === STANDARD) isStandard = true
    if (chunk === CODING && length === 4) transfer = bytes[offset + 9]!
    if (chunk === GAMMA && length === 4) gamma = view.getUint32(offset + 8) / 100_000
    offset += CHUNK_BYTES + length
  }
  // Samples of fewer than eight bits are unpacked to a byte each, and a palette's index to three.
  const samples = colour === 3 ? 3 : (SAMPLES[colour] ?? 4)
  const rawBytes = width * height * samples * Math.max(bits / 8, 1)
  if (hasProfile || isStandard || transfer !== null) gamma = null
  return { width, height, rawBytes, unpackedBytes, hasProfile, isAnimated, transfer, gamma }
}
