/** Turns pixels by quarters, to tell a picture without a face from one whose face lies on its side or stands on its head. */
import type { Pixels } from '../kernels/planes.js'

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
