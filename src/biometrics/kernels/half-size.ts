/** Halving an image: each output pixel is the mean of a 2×2 block. Stacked, it gives an alias-free pyramid. */

/**
 * @param source [height × width × 3] interleaved bytes
 * @param out [floor(height / 2) × floor(width / 2) × 3]; an odd last row or column is dropped
 */
export function halveSize(source: Uint8Array, width: number, height: number, out: Uint8Array): void {
  const outWidth = width >> 1
  const outHeight = height >> 1
  const stride = width * 3
  let to = 0
  for (let y = 0; y < outHeight; y++) {
    let from = 2 * y * stride
    for (let x = 0; x < outWidth; x++, from += 6, to += 3) {
      const below = from + stride
      out[to] = (source[from]! + source[from + 3]! + source[below]! + source[below + 3]! + 2) >> 2
      out[to + 1] = (source[from + 1]! + source[from + 4]! + source[below + 1]! + source[below + 4]! + 2) >> 2
      out[to + 2] = (source[from + 2]! + source[from + 5]! + source[below + 2]! + source[below + 5]! + 2) >> 2
    }
  }
}
