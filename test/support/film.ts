/** Films for Chromium's fake camera, as YUV4MPEG2 with 4:2:0 chroma: other formats of it are refused. */

import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import sharp from 'sharp'
import { face } from './faces.js'

export interface FilmFormat {
  /** Pixels, both even. */
  width: number
  height: number
  fps: number
}

export const FILM: FilmFormat = { width: 320, height: 240, fps: 20 }

/** @param pictures one for each frame, in any format that sharp reads; the film loops */
export async function writeFilm(
  file: string,
  pictures: readonly Buffer[],
  { width, height, fps }: FilmFormat = FILM,
): Promise<void> {
  const out = createWriteStream(file)
  out.write(`YUV4MPEG2 W${width} H${height} F${fps}:1 Ip A1:1 C420jpeg\n`)
  for (const picture of pictures) {
    const rgb = await sharp(picture)
      .resize(width, height)
      .removeAlpha()
      .toColourspace('srgb')
      .raw()
      .toBuffer()
    out.write('FRAME\n')
    out.write(toI420(rgb, width, height))
  }
  out.end()
  await once(out, 'close')
}

/** BT.601 in full range: luma for each pixel, then chroma for each square of four. */
function toI420(rgb: Buffer, width: number, height: number): Buffer {
  const pixels = width * height
  const frame = Buffer.alloc((pixels * 3) / 2)
  const at = (x: number, y: number) => {
    const offset = (y * width + x) * 3
    return [rgb[offset]!, rgb[offset + 1]!, rgb[offset + 2]!] as const
  }
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const [red, green, blue] = at(x, y)
      frame[y * width + x] = 0.299 * red + 0.587 * green + 0.114 * blue
      if (x % 2 === 1 || y % 2 === 1) continue
      const square = (y / 2) * (width / 2) + x / 2
      frame[pixels + square] = 128 - 0.1687 * red - 0.3313 * green + 0.5 * blue
      frame[pixels + pixels / 4 + square] = 128 + 0.5 * red - 0.4187 * green - 0.0813 * blue
    }
  return frame
}

const PICTURES = 20

/** Writes a film of one face. Each frame is a little brighter, because no two pictures of a camera are equal. */
export async function writeFaceFilm(file: string): Promise<void> {
  const ada = await face('ada')
  const brighter = (index: number) =>
    sharp(ada)
      .modulate({ brightness: 1 + index / 100 })
      .toBuffer()
  await writeFilm(file, await Promise.all(Array.from({ length: PICTURES }, (_, index) => brighter(index))))
}
