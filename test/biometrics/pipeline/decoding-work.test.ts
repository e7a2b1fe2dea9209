import { readFileSync } from 'node:fs'
import sharp from 'sharp'
import { describe, expect, it, onTestFinished } from 'vitest'
import { decodeImage } from '../../../src/biometrics/pipeline/decode/decode.js'
import { DecoderProcess } from '../../../src/biometrics/pipeline/decode/decoder-process.js'
import {
  DECODING_BUDGET,
  type DecodingBudget,
  decoderMemoryBytes,
} from '../../../src/biometrics/pipeline/decode/decoding-budget.js'
import { foreseeWork } from '../../../src/biometrics/pipeline/decode/decoding-work.js'
import {
  withComment,
  withFillByte,
  withFrame,
  withPngChunk,
  withProfile,
} from '../../support/coded-pictures.js'
import { defaultLimits, plainPicture, samplePhoto } from '../fixtures.js'

const photo = sharp(samplePhoto(2))
const small = await photo.clone().resize(640, 480).toBuffer()
const picture = () => sharp(small)
const progressive = await picture().jpeg({ progressive: true }).toBuffer()
const png = await picture().png().toBuffer()
const text = withPngChunk(png, 'zTXt', Buffer.from('k\0\0no text'))

const lowered = (decoding: Partial<DecodingBudget>) => ({ ...defaultLimits, decoding })
const work = (bytes: Uint8Array, budget?: Partial<DecodingBudget>) =>
  foreseeWork(bytes[0] === 0xff ? 'jpeg' : bytes[0] === 0x52 ? 'webp' : 'png', bytes, budget)

describe('the work of decoding', () => {
  it('pictures of cameras, phones and pages are light', async () => {
    const honest = await Promise.all([
      plainPicture(5000, 4800).jpeg().toBuffer(),
      picture().jpeg({ progressive: true }).toBuffer(),
      picture().jpeg().withIccProfile('p3').withMetadata({ orientation: 6 }).toBuffer(),
      picture().greyscale().jpeg().toBuffer(),
      picture().png().toBuffer(),
      picture().webp().toBuffer(),
    ])
    for (const bytes of honest) expect(work(bytes)).toMatchObject({ isLight: true, excess: null })
  })

  it("the predicted size is the decoder's", async () => {
    for (const [width, height] of [
      [321, 203],
      [64, 1000],
    ] as const) {
      const resized = picture().resize(width, height, { fit: 'fill' })
      const files = [
        resized.clone().jpeg().toBuffer(),
        resized.clone().png().toBuffer(),
        resized.clone().webp().toBuffer(),
        resized.clone().ensureAlpha(0.5).webp({ lossless: true }).toBuffer(),
        resized.clone().ensureAlpha(0.5).webp({ quality: 50 }).toBuffer(),
      ]
      for (const file of files) expect(work(await file).size).toEqual({ width, height })
    }
  })

  it.each<[string, () => Buffer | Promise<Buffer>, Partial<DecodingBudget>?]>([
    ['a progressive JPEG of many pixels', () => progressive, { lightScannedPixels: 640 * 480 }],
    ['a JPEG whose header is not plain', async () => withFillByte(await picture().jpeg().toBuffer())],
    ['a JPEG with a color profile that computes', () => withProfile(progressive, 'mpet')],
    ['a JPEG with a color profile in pieces', () => withProfile(withProfile(progressive, 'a'), 'b')],
    ['an arithmetic JPEG', async () => withFrame(await picture().jpeg().toBuffer(), 0xc9)],
    ['an arithmetic progressive JPEG', () => withFrame(progressive, 0xca)],
    ['a PNG of large rows', () => png, { lightPngBytes: 640 * 480 * 3 - 1 }],
    ['a PNG with a packed color profile', () => withPngChunk(png, 'iCCP', Buffer.alloc(9))],
    ['a PNG with packed text', () => text, { lightUnpackedBytes: 100 }],
    ['a large WebP', () => picture().webp().toBuffer(), { lightWebpPixels: 640 * 480 - 1 }],
    ['a lossless WebP', () => picture().webp({ lossless: true }).toBuffer()],
    [
      'a lossless WebP with transparency',
      () => picture().ensureAlpha(0.5).webp({ lossless: true }).toBuffer(),
    ],
    ['a lossy WebP with transparency', () => picture().ensureAlpha(0.5).webp().toBuffer()],
  ])('decoding %s is not light, but allowed', async (_title, make, budget) => {
    expect(work(await make(), budget)).toMatchObject({ isLight: false, excess: null })
  })

  it.each<[string, Buffer, Partial<DecodingBudget>, string]>([
    ['a JPEG of more scans than allowed', progressive, { maxScans: 5 }, 'more than 5 scans'],
    [
      'a JPEG whose scans come behind a comment that holds an end of image',
      withComment(progressive, Buffer.of(0xff, 0xd9)),
      { maxScans: 5 },
      'more than 5 scans',
    ],
    [
      'a JPEG of more scanned pixels',
      progressive,
      { maxScannedPixels: 640 * 480 },
      'scans of 640×480 pixels',
    ],
    ['a PNG of more text', text, { maxUnpackedBytes: 1000 }, 'more compressed text than a picture needs'],
  ])('decoding %s is too much work: no decoder sees it', async (_title, bytes, budget, reason) => {
    await expect(decodeImage(bytes, lowered(budget), 0)).rejects.toMatchObject({
      code: 'image_unreadable',
      imageIndex: 0,
      message: expect.stringContaining(reason),
    })
  })
})

/** A progressive picture is not light under this budget, nor is any PNG. */
const NOTHING_LIGHT = { lightScannedPixels: 0, lightPngBytes: 0 }

describe('a picture that is not light', () => {
  it('is decoded in a process of its own to the same pixels', async () => {
    const { pixels, ...image } = await decodeImage(progressive, lowered(NOTHING_LIGHT), 0)
    expect(image).toEqual({ format: 'jpeg', width: 640, height: 480, sourceScale: 1 })
    const expected = await sharp(progressive).raw().toBuffer()
    expect(Buffer.compare(Buffer.from(pixels.data), expected)).toBe(0)
  })

  it('is refused with the same codes, and the error says which image', async () => {
    const damaged = png.subarray(0, png.length / 2)
    await expect(decodeImage(damaged, lowered(NOTHING_LIGHT), 3)).rejects.toMatchObject({
      code: 'image_unreadable',
      imageIndex: 3,
      message: 'The image is damaged or incomplete.',
    })
  })
})

describe('the decoder process', () => {
  const outOfTime = { ...defaultLimits, decoding: { deadlineMs: 0 } }
  /** One that has decoded a picture. */
  async function started(limits: typeof defaultLimits = defaultLimits): Promise<DecoderProcess> {
    const decoder = new DecoderProcess()
    onTestFinished(() => decoder.close())
    await decoder.decode(png, limits)
    return decoder
  }

  it('is killed at the deadline: the picture is refused, and the next one has another process', async () => {
    const decoder = await started()
    const first = decoder.processId
    const slow = decoder.decode(await photo.clone().resize(2400, 1800).png().toBuffer(), outOfTime)
    const next = decoder.decode(png, defaultLimits)
    await expect(slow).rejects.toMatchObject({
      code: 'image_unreadable',
      message: expect.stringContaining('takes longer than 0 s'),
    })
    expect((await next).width).toBe(640)
    expect(decoder.processId).not.toBe(first)
  })

  it('is killed when the caller of its picture is gone, but not for a picture that waits', async () => {
    const decoder = await started()
    const first = decoder.processId!
    const [gone, waitingGone] = [new AbortController(), new AbortController()]
    const running = decoder.decode(png, defaultLimits, gone.signal)
    const waiting = decoder.decode(png, defaultLimits, waitingGone.signal)
    waitingGone.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' })
    expect(decoder.processId).toBe(first)
    gone.abort()
    await expect(running).rejects.toMatchObject({ code: 'cancelled' })
    expect(() => process.kill(first, 0)).toThrow('ESRCH')
    expect((await decoder.decode(png, defaultLimits)).width).toBe(640)
  })

  it('fails only the current picture when it is killed, and the next one is decoded', async () => {
    const decoder = await started()
    const running = decoder.decode(png, defaultLimits)
    process.kill(decoder.processId!, 'SIGKILL')
    const next = decoder.decode(png, defaultLimits)
    await expect(running).rejects.toThrow('the decoder process ended with SIGKILL')
    expect((await next).height).toBe(480)
  })

  describe.skipIf(process.platform !== 'linux')('on Linux', () => {
    it('has the memory that the largest accepted picture needs, and no more', async () => {
      const decoder = await started()
      const limits = readFileSync(`/proc/${decoder.processId}/limits`, 'utf8')
      expect(Number(/Max data size +(\d+)/.exec(limits)![1])).toBe(
        Math.floor(DECODING_BUDGET.memoryBytes / 1024) * 1024,
      )
      expect(decoderMemoryBytes(defaultLimits.maxPixels)).toBeLessThanOrEqual(DECODING_BUDGET.memoryBytes)
    })

    it('refuses a picture for which its memory does not suffice, and the next one has another process', async () => {
      const little = lowered({ memoryBytes: 200 * 1024 * 1024 })
      const decoder = await started(little)
      const large = await plainPicture(4800, 4800)
        .jpeg({ progressive: true, chromaSubsampling: '4:4:4' })
        .toBuffer()
      const first = decoder.processId
      const refused = decoder.decode(large, little).then(({ width }) => width)
      const next = decoder.decode(png, little)
      await expect(refused).rejects.toMatchObject({
        code: 'image_unreadable',
        message: 'The image takes more than 200 MiB of memory to decode; save it again as an ordinary JPEG.',
      })
      expect((await next).width).toBe(640)
      expect(decoder.processId).not.toBe(first)
    })
  })
})
