/** Dot products of one vector with many: the scan over references. */

/**
 * The native twin sums in single precision: a scan only ranks, and its results are compared again by `dot`.
 * @param query [length]
 * @param rows [count × length], one reference a row
 * @param out [count] receives query · row
 */
export function dotMany(query: Float32Array, rows: Float32Array, out: Float32Array): void {
  const length = query.length
  for (let i = 0, at = 0; i < out.length; i++) {
    let sum = 0
    for (let k = 0; k < length; k++, at++) sum += query[k]! * rows[at]!
    out[i] = sum
  }
}
