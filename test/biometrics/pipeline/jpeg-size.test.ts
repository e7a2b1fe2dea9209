import fc from 'fast-check'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { jpegSize } from '../../../src/biometrics/pipeline/decode/jpeg-size.js'
import { checkAsync } from '../../support/properties.js'
import { samplePhoto } from '../fixtures.js'

const photo = sharp(samplePhoto(2))
const variants = {
  baseline: photo.clone().resize(321, 203).jpeg(),
  progressive: photo.clone().resize(203, 321).jpeg({ progressive: true }),
  grey: photo.clone().resize(64, 65).greyscale().jpeg(),
  'with EXIF and a colour profile': photo
    .clone()
    .resize(300, 200)
    .withMetadata({ orientation: 6 })
    .withIccProfile('p3')
    .jpeg(),
}

describe('the size of a JPEG', () => {
  it.each(Object.entries(variants))(
    'the size read from the header is the decoder’s: %s',
    async (_name, picture) => {
      const bytes = await picture.toBuffer()
      const { width, height } = await sharp(bytes).metadata()
      expect(jpegSize(bytes)).toEqual({ width, height })
    },
  )

  it('a header that is cut off or missing gives no size', async () => {
    const bytes = await variants['with EXIF and a colour profile'].toBuffer()
    const size = jpegSize(bytes)
    const frame = bytes.indexOf(Buffer.of(0xff, 0xc0))
    for (let length = 0; length < frame + 9; length++) expect(jpegSize(bytes.subarray(0, length))).toBeNull()
    expect(jpegSize(bytes.subarray(0, frame + 9))).toEqual(size)
    const heightLater = Buffer.from(bytes)
    heightLater.writeUInt16BE(0, frame + 5)
    expect(jpegSize(heightLater)).toBeNull()
  })

  it('a damaged header gives the decoder’s size or none', async () => {
    const bytes = await variants.baseline.toBuffer()
    const damage = fc.array(fc.tuple(fc.nat(bytes.indexOf(Buffer.of(0xff, 0xda))), fc.nat(255)), {
      minLength: 1,
      maxLength: 4,
    })
    let told = 0
    await checkAsync(
      fc.asyncProperty(damage, async (changes) => {
        const damaged = Buffer.from(bytes)
        for (const [offset, value] of changes) damaged[offset] = value
        const size = jpegSize(damaged)
        const decoded = await sharp(damaged, { failOn: 'none' })
          .metadata()
          .catch(() => null)
        if (!size || !decoded) return
        told++
        expect(size).toEqual({ width: decoded.width, height: decoded.height })
      }),
    )
    expect(told).toBeGreaterThan(0)
  })
})
