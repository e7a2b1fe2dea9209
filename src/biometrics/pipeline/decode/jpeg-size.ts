/**
 * Reads the size of a JPEG from its header, without starting a decoder: that is a tenth of the time that a small
 * photo takes.
 */

const START_OF_SCAN = 0xda
/** Markers in 0xc0 to 0xcf that start no frame: Huffman tables, a reserved one, arithmetic conditioning. */
const NO_FRAME = new Set([0xc4, 0xc8, 0xcc])

/** Returns whether a picture's size and components follow the marker. */
export function isFrameMarker(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && !NO_FRAME.has(marker)
}

/**
 * Returns the size as stored: an EXIF orientation is not applied.
 * @returns null where the header is not plain (ITU-T T.81, annex B): then only a decoder can tell
 */
export function jpegSize(bytes: Uint8Array): { width: number; height: number } | null {
  const word = (offset: number) => (bytes[offset]! << 8) | bytes[offset + 1]!
  // After the start of the image come segments: marker, length of the rest, content.
  for (let offset = 2; offset + 9 <= bytes.length; offset += 2 + word(offset + 2)) {
    const marker = bytes[offset + 1]!
    if (bytes[offset] !== 0xff || marker < 0xc0 || marker === 0xff || word(offset + 2) < 2) return null
    if (isFrameMarker(marker)) {
      const [height, width] = [word(offset + 5), word(offset + 7)]
      // A file with height zero gives its height after the first scan.
      return width > 0 && height > 0 ? { width, height } : null
    }
    // These are markers without a length, and the picture itself before any frame.
    if ((marker >= 0xd0 && marker <= 0xd9) || marker === START_OF_SCAN) return null
  }
  return null
}
