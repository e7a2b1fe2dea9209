/** Pictures that are well-formed and cost a decoder more than they look. */
import { randomFillSync } from 'node:crypto'
import sharp from 'sharp'

/** A JPEG of noise: as many bytes a pixel as a JPEG can have, which is about 0.6 at this quality. */
export function noiseJpeg(width: number, height: number): Promise<Buffer> {
  const pixels = randomFillSync(Buffer.alloc(width * height * 3))
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: 40 })
    .toBuffer()
}
