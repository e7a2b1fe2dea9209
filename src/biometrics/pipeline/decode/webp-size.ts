/** Reads the size of a WebP picture or of its canvas from its first chunk, and how it is coded (RFC 9649, sections 2.5 to 2.7). */

const FIRST_CHUNK = 12
const CONTENT = 20
/** A picture's width and height have 14 bits each. */
const SIDE = 0x3fff

/** @returns null where no picture begins with this chunk, or the chunk is cut off */
export function webpSize(bytes: Uint8Array): { width: number; height: number } | null {
  if (bytes.length < CONTENT + 10) return null
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  switch (Buffer.from(bytes.buffer, bytes.byteOffset + FIRST_CHUNK, 4).toString('latin1')) {
    case 'VP8 ': {
      // A frame's tag of three bytes and a start code of three precede the size.
      const [width, height] = [view.getUint16(CONTENT + 6, true), view.getUint16(CONTENT + 8, true)]
      return { width: width & SIDE, height: height & SIDE }
    }
    case 'VP8L': {
      const packed = view.getUint32(CONTENT + 1, true)
      return { width: (packed & SIDE) + 1, height: ((packed >>> 14) & SIDE) + 1 }
    }
    case 'VP8X': {
      const side = (offset: number) => 1 + view.getUint16(offset, true) + (bytes[offset + 2]! << 16)
      return { width: side(CONTENT + 4), height: side(CONTENT + 7) }
    }
    default:
      return null
  }
}

/** Chunks that hold a lossless picture, and a transparency that is lossless next to a lossy picture. */
const LOSSLESS = ['VP8L', 'ALPH'] as const

/** @returns false also where the name of a lossless chunk stands anywhere else in the file */
export function isLossy(bytes: Uint8Array): boolean {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return !LOSSLESS.some((name) => file.includes(name, 0, 'latin1'))
}
