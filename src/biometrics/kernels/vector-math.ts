/**
 * Arithmetic on two embeddings: float32 vectors of equal length, sums in double precision. Not in the addon: entering it
 * costs more than a few hundred multiplications.
 */

export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!
  return sum
}

export function euclideanDistance(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) {
    const difference = a[i]! - b[i]!
    sum += difference * difference
  }
  return Math.sqrt(sum)
}

/** Divides `vector` by its length, in place. Returns the length it had; a zero or non-finite one changes nothing. */
export function normalizeLength(vector: Float32Array): number {
  const length = Math.sqrt(dot(vector, vector))
  if (length > 0 && Number.isFinite(length)) {
    for (let i = 0; i < vector.length; i++) vector[i] = vector[i]! / length
  }
  return length
}
