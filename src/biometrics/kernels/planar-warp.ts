/** Cutting an aligned chip out of an image by a similarity transform, straight into a planar float tensor. */
import type { Pixels, PlanarTensor, PlaneFormat } from './planes.js'

/**
 * Inverse warp: chip pixel (x, y) is read at (a·x - b·y + tx, b·x + a·y + ty), bilinear, an integer coordinate being
 * a pixel center; pixels outside the image count as 0.
 * @param chipToSource [4] a, b, tx, ty
 */
export function warpToPlanar(
  source: Pixels,
  chipToSource: Float64Array,
  out: PlanarTensor,
  { swap, mean, scale }: PlaneFormat,
): void {
  const { data: pixels, width, height } = source
  const { data: tensor, width: outWidth, height: outHeight } = out
  const [a, b, tx, ty] = chipToSource as unknown as [number, number, number, number]
  const plane = outWidth * outHeight
  const stride = width * 3
  for (let y = 0, to = 0; y < outHeight; y++) {
    for (let x = 0; x < outWidth; x++, to++) {
      const sourceX = a * x - b * y + tx
      const sourceY = b * x + a * y + ty
      const left = Math.floor(sourceX)
      const top = Math.floor(sourceY)
      const weightX = sourceX - left
      const weightY = sourceY - top
      let wa = (1 - weightX) * (1 - weightY)
      let wb = weightX * (1 - weightY)
      let wc = (1 - weightX) * weightY
      let wd = weightX * weightY
      let at = top * stride + left * 3
      let right = 3
      let below = stride
      if (left < 0 || top < 0 || left + 1 >= width || top + 1 >= height) {
        // A corner outside the image has weight 0; all four corners then read some valid pixel.
        if (left < 0 || left >= width) wa = wc = 0
        if (left + 1 < 0 || left + 1 >= width) wb = wd = 0
        if (top < 0 || top >= height) wa = wb = 0
        if (top + 1 < 0 || top + 1 >= height) wc = wd = 0
        const column = Math.min(Math.max(left, 0), width - 1)
        const row = Math.min(Math.max(top, 0), height - 1)
        at = row * stride + column * 3
        right = left >= 0 && left + 1 < width ? 3 : 0
        below = top >= 0 && top + 1 < height ? stride : 0
      }
      for (let p = 0; p < 3; p++) {
        const from = at + (swap ? 2 - p : p)
        const value =
          pixels[from]! * wa +
          pixels[from + right]! * wb +
          pixels[from + below]! * wc +
          pixels[from + below + right]! * wd
        tensor[to + p * plane] = (value - mean[p]!) * scale[p]!
      }
    }
  }
}
