/** A second reader of face-api's weight files, which shares nothing with the one under test. */
import { readFileSync } from 'node:fs'

export interface Weight {
  shape: number[]
  data: Float32Array
}

export const WEIGHTS_DIR = new URL('../../../node_modules/@vladmandic/face-api/model/', import.meta.url)

/** All tensors of one network in the original's own layouts, as the float32 values that TensorFlow.js computes. */
export function readWeights(model: string): Record<string, Weight> {
  const groups = JSON.parse(
    readFileSync(new URL(`${model}-weights_manifest.json`, WEIGHTS_DIR), 'utf8'),
  ) as Array<{
    weights: Array<{ name: string; shape: number[]; quantization?: { scale: number; min: number } }>
  }>
  let rest = Uint8Array.from(readFileSync(new URL(`${model}.bin`, WEIGHTS_DIR)))
  const result: Record<string, Weight> = {}
  for (const { name, shape, quantization: q } of groups.flatMap((group) => group.weights)) {
    const count = shape.reduce((a, b) => a * b, 1)
    const stored = rest.slice(0, q ? count : count * 4)
    rest = rest.subarray(stored.length)
    result[name] = {
      shape,
      data: q ? Float32Array.from(stored, (byte) => byte * q.scale + q.min) : new Float32Array(stored.buffer),
    }
  }
  if (rest.length > 0) throw new Error(`${model}: ${rest.length} bytes left`)
  return result
}
