import { describe, expect, it } from 'vitest'
import { type Kernels, nativeKernels, typescriptKernels } from '../../../src/biometrics/kernels/kernels.js'
import type { PlaneFormat, Rectangle } from '../../../src/biometrics/kernels/planes.js'
import { estimateSimilarity, invertSimilarity } from '../../../src/biometrics/kernels/similarity-transform.js'
import { dot, euclideanDistance, normalizeLength } from '../../../src/biometrics/kernels/vector-math.js'

const mean = Float64Array.of(10, 20, 30)
const scale = Float64Array.of(0.5, 0.25, 2)
const rgb: PlaneFormat = { swap: false, mean, scale }
const bgr: PlaneFormat = { swap: true, mean, scale }

/** Reproducible bytes. */
function noise(length: number): Uint8Array {
  let state = 7
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state >>> 24
  })
}

const { kernels: native, reason } = nativeKernels
if (reason) console.warn(`native kernels skipped: ${reason}`)

describe.skipIf(!native)('native kernels', () => twinSuite(native ?? typescriptKernels))
describe('TypeScript kernels', () => twinSuite(typescriptKernels))

/** Called for a missing twin as well, so that its tests are skipped by name. */
function twinSuite(twin: Kernels): void {
  const { resizeToPlanar, warpToPlanar, halveSize, mirrorPlanar, dotMany, decodeBase64 } = twin

  describe('resizing to planes', () => {
    const [width, height] = [23, 17]
    const data = noise(width * height * 3)

    /** The definition, pixel by pixel. */
    function naive(x: number, y: number, channel: number, crop: Rectangle, to: Rectangle): number {
      const { x: left, y: top, width: cropWidth, height: cropHeight } = crop
      const clamp = (value: number, limit: number) => Math.min(Math.max(value, 0), limit)
      const u = clamp(((x + 0.5) * cropWidth) / to.width - 0.5, cropWidth - 1)
      const v = clamp(((y + 0.5) * cropHeight) / to.height - 0.5, cropHeight - 1)
      let sum = 0
      for (const [i, j] of [
        [0, 0],
        [1, 0],
        [0, 1],
        [1, 1],
      ] as const) {
        const column = clamp(Math.floor(u) + i, cropWidth - 1)
        const row = clamp(Math.floor(v) + j, cropHeight - 1)
        const weight = (i ? u % 1 : 1 - (u % 1)) * (j ? v % 1 : 1 - (v % 1))
        sum += weight * data[((top + row) * width + left + column) * 3 + channel]!
      }
      return sum
    }

    const rectangle = (x: number, y: number, width: number, height: number) => ({ x, y, width, height })
    it.each([
      ['a letterbox', rectangle(0, 0, width, height), [32, 32], rectangle(0, 0, 32, 24), rgb],
      ['an enlarged crop', rectangle(5, 3, 11, 9), [40, 20], rectangle(0, 0, 40, 20), bgr],
      ['a padded crop', rectangle(2, 1, 20, 15), [16, 16], rectangle(1, 3, 14, 9), bgr],
      ['a single pixel', rectangle(4, 4, 1, 1), [4, 4], rectangle(0, 0, 4, 4), rgb],
    ] as const)('resizing gives %s by the definition', (_, crop, [outWidth, outHeight], target, format) => {
      const out = new Float32Array(3 * outWidth * outHeight).fill(Number.NaN)
      resizeToPlanar(
        { data, width, height },
        crop,
        { data: out, width: outWidth, height: outHeight },
        target,
        format,
      )
      const { x: toLeft, y: toTop, width: toWidth, height: toHeight } = target
      for (let p = 0; p < 3; p++) {
        for (let y = 0; y < outHeight; y++) {
          for (let x = 0; x < outWidth; x++) {
            const inside = x >= toLeft && x < toLeft + toWidth && y >= toTop && y < toTop + toHeight
            const value = inside ? naive(x - toLeft, y - toTop, format.swap ? 2 - p : p, crop, target) : 0
            expect(out[(p * outHeight + y) * outWidth + x]).toBeCloseTo((value - mean[p]!) * scale[p]!, 3)
          }
        }
      }
    })
  })

  describe('warping to planes', () => {
    const [width, height] = [19, 13]
    const source = noise(width * height * 3)

    it('warping reads zeros outside and interpolates inside, by the definition', () => {
      const transform = Float64Array.of(0.9, 0.35, -4.3, -3.7)
      const [outWidth, outHeight] = [30, 22]
      const out = new Float32Array(3 * outWidth * outHeight)
      const tensor = { data: out, width: outWidth, height: outHeight }
      warpToPlanar({ data: source, width, height }, transform, tensor, bgr)
      const pixel = (x: number, y: number, channel: number) =>
        x >= 0 && y >= 0 && x < width && y < height ? source[(y * width + x) * 3 + channel]! : 0
      for (let y = 0; y < outHeight; y++) {
        for (let x = 0; x < outWidth; x++) {
          const u = 0.9 * x - 0.35 * y - 4.3
          const v = 0.35 * x + 0.9 * y - 3.7
          const [left, top] = [Math.floor(u), Math.floor(v)]
          for (let p = 0; p < 3; p++) {
            const value =
              pixel(left, top, 2 - p) * (1 - (u - left)) * (1 - (v - top)) +
              pixel(left + 1, top, 2 - p) * (u - left) * (1 - (v - top)) +
              pixel(left, top + 1, 2 - p) * (1 - (u - left)) * (v - top) +
              pixel(left + 1, top + 1, 2 - p) * (u - left) * (v - top)
            expect(out[(p * outHeight + y) * outWidth + x]).toBeCloseTo((value - mean[p]!) * scale[p]!, 3)
          }
        }
      }
    })
  })

  describe('small kernels', () => {
    it('halving takes the mean of each 2×2 block and drops an odd edge', () => {
      const source = noise(5 * 3 * 3)
      const out = new Uint8Array(2 * 1 * 3)
      halveSize(source, 5, 3, out)
      for (let x = 0; x < 2; x++) {
        for (let c = 0; c < 3; c++) {
          const at = (column: number, row: number) => source[(row * 5 + column) * 3 + c]!
          const sum = at(2 * x, 0) + at(2 * x + 1, 0) + at(2 * x, 1) + at(2 * x + 1, 1)
          expect(out[x * 3 + c]).toBe(Math.floor(sum / 4 + 0.5))
        }
      }
    })

    it('mirroring twice gives the original', () => {
      const source = Float32Array.from(noise(3 * 4 * 5))
      const [once, twice] = [new Float32Array(60), new Float32Array(60)]
      mirrorPlanar(source, once, 5)
      expect([...once.subarray(0, 5)]).toEqual([...source.subarray(0, 5)].reverse())
      mirrorPlanar(once, twice, 5)
      expect(twice).toEqual(source)
    })
  })

  it('base64 decodes what Node encodes, of every length', () => {
    for (let length = 1; length < 70; length++) {
      const bytes = Buffer.from(noise(length))
      const out = new Uint8Array(length)
      expect(decodeBase64(Buffer.from(bytes.toString('base64')), out)).toBe(length)
      expect(bytes.equals(out)).toBe(true)
    }
  })

  it('base64 refuses every byte that is no digit, at every place', () => {
    const text = Buffer.from('QUJDREVG')
    const valid = /[A-Za-z0-9+/]/
    for (let at = 0; at < text.length; at++) {
      for (let byte = 0; byte < 256; byte++) {
        if (valid.test(String.fromCharCode(byte))) continue
        const wrong = Buffer.from(text)
        wrong[at] = byte
        // A final "=" is padding: then one byte less comes out, which is not what eight digits give.
        expect(decodeBase64(wrong, new Uint8Array(6))).not.toBe(6)
      }
    }
    for (const broken of ['A', 'AB', 'ABC', 'A===', '====', 'AB=C', '=ABC'])
      expect(decodeBase64(Buffer.from(broken), new Uint8Array(6)), broken).toBe(-1)
  })

  it('a scan gives each row its dot product', () => {
    const rows = Float32Array.from(noise(7 * 40), (value) => value / 255 - 0.5)
    const query = rows.slice(40, 80)
    const out = new Float32Array(7)
    dotMany(query, rows, out)
    for (let i = 0; i < 7; i++) expect(out[i]).toBeCloseTo(dot(query, rows.slice(i * 40, (i + 1) * 40)), 5)
  })
}

const [a, b, tx, ty] = [1.2, -0.4, 7, -3]
const source = Float64Array.of(0, 0, 10, 2, 4, 9, -3, 5, 8, 8)
const mapped = (x: number, y: number) => [a * x - b * y + tx, b * x + a * y + ty]
const target = source.slice()
for (let i = 0; i < 5; i++) target.set(mapped(source[2 * i]!, source[2 * i + 1]!), 2 * i)

it('a similarity transform is recovered from exact points', () => {
  const out = new Float64Array(4)
  estimateSimilarity(source, target, out)
  for (const [i, value] of [a, b, tx, ty].entries()) expect(out[i]).toBeCloseTo(value, 10)
})

it('a similarity transform has the least squared error for inexact points', () => {
  const noisy = target.map((value, i) => value + Math.sin(3 * i))
  const best = new Float64Array(4)
  estimateSimilarity(source, noisy, best)
  const error = (m: Float64Array) => {
    let sum = 0
    for (let i = 0; i < 5; i++) {
      const [x, y] = [source[2 * i]!, source[2 * i + 1]!]
      sum += (m[0]! * x - m[1]! * y + m[2]! - noisy[2 * i]!) ** 2
      sum += (m[1]! * x + m[0]! * y + m[3]! - noisy[2 * i + 1]!) ** 2
    }
    return sum
  }
  for (let i = 0; i < 4; i++) {
    for (const step of [-1e-3, 1e-3]) {
      const other = best.slice()
      other[i]! += step
      expect(error(other)).toBeGreaterThan(error(best))
    }
  }
})

it('a similarity transform is undone by its inverse', () => {
  const inverse = new Float64Array(4)
  invertSimilarity(Float64Array.of(a, b, tx, ty), inverse)
  const [u, v] = mapped(5, -2) as [number, number]
  expect(inverse[0]! * u - inverse[1]! * v + inverse[2]!).toBeCloseTo(5, 10)
  expect(inverse[1]! * u + inverse[0]! * v + inverse[3]!).toBeCloseTo(-2, 10)
})

it('a similarity transform keeps the size when all points coincide', () => {
  const out = new Float64Array(4)
  estimateSimilarity(Float64Array.of(3, 3, 3, 3), Float64Array.of(5, 6, 7, 8), out)
  expect([...out]).toEqual([1, 0, 3, 4])
})

it('dot products, distances and lengths follow their definitions', () => {
  const [one, other] = [Float32Array.of(3, 4, 0), Float32Array.of(0, 4, 12)]
  expect(dot(one, other)).toBe(16)
  expect(euclideanDistance(one, other)).toBeCloseTo(Math.hypot(3, 12), 12)
  expect(normalizeLength(one)).toBe(5)
  expect(dot(one, one)).toBeCloseTo(1, 6)
  const zero = new Float32Array(3)
  expect(normalizeLength(zero)).toBe(0)
  expect([...zero]).toEqual([0, 0, 0])
})

describe.skipIf(!native)('native and TypeScript', () => {
  const random = (state: { seed: number }, limit: number) => {
    state.seed = (Math.imul(state.seed, 1664525) + 1013904223) >>> 0
    return Math.floor((state.seed / 2 ** 32) * limit)
  }
  const tensorOf = (width: number, height: number) => ({
    data: new Float32Array(3 * width * height),
    width,
    height,
  })
  const isSame = (a: { data: Float32Array }, b: { data: Float32Array }) =>
    Buffer.from(b.data.buffer).equals(Buffer.from(a.data.buffer))

  it('both resize to the same bits at 200 random geometries', () => {
    const state = { seed: 11 }
    const part = (width: number, height: number): Rectangle => {
      const [x, y] = [random(state, width), random(state, height)]
      return { x, y, width: 1 + random(state, width - x), height: 1 + random(state, height - y) }
    }
    for (let run = 0; run < 200; run++) {
      const [width, height] = [1 + random(state, 90), 1 + random(state, 90)]
      const source = { data: noise(width * height * 3), width, height }
      const crop = part(width, height)
      const [outWidth, outHeight] = [1 + random(state, 70), 1 + random(state, 70)]
      const target = part(outWidth, outHeight)
      const [a, b] = [tensorOf(outWidth, outHeight), tensorOf(outWidth, outHeight)]
      const format = run % 2 === 0 ? bgr : rgb
      typescriptKernels.resizeToPlanar(source, crop, a, target, format)
      native!.resizeToPlanar(source, crop, b, target, format)
      expect(isSame(a, b), JSON.stringify({ run, crop, target })).toBe(true)
    }
  })

  it('both warp to the same bits at 200 random transforms, far outside included', () => {
    const state = { seed: 12 }
    for (let run = 0; run < 200; run++) {
      const [width, height] = [1 + random(state, 60), 1 + random(state, 60)]
      const source = { data: noise(width * height * 3), width, height }
      const far = run % 10 === 0 ? 1e12 : 1
      const transform = Float64Array.from(
        { length: 4 },
        (_, i) => (random(state, 2000) - 1000) * (i < 2 ? 0.002 : 0.1 * far),
      )
      const [outWidth, outHeight] = [1 + random(state, 50), 1 + random(state, 50)]
      const [a, b] = [tensorOf(outWidth, outHeight), tensorOf(outWidth, outHeight)]
      const format = run % 2 === 0 ? bgr : rgb
      typescriptKernels.warpToPlanar(source, transform, a, format)
      native!.warpToPlanar(source, transform, b, format)
      expect(isSame(a, b), JSON.stringify({ run, transform })).toBe(true)
    }
  })

  it('both refuse arguments that would leave an array', () => {
    const bytes = new Uint8Array(30)
    const floats = new Float32Array(30)
    const image = (width: number, height: number) => ({ data: bytes, width, height })
    const tensor = (width: number, height: number) => ({ data: floats, width, height })
    const rectangle = (x: number, y: number, width: number, height: number) => ({ x, y, width, height })
    const [small, whole] = [tensor(2, 2), rectangle(0, 0, 2, 2)]
    const [flat, short] = [new Float64Array(4), new Float64Array(3)]
    expect(() => native!.halveSize(bytes, 100, 100, bytes)).toThrow(RangeError)
    expect(() => native!.warpToPlanar(image(4, 4), flat, small, rgb)).toThrow(RangeError)
    expect(() => native!.warpToPlanar(image(2, 2), short, small, rgb)).toThrow(RangeError)
    expect(() => native!.warpToPlanar(image(2, 2), flat, tensor(4, 4), rgb)).toThrow(RangeError)
    expect(() => native!.resizeToPlanar(image(2, 2), rectangle(0, 0, 3, 2), small, whole, rgb)).toThrow(
      RangeError,
    )
    expect(() => native!.resizeToPlanar(image(2, 2), whole, small, rectangle(1, 1, 2, 2), rgb)).toThrow(
      RangeError,
    )
    expect(() => native!.mirrorPlanar(floats, floats, 7)).toThrow(RangeError)
    expect(() => native!.dotMany(floats, floats, new Float32Array(2))).toThrow(RangeError)
    expect(() => native!.decodeBase64(Buffer.from('QUJD'), new Uint8Array(2))).toThrow(RangeError)
    expect(() => native!.dotMany(bytes as never, bytes as never, floats)).toThrow(RangeError)
  })

  it('both refuse sizes whose product wraps around 64 bits to one that would fit', () => {
    const most = 2 ** 31 - 1
    // The rows of the source reach to top + height; times the width, times 3, this is 2^64 + 344.
    const [width, top, height] = [2_145_625_464, most, 2_865_791_255 - most]
    expect(BigInt(width) * BigInt(top + height) * 3n - 2n ** 64n).toBe(344n)
    const bytes = new Uint8Array(512)
    const small = { data: new Float32Array(12), width: 2, height: 2 }
    const [far, whole] = [
      { x: 0, y: top, width: 1, height },
      { x: 0, y: 0, width: 2, height: 2 },
    ]
    const source = { data: bytes, width, height: 1 }
    expect(() => native!.resizeToPlanar(source, far, small, whole, rgb)).toThrow(RangeError)
    // These products are negative as signed numbers.
    const largest = { data: bytes, width: most, height: most }
    const identity = Float64Array.of(1, 0, 0, 0)
    expect(() => native!.warpToPlanar(largest, identity, small, rgb)).toThrow(RangeError)
    const tensor = { data: small.data, width: most, height: most }
    expect(() => native!.warpToPlanar({ data: bytes, width: 2, height: 2 }, identity, tensor, rgb)).toThrow(
      RangeError,
    )
    expect(() => native!.halveSize(bytes, most, most, bytes)).toThrow(RangeError)
  })

  it('releases memory at once, and only memory that has no other owner', () => {
    const pixels = new Uint8Array(1000)
    native!.releaseMemory(pixels)
    expect(pixels.length).toBe(0)
    expect(pixels.buffer.byteLength).toBe(0)
    const pooled = Buffer.from('in the pool')
    expect(() => native!.releaseMemory(pooled)).toThrow(RangeError)
    expect(pooled.toString()).toBe('in the pool')
    expect(() => native!.releaseMemory(new Uint8Array(new SharedArrayBuffer(8)))).toThrow(RangeError)
    expect(() => native!.releaseMemory(new Float32Array(8) as never)).toThrow(RangeError)
  })

  it.skipIf(!isGlibc())('gives free pages between used memory back to the system', () => {
    // The pieces are smaller than those that glibc maps separately; the last of a hundred stays, so that no arena has
    // a free end.
    const pieces = Array.from({ length: 1000 }, () => new Uint8Array(64 * 1024).fill(1))
    for (const [index, piece] of pieces.entries()) if (index % 100 < 99) native!.releaseMemory(piece)
    const beforeBytes = process.memoryUsage.rss()
    native!.releaseFreePages()
    // AddressSanitizer has an allocator of its own, which keeps freed memory.
    if (!process.env.SANITIZED_KERNELS)
      expect(beforeBytes - process.memoryUsage.rss()).toBeGreaterThan(32 * 2 ** 20)
    expect(pieces[99]!.every((byte) => byte === 1)).toBe(true)
  })
})

function isGlibc(): boolean {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  return header.glibcVersionRuntime !== undefined
}
