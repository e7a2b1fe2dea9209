import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toBase64 } from '../../clients/node/image.js'
import { nativeKernels, typescriptKernels } from '../../src/biometrics/kernels/kernels.js'
import { DomainError } from '../../src/lib/domain-error.js'
import { decodeImages } from '../../src/verification/capture/images.js'
import { bytesInside, check, checkAsync, damaged } from '../support/properties.js'

const STRICT = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

const decode = async (text: string | Buffer): Promise<Buffer | null> => {
  try {
    return (await decodeImages({ image: text })).images[0]!
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'invalid_request') throw error
    return null
  }
}

describe('a photo', () => {
  it('decodes a photo to the same bytes, however the application holds it', async () => {
    await checkAsync(
      fc.asyncProperty(bytesInside({ maxLength: 20_000 }), async (photo) => {
        const exact = Uint8Array.from(photo)
        for (const form of [photo, exact, exact.buffer, new Blob([exact])]) {
          const text = await toBase64(form)
          expect(await decode(text)).toEqual(photo)
          expect((await decodeImages({ images: [text, Buffer.from(text)] })).images).toEqual([photo, photo])
        }
      }),
    )
  })

  it('takes a photo from strict base64 and refuses anything else', async () => {
    const base64 = fc.base64String({ maxLength: 200 })
    await checkAsync(
      fc.asyncProperty(fc.oneof(base64, damaged(base64), fc.string({ unit: 'binary' })), async (text) => {
        const photo = await decode(text)
        if (STRICT.test(text)) expect(photo).toEqual(Buffer.from(text, 'base64'))
        else expect(photo).toBeNull()
      }),
      2000,
    )
  })
})

describe('a large photo', () => {
  const photo = Buffer.from(Array.from({ length: 3_000_001 }, (_, i) => (i * 7919) >> 5))
  const text = photo.toString('base64')
  const spellings = {
    unescaped: text,
    'with escaped slashes, as PHP writes them': text.replaceAll('/', '\\/'),
    'with escaped pluses, as .NET writes them': text.replaceAll('+', '\\u002B'),
  }
  it.each(Object.entries(spellings))('decodes a large photo to the same bytes: %s', async (_, spelling) => {
    expect((await decode(Buffer.from(spelling)))!.equals(photo)).toBe(true)
  })

  it('refuses a large photo whose base64 is wrong in the middle', async () => {
    for (const wrong of ['=', '\n', '\\n', '\\', '-'])
      expect(await decode(Buffer.from(text.slice(0, 2_000_000) + wrong + text.slice(2_000_001)))).toBeNull()
  })

  it('serves other work while a large photo is decoded', async () => {
    let turns = 0
    const count = () => {
      turns++
      handle = setImmediate(count)
    }
    let handle = setImmediate(count)
    await decode(Buffer.from(text))
    clearImmediate(handle)
    expect(turns).toBeGreaterThan(10)
  })
})

it('decodes base64 alike in C++ and in TypeScript, for any bytes, and writes nothing beyond its output', ({
  skip,
}) => {
  const { kernels } = nativeKernels
  if (!kernels) return skip(nativeKernels.reason)
  const text = fc.oneof(
    bytesInside({ maxLength: 200 }),
    damaged(fc.base64String({ maxLength: 200 })).map((near) => Buffer.from(near)),
  )
  check(
    fc.property(text, (bytes) => {
      const [native, twin] = [kernels, typescriptKernels].map(({ decodeBase64 }) => {
        const room = new Uint8Array(bytes.length + 32).fill(0xaa)
        const padding = bytes.at(-1) !== 0x3d ? 0 : bytes.at(-2) !== 0x3d ? 1 : 2
        const out = room.subarray(16, 16 + Math.max(0, Math.ceil(bytes.length / 4) * 3 - padding))
        const length = decodeBase64(bytes, out)
        const around = Buffer.concat([room.subarray(0, 16), room.subarray(16 + out.length)])
        expect(around.every((byte) => byte === 0xaa)).toBe(true)
        return { length, bytes: length < 0 ? null : Buffer.from(out) }
      })
      expect(native).toEqual(twin)
    }),
    2000,
  )
})
