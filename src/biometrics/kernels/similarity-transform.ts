/** Least-squares similarity transform (rotation, uniform scale, translation; no reflection) between two point sets. */

/**
 * Finds a, b, tx, ty that minimize the squared distance between (a·x - b·y + tx, b·x + a·y + ty) and the targets. It
 * is the closed form of Umeyama (1991) in two dimensions without reflection.
 * @param source [count × 2] interleaved x, y
 * @param target [count × 2] interleaved x, y
 * @param out [4] receives a, b, tx, ty
 */
export function estimateSimilarity(source: Float64Array, target: Float64Array, out: Float64Array): void {
  const count = source.length / 2
  let meanX = 0
  let meanY = 0
  let meanU = 0
  let meanV = 0
  for (let i = 0; i < count; i++) {
    meanX += source[2 * i]! / count
    meanY += source[2 * i + 1]! / count
    meanU += target[2 * i]! / count
    meanV += target[2 * i + 1]! / count
  }
  let along = 0
  let across = 0
  let spread = 0
  for (let i = 0; i < count; i++) {
    const x = source[2 * i]! - meanX
    const y = source[2 * i + 1]! - meanY
    const u = target[2 * i]! - meanU
    const v = target[2 * i + 1]! - meanV
    along += x * u + y * v
    across += x * v - y * u
    spread += x * x + y * y
  }
  const a = spread > 0 ? along / spread : 1
  const b = spread > 0 ? across / spread : 0
  out[0] = a
  out[1] = b
  out[2] = meanU - a * meanX + b * meanY
  out[3] = meanV - b * meanX - a * meanY
}

/** Inverts a similarity: `out` maps targets back to sources. Both [4] a, b, tx, ty; they may be the same array. */
export function invertSimilarity(transform: Float64Array, out: Float64Array): void {
  const [a, b, tx, ty] = transform as unknown as [number, number, number, number]
  const squaredScale = a * a + b * b
  const inverseA = a / squaredScale
  const inverseB = -b / squaredScale
  out[0] = inverseA
  out[1] = inverseB
  out[2] = -(inverseA * tx - inverseB * ty)
  out[3] = -(inverseB * tx + inverseA * ty)
}
