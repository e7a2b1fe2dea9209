/** Resizing a rectangle of an image into a rectangle of a planar float tensor: letterboxes, padded and plain crops. */
import type { Pixels, PlanarTensor, PlaneFormat, Rectangle } from './planes.js'

/**
 * Bilinear with half-pixel centres, clamped to the edges of the source rectangle, without antialiasing (what OpenCV
 * calls INTER_LINEAR). Pixels of the tensor outside the target rectangle hold a normalised 0.
 * @param from source rectangle, inside the image
 * @param to target rectangle, inside the tensor
 */
export function resizeToPlanar(
  source: Pixels,
  from: Rectangle,
  out: PlanarTensor,
  to: Rectangle,
  { swap, mean, scale }: PlaneFormat,
): void {
  const { data: pixels, width: sourceWidth } = source
  const { x: left, y: top, width, height } = from
  const { data: tensor, width: outWidth, height: outHeight } = out
  const { x: toLeft, y: toTop, width: toWidth, height: toHeight } = to
  const plane = outWidth * outHeight
  if (toWidth !== outWidth || toHeight !== outHeight) {
    for (let p = 0; p < 3; p++) tensor.fill((0 - mean[p]!) * scale[p]!, p * plane, (p + 1) * plane)
  }
  const stepX = width / toWidth
  const stepY = height / toHeight
  const columns = new Int32Array(toWidth * 2)
  const weights = new Float64Array(toWidth)
  for (let x = 0; x < toWidth; x++) {
    const at = Math.min(Math.max((x + 0.5) * stepX - 0.5, 0), width - 1)
    const first = Math.floor(at)
    columns[2 * x] = (left + first) * 3
    columns[2 * x + 1] = (left + Math.min(first + 1, width - 1)) * 3
    weights[x] = at - first
  }
  const red = swap ? 2 : 0
  const blue = 2 - red
  const [mean0, mean1, mean2] = [mean[0]!, mean[1]!, mean[2]!]
  const [scale0, scale1, scale2] = [scale[0]!, scale[1]!, scale[2]!]
  for (let y = 0; y < toHeight; y++) {
    const at = Math.min(Math.max((y + 0.5) * stepY - 0.5, 0), height - 1)
    const first = Math.floor(at)
    const weightY = at - first
    const upper = (top + first) * sourceWidth * 3
    const lower = (top + Math.min(first + 1, height - 1)) * sourceWidth * 3
    let target = (toTop + y) * outWidth + toLeft
    for (let x = 0; x < toWidth; x++, target++) {
      const a = upper + columns[2 * x]!
      const b = upper + columns[2 * x + 1]!
      const c = lower + columns[2 * x]!
      const d = lower + columns[2 * x + 1]!
      const weightX = weights[x]!
      const wa = (1 - weightX) * (1 - weightY)
      const wb = weightX * (1 - weightY)
      const wc = (1 - weightX) * weightY
      const wd = weightX * weightY
      const v0 = pixels[a + red]! * wa + pixels[b + red]! * wb + pixels[c + red]! * wc + pixels[d + red]! * wd
      const v1 = pixels[a + 1]! * wa + pixels[b + 1]! * wb + pixels[c + 1]! * wc + pixels[d + 1]! * wd
      const v2 =
        pixels[a + blue]! * wa + pixels[b + blue]! * wb + pixels[c + blue]! * wc + pixels[d + blue]! * wd
      tensor[target] = (v0 - mean0) * scale0
      tensor[target + plane] = (v1 - mean1) * scale1
      tensor[target + 2 * plane] = (v2 - mean2) * scale2
    }
  }
}
