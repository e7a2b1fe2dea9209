/** Signals that the service finds in the files of a capture, next to those that a browser reported. */
import sharp, { type Sharp } from 'sharp'
import { describe, expect, it } from 'vitest'
import { captureIntegrity } from '../../src/verification/capture/capture-integrity.js'
import { altered, face } from '../support/faces.js'

const REPORT = { capture_integrity: { signals: [] } }
const CHALLENGE = { ...REPORT, challenge: { challenge_id: 'chl_1', nonce: 'n', frames: [] } }
const REPEATED = { code: 'repeated_picture', source: 'server' }
const MIXED = { code: 'mixed_frames', source: 'server' }

/** Frames as an encoder makes them of a moving head: each is another picture, all are of one size and one quality. */
async function frames(): Promise<Buffer[]> {
  const ada = await face('ada')
  return Promise.all(
    Array.from({ length: 6 }, (_, index) =>
      sharp(ada)
        .modulate({ brightness: 1 + index / 100 })
        .jpeg({ quality: 85 })
        .toBuffer(),
    ),
  )
}

/** Inserts a comment after the first marker of a JPEG: another file with the same picture. */
const commented = (jpeg: Buffer) =>
  Buffer.concat([jpeg.subarray(0, 2), Buffer.from([0xff, 0xfe, 0, 6]), Buffer.from('note'), jpeg.subarray(2)])

const signals = async (
  input: Parameters<typeof captureIntegrity>[0] & { challenge?: object },
  images: Buffer[],
) => (await captureIntegrity(input, images, input.challenge !== undefined))!.signals

describe('the signals of a capture', () => {
  it('are none without a report of the browser, even where a picture is there twice', async () => {
    const [one] = await frames()
    expect(await captureIntegrity({}, [one!, one!], false)).toBe(null)
  })

  it('are the ones that the browser reported, marked as such, where the pictures show none', async () => {
    const report = { capture_integrity: { signals: ['virtual_camera', 'frame_timing'] as const } }
    expect(await signals({ ...CHALLENGE, ...report } as never, await frames())).toEqual([
      { code: 'virtual_camera', source: 'client' },
      { code: 'frame_timing', source: 'client' },
    ])
  })

  it.each([
    ['the same file', (jpeg: Buffer) => jpeg],
    ['the same picture under other metadata', commented],
    [
      'the same picture with bytes after its end',
      (jpeg: Buffer) => Buffer.concat([jpeg, Buffer.from('more')]),
    ],
  ])('name a repeat of %s', async (_, again) => {
    const made = await frames()
    expect(await signals(CHALLENGE, [...made, again(made[2]!)])).toEqual([REPEATED])
    expect(await signals(REPORT, [made[2]!, again(made[2]!)])).toEqual([REPEATED])
  })

  it('name the repeat of a file that is no JPEG', async () => {
    const png = await altered('ada', (photo) => photo.png())
    expect(await signals(REPORT, [png, png])).toEqual([REPEATED])
    expect(await signals(REPORT, [png, Buffer.concat([png.subarray(0, -1), Buffer.from([7])])])).toEqual([])
  })

  it.each([
    ['another quality', (image: Sharp) => image.jpeg({ quality: 80 })],
    ['another size', (image: Sharp) => image.resize(400).jpeg({ quality: 85 })],
    ['another format', (image: Sharp) => image.png()],
  ])('name frames of a challenge of which one has %s, but no such photos', async (_, encode) => {
    const made = await frames()
    const other = await encode(sharp(await face('ada')).modulate({ brightness: 1.2 })).toBuffer()
    expect(await signals(CHALLENGE, [...made, other])).toEqual([MIXED])
    expect(await signals(REPORT, [...made, other])).toEqual([])
  })

  it.each([
    ['empty', Buffer.alloc(0)],
    ['cut off in its header', Buffer.from([0xff, 0xd8, 0xff, 0xdb, 0xff])],
    [
      'a header that never ends',
      Buffer.concat([Buffer.from([0xff, 0xd8]), Buffer.from('ffdb0002'.repeat(100_000), 'hex')]),
    ],
    ['a segment without a length', Buffer.from([0xff, 0xd8, 0xff, 0xdb, 0, 0, 0xff])],
  ])('are found in a damaged file too: %s', async (_, file) => {
    expect(await signals(REPORT, [file])).toEqual([])
    expect(await signals(REPORT, [file, file])).toEqual([REPEATED])
  })
})
