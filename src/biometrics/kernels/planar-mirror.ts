/** Mirroring a planar tensor left to right, for flip averaging. */

/** @param source,out [planes × height × width], two different arrays */
export function mirrorPlanar(
  source: Float32Array,
  out: Float32Array,
  width: number,
  rows: number = source.length / width,
): void {
  for (let row = 0; row < rows; row++) {
    const start = row * width
    for (let x = 0; x < width; x++) out[start + x] = source[start + width - 1 - x]!
  }
}
