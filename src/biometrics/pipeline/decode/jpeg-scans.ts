/**
 * Counts how often a JPEG's decoder goes through the whole picture: once a scan, of which a file may have any number
 * (ITU-T T.81, annex B).
 */
import { isFrameMarker } from './jpeg-size.js'

const START_OF_SCAN = Buffer.of(0xff, 0xda)
/** Sequential frames with Huffman codes: baseline and extended. */
const SEQUENTIAL = new Set([0xc0, 0xc1])
/** Frames from this marker on are coded arithmetically, which takes about ten times the work for a pixel. */
const FIRST_ARITHMETIC = 0xc9

export interface JpegScans {
  /** Upper bound of the number of scans; counting ends beyond `most`. */
  scans: number
  /** True if the first scan holds all components in full: a decoder then reads no other. */
  isSingle: boolean
  /** True for arithmetic codes instead of Huffman's. */
  isArithmetic: boolean
  /** Offset of the first scan: segments with metadata precede it. */
  headerBytes: number
}

/** @param most counting ends beyond this number of scans */
export function scansOf(bytes: Uint8Array, most: number): JpegScans {
  const word = (offset: number) => (bytes[offset]! << 8) | bytes[offset + 1]!
  let frame: { isSequential: boolean; components: number } | undefined
  let isArithmetic = false
  for (let offset = 2; offset + 9 < bytes.length && bytes[offset] === 0xff; offset += 2 + word(offset + 2)) {
    const marker = bytes[offset + 1]!
    if (marker === START_OF_SCAN[1]) {
      const isSingle = frame?.isSequential === true && bytes[offset + 4] === frame.components
      return { scans: isSingle ? 1 : count(bytes, offset, most), isSingle, isArithmetic, headerBytes: offset }
    }
    // A second frame is an error to every decoder; the file counts as one that is read in the costlier way.
    if (isFrameMarker(marker)) {
      frame = { isSequential: !frame && SEQUENTIAL.has(marker), components: bytes[offset + 9]! }
      isArithmetic ||= marker >= FIRST_ARITHMETIC
    }
    if (marker < 0xc0 || (marker >= 0xd0 && marker <= 0xd9) || marker === 0xff || word(offset + 2) < 2) break
  }
  // The header is not plain, but a decoder may still find scans in the file.
  return { scans: count(bytes, 0, most), isSingle: false, isArithmetic, headerBytes: bytes.length }
}

/**
 * Counts occurrences of the marker's two bytes. Compressed data cannot contain them, while other segments and
 * anything after the picture can: the decoder never finds more scans than this.
 */
function count(bytes: Uint8Array, from: number, most: number): number {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let scans = 0
  for (let at = file.indexOf(START_OF_SCAN, from); at >= 0 && scans <= most; scans++)
    at = file.indexOf(START_OF_SCAN, at + 2)
  return scans
}
