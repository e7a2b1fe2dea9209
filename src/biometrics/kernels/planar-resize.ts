/** Resizing a rectangle of an image into a rectangle of a planar float tensor: letterboxes, padded and plain crops. */

/**
 * Bilinear with half-pixel centres, clamped to the edges of the source rectangle, without antialiasing (what OpenCV
 * calls INTER_LINEAR). Pixels of the tensor outside the target rectangle hold a normalised 0.
 * Each value is (x - mean) * scale; plane p takes the source's channel p, or 2 - p when `swap` (RGB to BGR).
 * @param source [sourceHeight × sourceWidth × 3] interleaved bytes; only its stride, `sourceWidth`, is needed
 * @param left,top,width,height source rectangle, integers, inside the image
 * @param out [3 × outHeight × outWidth]
 * @param toLeft,toTop,toWidth,toHeight target rectangle, integers, inside the tensor
 * @param mean,scale [3] in the tensor's plane order
 */
export function resizeToPlanar(
  source: Uint8Array,
  sourceWidth: number,
  left: number,
  top: number,
  width: number,
  height: number,
  out: Float32Array,
  outWidth: number,
  outHeight: number,
  toLeft: number,
  toTop: number,
  toWidth: number,
  toHeight: number,
  swap: boolean,
  mean: Float64Array,
  scale: Float64Array,
): void {
  const plane = outWidth * outHeight
  if (toWidth !== outWidth || toHeight !== outHeight) {
    for (let p = 0; p < 3; p++) out.fill((0 - mean[p]!) * scale[p]!, p * plane, (p + 1) * plane)
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
    let to = (toTop + y) * outWidth + toLeft
    for (let x = 0; x < toWidth; x++, to++) {
      const a = upper + columns[2 * x]!
      const b = upper + columns[2 * x + 1]!
      const c = lower + columns[2 * x]!
      const d = lower + columns[2 * x + 1]!
      const weightX = weights[x]!
      const wa = (1 - weightX) * (1 - weightY)
      const wb = weightX * (1 - weightY)
      const wc = (1 - weightX) * weightY
      const wd = weightX * weightY
      const v0 = source[a + red]! * wa + source[b + red]! * wb + source[c + red]! * wc + source[d + red]! * wd
      const v1 = source[a + 1]! * wa + source[b + 1]! * wb + source[c + 1]! * wc + source[d + 1]! * wd
      const v2 =
        source[a + blue]! * wa + source[b + blue]! * wb + source[c + blue]! * wc + source[d + blue]! * wd
      out[to] = (v0 - mean0) * scale0
      out[to + plane] = (v1 - mean1) * scale1
      out[to + 2 * plane] = (v2 - mean2) * scale2
    }
  }
}
