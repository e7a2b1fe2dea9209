/** Vectors as a calibration holds them: float32, little-endian, in base64. */

/** @param text of a vector whose length was checked when the calibration was read */
export function vectorFrom(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64')
  return Float32Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i))
}

export function vectorText(vector: Float32Array): string {
  const bytes = Buffer.alloc(4 * vector.length)
  for (const [i, value] of vector.entries()) bytes.writeFloatLE(value, 4 * i)
  return bytes.toString('base64')
}
