/** Pictures for a second look where no face was found: with a border, and turned by quarters. */
import type { Pixels } from '../../kernels/planes.js'
import type { ImagePyramid } from '../decode/image-pyramid.js'
import type { Detection } from '../networks/detection.js'

/** Least long side of a picture that is looked at again: a face that was missed is large enough in it. */
const SIDE_PX = 480
/** Width of the border, as a share of the longer side, and its gray level. A black one helped only half as often. */
const BORDER = 1 / 3
const GRAY = 128

/** The smallest level of the pyramid that is large enough for a second look. */
export function smallLevel(pyramid: ImagePyramid): ReturnType<ImagePyramid['levelFor']> {
  return pyramid.levelFor(Math.max(1, Math.max(pyramid.base.width, pyramid.base.height) / SIDE_PX))
}

/** Returns a copy of the pixels with a gray border, and its width in pixels. */
export function withBorder({ data, width, height }: Pixels): { picture: Pixels; margin: number } {
  const margin = Math.round(BORDER * Math.max(width, height))
  const picture = { data: new Uint8Array(0), width: width + 2 * margin, height: height + 2 * margin }
  picture.data = new Uint8Array(3 * picture.width * picture.height).fill(GRAY)
  for (let y = 0; y < height; y++) {
    const row = data.subarray(3 * y * width, 3 * (y + 1) * width)
    picture.data.set(row, 3 * ((y + margin) * picture.width + margin))
  }
  return { picture, margin }
}

/** A face that was found inside a border, in pixels of the pyramid's base. @param scale base pixels per pixel of the level */
export function withoutBorder({ box, score, points }: Detection, margin: number, scale: number): Detection {
  const at = (value: number) => (value - margin) * scale
  return {
    box: { x: at(box.x), y: at(box.y), width: box.width * scale, height: box.height * scale },
    score,
    points: points?.map(at) ?? null,
  }
}

/** Clockwise quarter turns, the likelier ones first: a camera that is held sideways, then one that hangs upside down. */
export const QUARTER_TURNS = [1, 3, 2] as const
export type QuarterTurn = (typeof QUARTER_TURNS)[number]

/** Returns a copy of the pixels turned clockwise by quarters. */
export function turned({ data, width, height }: Pixels, quarters: QuarterTurn): Pixels {
  const [toWidth, toHeight] = quarters === 2 ? [width, height] : [height, width]
  const out = new Uint8Array(data.length)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const [toX, toY] =
        quarters === 1
          ? [height - 1 - y, x]
          : quarters === 3
            ? [y, width - 1 - x]
            : [width - 1 - x, height - 1 - y]
      const [from, to] = [(y * width + x) * 3, (toY * toWidth + toX) * 3]
      out[to] = data[from]!
      out[to + 1] = data[from + 1]!
      out[to + 2] = data[from + 2]!
    }
  return { data: out, width: toWidth, height: toHeight }
}
