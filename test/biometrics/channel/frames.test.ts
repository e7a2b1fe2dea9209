import { expect, it } from 'vitest'
import { FrameError, FrameReader } from '../../../src/biometrics/channel/frames.js'

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
