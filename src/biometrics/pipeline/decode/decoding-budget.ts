/** Work that decoding one picture may cost. Tests lower the figures, so that ordinary pictures meet them. */

/**
 * Figures without a word on their origin are set so that a light picture takes at most some 100 ms of CPU time, and
 * any other about a second, on one core of a server of 2025 with libvips 8.18.
 */
export interface DecodingBudget {
  /** Maximum number of scans of a JPEG; encoders make about ten for a photo. */
  maxScans: number
  /** Maximum scans times pixels of a JPEG. */
  maxScannedPixels: number
  /** Maximum unpacked size of text and color profiles of a PNG, in bytes. */
  maxUnpackedBytes: number
  /** Scans times pixels up to which a JPEG is light. */
  lightScannedPixels: number
  /** Largest rows of a light PNG, in bytes. */
  lightPngBytes: number
  /** Largest unpacked text of a light PNG, in bytes. */
  lightUnpackedBytes: number
  /** Largest light WebP, in pixels. */
  lightWebpPixels: number
  /** Maximum time of a decoder process for one picture, in milliseconds: the costliest take about a second of CPU time. */
  deadlineMs: number
  /** Maximum memory of a decoder process, in bytes. */
  memoryBytes: number
}

export const DECODING_BUDGET: Readonly<DecodingBudget> = {
  maxScans: 200,
  maxScannedPixels: 2_400_000_000,
  maxUnpackedBytes: 64 * 1024 * 1024,
  lightScannedPixels: 40_000_000,
  lightPngBytes: 16_000_000,
  lightUnpackedBytes: 4_000_000,
  lightWebpPixels: 3_000_000,
  deadlineMs: 4_000,
  memoryBytes: decoderMemoryBytes(25_000_000),
}

/**
 * Memory for pictures of this many pixels. The costliest accepted ones need 10 bytes a pixel, Node.js and libvips 110 MiB;
 * a process that has decoded many keeps some 100 MiB of freed memory.
 */
export function decoderMemoryBytes(maxPixels: number): number {
  return 384 * 1024 * 1024 + 10 * maxPixels
}
