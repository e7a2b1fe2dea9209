import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeFrame, type Frame, FrameError, FrameReader } from '../../../src/biometrics/channel/frames.js'
import { check } from '../../support/properties.js'

const MAX_BYTES = 8192

const vector = fc
  .array(fc.float({ noNaN: true }), { maxLength: 20 })
  .map((numbers) => Float32Array.from(numbers))
/** Arbitrary messages: plain data with vectors in it. */
const { message } = fc.letrec<{ message: unknown }>((tie) => ({
  message: fc.oneof(
    { depthSize: 'small' },
    // JSON knows no -0.
    fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer(), fc.boolean(), fc.constant(null)),
    vector,
    fc.array(tie('message'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('id', 'kind', 'value', 'embedding', ''), tie('message')),
  ),
}))
const frame: fc.Arbitrary<Frame<unknown>> = fc.record({
  message,
  images: fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 5 }),
})

/** Pushes the stream cut at the given places, each chunk through the same buffer. */
function read(stream: Uint8Array, cuts: number[]): Array<Frame<unknown>> {
  const frames: Array<Frame<unknown>> = []
  const reader = new FrameReader(MAX_BYTES, (whole) => frames.push(whole))
  const buffer = new Uint8Array(stream.length)
  const places = [...new Set([0, ...cuts.map((cut) => cut % (stream.length + 1)), stream.length])].sort(
    (a, b) => a - b,
  )
  for (const [index, end] of places.slice(1).entries()) {
    const chunk = stream.subarray(places[index], end)
    buffer.set(chunk)
    reader.push(buffer.subarray(0, chunk.length))
    buffer.fill(0xee)
  }
  return frames
}

const cuts = fc.array(fc.nat(), { maxLength: 40 })
const streamOf = (frames: Array<Frame<unknown>>) =>
  Buffer.concat(frames.flatMap(({ message: content, images }) => encodeFrame(content, images)))

describe('a stream of frames', () => {
  it('gives the same frames however the stream is cut', () => {
    check(
      fc.property(fc.array(frame, { maxLength: 4 }), cuts, (frames, places) => {
        const whole = read(streamOf(frames), places)
        expect(whole).toEqual(frames)
        // Pictures lie in memory of their own, to be transferred or released.
        for (const image of whole.flatMap(({ images }) => images))
          expect(image.buffer.byteLength).toBe(image.length)
      }),
    )
  })

  it('refuses a frame larger than the reader accepts when its head arrives', () => {
    check(
      fc.property(
        // A message of length 0 would be complete at once, and no JSON.
        fc.integer({ min: 1, max: 0xffffffff }),
        fc.array(fc.integer({ min: 0, max: 0xffffffff }), { maxLength: 100 }),
        (jsonLength, partLengths) => {
          const sum = partLengths.reduce((total, length) => total + length, jsonLength)
          const head = Buffer.from(Uint32Array.of(jsonLength, partLengths.length, ...partLengths).buffer)
          if (sum > MAX_BYTES || partLengths.length > 64) expect(() => read(head, [])).toThrow(FrameError)
          else expect(read(head, [])).toEqual([])
        },
      ),
    )
  })
})

it.each([
  ['names no part', '{"$vector":1}'],
  ['names the same part twice', '[{"$vector":0},{"$vector":0}]'],
  ['names a property of the list', '{"$vector":"length"}'],
])('a frame is refused if a mark %s', (_, json) => {
  const head = Buffer.alloc(12)
  ;[json.length, 1, 4].forEach((word, index) => void head.writeUInt32LE(word, index * 4))
  const reader = new FrameReader(4096, () => {})
  expect(() => reader.push(Buffer.concat([head, Buffer.from(json), Buffer.alloc(4)]))).toThrow(FrameError)
})
