import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { TemplateTransform } from '../../src/users/template-transform.js'

/** Random vector of length 1. */
function template(dimensions: number): Float32Array {
  const values = Float64Array.from({ length: dimensions }, () => {
    const [u, v] = [Math.random(), Math.random()]
    return Math.sqrt(-2 * Math.log(1 - u)) * Math.cos(2 * Math.PI * v)
  })
  const length = Math.hypot(...values)
  return Float32Array.from(values, (value) => value / length)
}

const dot = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Array.from(a).reduce((sum, value, i) => sum + value * b[i]!, 0)

describe.each([1, 2, 3, 64, 100, 128, 512])('the transform of %i dimensions', (dimensions) => {
  const transform = new TemplateTransform(randomBytes(32), dimensions)

  it('inverts the transform of a template', () => {
    for (let run = 0; run < 50; run++) {
      const original = template(dimensions)
      const back = transform.invert(transform.apply(original))
      expect(Math.max(...back.map((value, i) => Math.abs(value - original[i]!)))).toBeLessThan(1e-7)
    }
  })

  it('keeps lengths and angles of templates', () => {
    const [a, b] = [template(dimensions), template(dimensions)]
    const [ta, tb] = [transform.apply(a), transform.apply(b)]
    expect(dot(ta, tb)).toBeCloseTo(dot(a, b), 12)
    expect(dot(ta, ta)).toBeCloseTo(dot(a, a), 12)
  })
})

describe('one face under two keys', () => {
  it('spreads the cosines of one face under two keys as those of random directions', () => {
    const cosines = Array.from({ length: 400 }, () => {
      const face = template(128)
      const [one, other] = [0, 1].map(() => new TemplateTransform(randomBytes(32), 128).apply(face))
      return dot(one!, other!)
    })
    const mean = cosines.reduce((sum, value) => sum + value, 0) / cosines.length
    const deviation = Math.sqrt(cosines.reduce((sum, value) => sum + value ** 2, 0) / cosines.length)
    // The cosine with a random direction of 128 dimensions has mean 0 and deviation 1 / sqrt(128) = 0.088.
    expect(Math.abs(mean)).toBeLessThan(0.03)
    expect(deviation).toBeGreaterThan(0.06)
    expect(deviation).toBeLessThan(0.12)
    expect(Math.max(...cosines.map(Math.abs))).toBeLessThan(0.5)
  })

  it('transforms a template alike under the same key, also one of a single component', () => {
    const key = randomBytes(32)
    const single = Float32Array.from({ length: 128 }, (_, i) => (i === 5 ? 1 : 0))
    const [one, again] = [0, 1].map(() => new TemplateTransform(key, 128).apply(single))
    expect(one).toEqual(again)
    expect(Math.max(...one!.map(Math.abs))).toBeLessThan(0.7)
  })
})
