import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { decodeImage } from '../../../src/biometrics/pipeline/decode/decode.js'
import { withPngChunk } from '../../support/coded-pictures.js'
import { pngHeader } from '../../support/images.js'
import { defaultLimits, plainPicture, samplePhoto } from '../fixtures.js'

const decode = (bytes: Uint8Array, limits = defaultLimits) => decodeImage(bytes, limits, 0)
const photo = await sharp(samplePhoto(2)).resize(320, 200).toBuffer()
const encoded = {
  jpeg: await sharp(photo).jpeg().toBuffer(),
  png: await sharp(photo).png().toBuffer(),
  webp: await sharp(photo).webp().toBuffer(),
}

describe('decoding', () => {
  it.each(['jpeg', 'png', 'webp'] as const)('reads %s', async (format) => {
    const image = await decode(encoded[format])
    expect(image).toMatchObject({ format, width: 320, height: 200, sourceScale: 1 })
    expect(image.pixels.data.length).toBe(320 * 200 * 3)
  })

  it.each([2, 3, 4, 5, 6, 7, 8])('applies EXIF orientation %i', async (orientation) => {
    const turned = await sharp(encoded.png).jpeg({ quality: 95 }).withMetadata({ orientation }).toBuffer()
    const image = await decode(turned)
    const expected = await sharp(turned).autoOrient().raw().toBuffer({ resolveWithObject: true })
    expect([image.width, image.height]).toEqual(orientation >= 5 ? [200, 320] : [320, 200])
    expect(Buffer.compare(Buffer.from(image.pixels.data), expected.data)).toBe(0)
  })

  it('brings grey pictures and those with alpha to three bytes a pixel', async () => {
    const variants = await Promise.all([
      sharp(photo).greyscale().jpeg().toBuffer(),
      sharp(photo).ensureAlpha(0.5).png().toBuffer(),
      sharp(photo).ensureAlpha(0.5).webp().toBuffer(),
      sharp(photo).greyscale().ensureAlpha(0.5).png().toBuffer(),
    ])
    for (const bytes of variants) {
      const { pixels } = await decode(bytes)
      expect(pixels.data.length).toBe(320 * 200 * 3)
    }
  })

  it('puts transparency on white', async () => {
    const clear = { r: 0, g: 0, b: 0, alpha: 0 }
    const bytes = await sharp({ create: { width: 80, height: 80, channels: 4, background: clear } })
      .png()
      .toBuffer()
    expect((await decode(bytes)).pixels.data.every((value) => value === 255)).toBe(true)
  })

  it.each([
    [3000, 2000, 3000],
    [3264, 2448, 816],
    [2250, 3999, 563],
    [5760, 3840, 720],
  ])(
    'decodes a photo of %i × %i at a width of %i and remembers the scale',
    async (width, height, decoded) => {
      const image = await decode(await plainPicture(width, height).jpeg().toBuffer())
      expect(image).toMatchObject({ width, height })
      expect(image.pixels.width).toBe(decoded)
      expect(image.sourceScale).toBeCloseTo(
        Math.max(width, height) / Math.max(image.pixels.width, image.pixels.height),
        9,
      )
    },
  )

  it('accepts the wrong scan parameters that some phones write', async () => {
    const bytes = await sharp(photo).jpeg({ progressive: false }).toBuffer()
    const scan = bytes.indexOf(Buffer.from([0xff, 0xda]))
    const lastCoefficient = scan + 2 + bytes.readUInt16BE(scan + 2) - 2
    expect(bytes[lastCoefficient]).toBe(63)
    bytes[lastCoefficient] = 0
    await expect(decode(bytes)).resolves.toBeDefined()
  })

  it('reads a JPEG that lacks only its end marker, with every row as before', async () => {
    const { pixels } = await decode(encoded.jpeg.subarray(0, -2))
    expect(Buffer.compare(pixels.data, (await decode(encoded.jpeg)).pixels.data)).toBe(0)
  })

  it('shows a PNG of linear samples as bright as browsers do', async () => {
    const linear = await sharp(photo).gamma(1, 1).raw().toBuffer({ resolveWithObject: true })
    const { width, height } = linear.info
    const samples = linear.data.map((value) => Math.round(255 * (value / 255) ** 2.2))
    const file = await sharp(samples, { raw: { width, height, channels: 3 } })
      .png()
      .toBuffer()
    const gamma = (exponent: number) => withPngChunk(file, 'gAMA', uint32(exponent))
    const meanDifference = async (png: Buffer) => {
      const { data } = (await decode(png)).pixels
      return data.reduce((sum, value, i) => sum + Math.abs(value - linear.data[i]!), 0) / data.length
    }
    expect(await meanDifference(gamma(100_000))).toBeLessThan(3)
    expect(await meanDifference(gamma(45_455))).toBeGreaterThan(20)
    // A color profile, sRGB and cICP take precedence (PNG specification, third edition, section 4.3).
    expect(await meanDifference(withPngChunk(gamma(100_000), 'sRGB', Buffer.of(0)))).toBeGreaterThan(20)
  })

  it('reads the default picture of current iPhones, and refuses one of 50 megapixels with a way out', async () => {
    const image = await decode(await plainPicture(5712, 4284).jpeg().toBuffer())
    expect(image).toMatchObject({ width: 5712, height: 4284 })
    await expect(decode(pngHeader(8160, 6120))).rejects.toMatchObject({
      code: 'image_too_large',
      message: expect.stringContaining('Send it smaller'),
    })
  })

  it('accepts harmless bytes behind the end of a picture', async () => {
    await expect(decode(Buffer.concat([encoded.jpeg, Buffer.alloc(1000, 7)]))).resolves.toBeDefined()
  })
})

describe('decoding refuses', () => {
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="300"><rect width="9" height="9"/></svg>'
  const hostile: Array<[string, () => Uint8Array | Promise<Uint8Array>]> = [
    ['nothing', () => new Uint8Array(0)],
    ['text', () => Buffer.from('this is not a picture')],
    ['SVG', () => Buffer.from(svg)],
    ['only a JPEG header', () => encoded.jpeg.subarray(0, 20)],
    ['SVG behind a JPEG signature', () => Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.from(svg)])],
    ['a PNG with a damaged chunk', () => flip(encoded.png, encoded.png.length >> 1)],
    ...([0.99, 0.9, 0.5, 0.1] as const).flatMap((part) =>
      (['jpeg', 'png', 'webp'] as const).map((format): [string, () => Uint8Array] => [
        `${format} cut at ${100 * part} %`,
        () => encoded[format].subarray(0, Math.floor(encoded[format].length * part)),
      ]),
    ),
  ]
  it.each(hostile)('refuses %s', async (_, make) => {
    await expect(decode(await make())).rejects.toMatchObject({ code: 'image_unreadable', imageIndex: 0 })
  })

  it('refuses too many pixels, after reading only the header', async () => {
    await expect(decode(pngHeader(5001, 5000))).rejects.toMatchObject({ code: 'image_too_large' })
    const limits = { ...defaultLimits, maxPixels: 320 * 200 }
    await expect(decode(encoded.jpeg, limits)).resolves.toBeDefined()
    await expect(decode(encoded.jpeg, { ...limits, maxPixels: 320 * 200 - 1 })).rejects.toMatchObject({
      code: 'image_too_large',
    })
  })

  it('refuses a side that is too short', async () => {
    const narrow = await plainPicture(300, 63).png().toBuffer()
    await expect(decode(narrow)).rejects.toMatchObject({ code: 'image_too_small' })
  })

  it('refuses a PNG in HLG, and says what it is', async () => {
    await expect(decode(withPngChunk(encoded.png, 'cICP', Buffer.of(9, 18, 0, 1)))).rejects.toMatchObject({
      code: 'image_unreadable',
      message: expect.stringContaining('in HDR (HLG)'),
    })
  })

  it('refuses a progressive JPEG without an end marker, of which scans may be missing', async () => {
    const progressive = await sharp(photo).jpeg({ progressive: true }).toBuffer()
    await expect(decode(progressive.subarray(0, -2))).rejects.toMatchObject({ code: 'image_unreadable' })
  })
})

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function flip(bytes: Uint8Array, position: number): Uint8Array {
  const copy = Uint8Array.from(bytes)
  copy[position]! ^= 0xff
  return copy
}
