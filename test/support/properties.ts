/**
 * How properties are checked: with a fixed seed, so that the gate gives the same answer every time. `PROPERTY_RUNS=20`
 * makes twenty times as many attempts, and `PROPERTY_SEED=<n>` other ones; a failure prints seed and path.
 */
import fc from 'fast-check'
import { vi } from 'vitest'

const FACTOR = Number(process.env.PROPERTY_RUNS ?? 1)
const SEED = Number(process.env.PROPERTY_SEED ?? 1)
if (!(FACTOR > 0) || !Number.isInteger(SEED))
  throw new TypeError('PROPERTY_RUNS must be a number above 0, PROPERTY_SEED a whole number')

vi.setConfig({ testTimeout: 120_000 * Math.max(1, FACTOR) })

const parameters = (runs: number) => ({ seed: SEED, numRuns: Math.ceil(runs * FACTOR) })

export function check<T>(property: fc.IProperty<T>, runs = 500): void {
  fc.assert(property, parameters(runs))
}

export function checkAsync<T>(property: fc.IAsyncProperty<T>, runs = 100): Promise<void> {
  return fc.assert(property, parameters(runs))
}

/** Any bytes, in a buffer that holds other bytes before and after them: what reads beyond its view finds something. */
export const bytesInside = (constraints: fc.IntArrayConstraints = {}) =>
  fc
    .tuple(fc.uint8Array(constraints), fc.uint8Array({ maxLength: 16 }), fc.uint8Array({ maxLength: 16 }))
    .map(([bytes, before, after]) =>
      Buffer.concat([before, bytes, after]).subarray(before.length, before.length + bytes.length),
    )

/** The text with a few characters replaced, removed or inserted: near misses, which random text never is. */
export const damaged = (original: fc.Arbitrary<string>) =>
  fc
    .tuple(
      original,
      fc.array(
        fc.record({ at: fc.nat(), gone: fc.integer({ min: 0, max: 3 }), put: fc.string({ maxLength: 3 }) }),
        {
          minLength: 1,
          maxLength: 3,
        },
      ),
    )
    .map(([text, edits]) =>
      edits.reduce((result, { at, gone, put }) => {
        const start = at % (result.length + 1)
        return result.slice(0, start) + put + result.slice(start + gone)
      }, text),
    )
