import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { decodeImage } from '../../../src/biometrics/pipeline/decode.js'
import { DecoderProcess } from '../../../src/biometrics/pipeline/decoder-process.js'
import { foreseeWork } from '../../../src/biometrics/pipeline/decoding-work.js'
import {
  compressedText,
  noiseJpeg,
  scanBomb,
  withFillByte,
  withProfile,
  zeroPng,
} from '../../support/costly-pictures.js'
import { defaultLimits, plainPicture, samplePhoto } from '../fixtures.js'

const photo = sharp(samplePhoto(2))
const decode = (bytes: Uint8Array) => decodeImage(bytes, defaultLimits, 0)

describe('the work of decoding', () => {
  it('pictures of cameras, phones and pages are light', async () => {
    const small = photo.clone().resize(1280, 960)
    const honest = await Promise.all([
      plainPicture(5000, 4800).jpeg().toBuffer(),
      noiseJpeg(3000, 2000),
      small.clone().jpeg({ progressive: true }).toBuffer(),
      small.clone().jpeg().withIccProfile('p3').withMetadata({ orientation: 6 }).toBuffer(),
      small.clone().greyscale().jpeg().toBuffer(),
      small.clone().png().toBuffer(),
      small.clone().webp().toBuffer(),
      small.clone().webp({ lossless: true }).toBuffer(),
      small.clone().ensureAlpha(0.5).webp().toBuffer(),
    ])
    for (const bytes of honest) {
      const format = (await sharp(bytes).metadata()).format as 'jpeg' | 'png' | 'webp'
      expect(foreseeWork(format, bytes)).toMatchObject({ isLight: true, excess: null })
    }
  })

  it("the predicted size is the decoder's", async () => {
    for (const [width, height] of [
      [321, 203],
      [64, 1000],
    ] as const) {
      const picture = photo.clone().resize(width, height)
      const files = {
        jpeg: picture.clone().jpeg().toBuffer(),
        png: picture.clone().png().toBuffer(),
        webp: picture.clone().webp().toBuffer(),
      }
      for (const [format, bytes] of Object.entries(files))
        expect(foreseeWork(format as 'webp', await bytes).size).toEqual({ width, height })
      for (const options of [{ lossless: true }, { quality: 50 }]) {
        const clear = await picture.clone().ensureAlpha(0.5).webp(options).toBuffer()
        expect(foreseeWork('webp', clear).size).toEqual({ width, height })
      }
    }
  })

  it.each([
    [
      'a large progressive JPEG',
      async () => photo.clone().resize(4000, 3000).jpeg({ progressive: true }).toBuffer(),
    ],
    ['a JPEG whose header is not plain', async () => withFillByte(await noiseJpeg(100, 100))],
    [
      'a JPEG with a colour profile that computes',
      async () => withProfile(await noiseJpeg(100, 100), 'mpet'),
    ],
    [
      'a JPEG with a colour profile in pieces',
      async () => withProfile(withProfile(await noiseJpeg(100, 100), 'a'), 'b'),
    ],
    ['a large PNG', () => zeroPng({ width: 4000, height: 3000 })],
    [
      'a PNG with a packed colour profile',
      () => zeroPng({ width: 100, height: 100, before: [['iCCP', Buffer.alloc(9)]] }),
    ],
    [
      'a PNG with packed text',
      () => zeroPng({ width: 100, height: 100, before: [compressedText(7_000_000)] }),
    ],
    ['a large WebP', () => plainPicture(2000, 2000).webp().toBuffer()],
  ])('decoding %s is not light, but allowed', async (_title, make) => {
    const bytes = await make()
    const format = bytes[0] === 0xff ? 'jpeg' : bytes[0] === 0x52 ? 'webp' : 'png'
    expect(foreseeWork(format, bytes)).toMatchObject({ isLight: false, excess: null })
  })

  it.each([
    ['a JPEG of a thousand scans', () => scanBomb(3168, 3168, 1000), 'more than 200 scans'],
    ['a small JPEG of a thousand scans', () => scanBomb(64, 64, 1000), 'more than 200 scans'],
    ['a large JPEG of 150 scans', () => scanBomb(4800, 4800, 150), 'scans of 4800×4800 pixels'],
    [
      'a JPEG whose scans come behind a comment that holds an end of image',
      () => scanBomb(640, 480, 300, Buffer.of(0xff, 0xd9)),
      'more than 200 scans',
    ],
    [
      'a PNG of text that unpacks to 80 MB',
      () =>
        zeroPng({
          width: 100,
          height: 100,
          before: Array.from({ length: 10 }, () => compressedText(7_900_000)),
        }),
      'more compressed text than a picture needs',
    ],
  ])('decoding %s is too much work: no decoder sees it', async (_title, make, reason) => {
    await expect(decode(make())).rejects.toMatchObject({
      code: 'image_unreadable',
      imageIndex: 0,
      message: expect.stringContaining(reason),
    })
  })
})

describe('a costly picture', () => {
  it('a costly picture is decoded in a process of its own to the same pixels', async () => {
    const picture = photo.clone().resize(2400, 1800)
    const progressive = await picture.clone().jpeg({ progressive: true, quality: 90 }).toBuffer()
    const { pixels, ...image } = await decode(progressive)
    expect(image).toEqual({ format: 'jpeg', width: 2400, height: 1800, sourceScale: 1 })
    const expected = await sharp(progressive).raw().toBuffer()
    expect(Buffer.compare(Buffer.from(pixels.data), expected)).toBe(0)
  })

  it('a costly picture is refused with the same codes, and the error says which image', async () => {
    const damaged = (await photo.clone().resize(4000, 3000).png().toBuffer()).subarray(0, 1_000_000)
    await expect(decodeImage(damaged, defaultLimits, 3)).rejects.toMatchObject({
      code: 'image_unreadable',
      imageIndex: 3,
      message: 'The image is damaged or incomplete.',
    })
  })
})

describe('the decoder process', () => {
  const heavy = zeroPng({ width: 4800, height: 4800, bits: 16, colour: 6, isInterlaced: true })
  const light = zeroPng({ width: 100, height: 80 })

  it('is killed at the deadline: the picture is refused, and the next one has another process', async () => {
    const decoder = new DecoderProcess(300)
    const slow = decoder.decode(heavy, defaultLimits)
    const next = decoder.decode(light, defaultLimits)
    await expect(slow).rejects.toMatchObject({
      code: 'image_unreadable',
      message: expect.stringContaining('takes longer than 0.3 s'),
    })
    expect((await next).width).toBe(100)
    decoder.close()
  })

  it('is killed when the caller of its picture is gone, but not for a picture that waits', async () => {
    const decoder = new DecoderProcess()
    await decoder.decode(light, defaultLimits)
    const first = decoder.processId!
    const [gone, waitingGone] = [new AbortController(), new AbortController()]
    const running = decoder.decode(heavy, defaultLimits, gone.signal)
    const waiting = decoder.decode(light, defaultLimits, waitingGone.signal)
    waitingGone.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' })
    expect(decoder.processId).toBe(first)
    gone.abort()
    await expect(running).rejects.toMatchObject({ code: 'cancelled' })
    expect(() => process.kill(first, 0)).toThrow('ESRCH')
    expect((await decoder.decode(light, defaultLimits)).width).toBe(100)
    decoder.close()
  })

  it('fails only the current picture when it is killed, and the next one is decoded', async () => {
    const decoder = new DecoderProcess()
    await decoder.decode(light, defaultLimits)
    const running = decoder.decode(heavy, defaultLimits)
    process.kill(decoder.processId!, 'SIGKILL')
    const next = decoder.decode(light, defaultLimits)
    await expect(running).rejects.toThrow('the decoder process ended with SIGKILL')
    expect((await next).height).toBe(80)
    decoder.close()
  })
})
