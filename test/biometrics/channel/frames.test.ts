import { describe, expect, it } from 'vitest'
import { encodeFrame, type Frame, FrameError, FrameReader } from '../../../src/biometrics/channel/frames.js'

const frames: Array<Frame<unknown>> = [
  {
    message: { id: 1, both: [{ reference: Float32Array.of(1, -2.5) }, Float32Array.of(3)] },
    images: [Uint8Array.of(1, 2, 3), Uint8Array.of(4)],
  },
  { message: 'no pictures: ä', images: [] },
  { message: null, images: [new Uint8Array(0), new Uint8Array(1000).fill(7)] },
]
const stream = Buffer.concat(frames.flatMap(({ message, images }) => encodeFrame(message, images)))

function readInChunks(size: number): Array<Frame<unknown>> {
  const read: Array<Frame<unknown>> = []
  const reader = new FrameReader(4096, (frame) => read.push(frame))
  const buffer = new Uint8Array(size)
  for (let offset = 0; offset < stream.length; offset += size) {
    // Every chunk arrives in the same buffer, as from the socket.
    const length = stream.copy(buffer, 0, offset, offset + size)
    reader.push(buffer.subarray(0, length))
  }
  return read
}

describe('frames', () => {
  it.each([1, 2, 7, 64, 1024, stream.length])('frames survive a stream cut every %i bytes', (size) => {
    expect(readInChunks(size)).toEqual(frames)
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

  it('pictures lie in memory of their own, to be transferred or released', () => {
    for (const { images } of readInChunks(50))
      for (const image of images) expect(image.buffer.byteLength).toBe(image.length)
  })
})
