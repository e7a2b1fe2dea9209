/** Recognizes an image's format by its first bytes, before any decoder sees them. */
import type { InspectedImage } from '../../types.js'

/** Returns null for anything but JPEG, PNG and WebP. */
export function sniffImageFormat(bytes: Uint8Array): InspectedImage['format'] | null {
  if (startsWith(bytes, 0, [0xff, 0xd8, 0xff])) return 'jpeg'
  if (startsWith(bytes, 0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return 'png'
  const isRiff = startsWith(bytes, 0, [0x52, 0x49, 0x46, 0x46])
  return isRiff && startsWith(bytes, 8, [0x57, 0x45, 0x42, 0x50]) ? 'webp' : null
}

function startsWith(bytes: Uint8Array, offset: number, magic: number[]): boolean {
  return magic.every((byte, i) => bytes[offset + i] === byte)
}
