import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sniffImageFormat } from '../../../src/biometrics/pipeline/decode/image-format.js'
import { bytesInside, check } from '../../support/properties.js'

const MAGIC = [
  ['jpeg', /^ffd8ff/],
  ['png', /^89504e470d0a1a0a/],
  ['webp', /^52494646.{8}57454250/],
] as const

const start = fc.constantFrom(
  '',
  'ffd8ff',
  '89504e470d0a1a0a',
  '52494646',
  '524946460000000057454250',
  '47494638',
)
const file = fc
  .tuple(start, fc.uint8Array({ maxLength: 40 }), fc.nat(60), bytesInside({ maxLength: 20 }))
  // The picture is cut off anywhere, and the rest of the file lies right behind the readable part.
  .map(([magic, rest, length, tail]) =>
    Buffer.concat([Buffer.from(magic, 'hex'), rest, tail]).subarray(0, length),
  )

it('the format depends on only the first twelve bytes, and is unknown if they are cut short', () => {
  check(
    fc.property(file, (bytes) => {
      const hex = bytes.toString('hex')
      const expected = MAGIC.find(([, magic]) => magic.test(hex))?.[0] ?? null
      expect(sniffImageFormat(bytes)).toBe(expected)
      expect(sniffImageFormat(bytes.subarray(0, 12))).toBe(expected)
    }),
    1000,
  )
})
