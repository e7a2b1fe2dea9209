import { expect, it } from 'vitest'
import { dot, euclideanDistance, normalizeLength } from '../../../src/biometrics/kernels/vector-math.js'

it('dot products, distances and lengths follow their definitions', () => {
  const [a, b] = [Float32Array.of(3, 4, 0), Float32Array.of(0, 4, 12)]
  expect(dot(a, b)).toBe(16)
  expect(euclideanDistance(a, b)).toBeCloseTo(Math.hypot(3, 12), 12)
  expect(normalizeLength(a)).toBe(5)
  expect(dot(a, a)).toBeCloseTo(1, 6)
  const zero = new Float32Array(3)
  expect(normalizeLength(zero)).toBe(0)
  expect([...zero]).toEqual([0, 0, 0])
})
