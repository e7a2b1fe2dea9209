/** Files that are, or only claim to be, images: each refused for a reason of its own. */
import { deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { pngChunk } from './coded-pictures.js'
import { face, groupPhoto, landscape } from './faces.js'

/** A picture of one colour, usable wherever nobody looks for a face. */
export function plain(width = 96, height = 96): Promise<Buffer> {
  return sharp({ create: { width, height, channels: 3, background: '#5a82aa' } })
    .png()
    .toBuffer()
}

/** A picture of one colour as a request carries it. */
export const blank = (await plain()).toString('base64')

/** A small PNG file whose header announces a picture of this size, which it does not hold. */
export function pngHeader(width: number, height: number): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // 8 bits a sample, RGB.
  header.set([8, 2, 0, 0, 0], 8)
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(Buffer.alloc(1024))),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

/** Ada, photographed by a camera that hangs upside down. */
export async function upsideDownFace(): Promise<Buffer> {
  return sharp(await face('ada'))
    .rotate(180)
    .jpeg()
    .toBuffer()
}

/** A face of well under 80 pixels in a picture that is otherwise plain. */
export async function distantFace(): Promise<Buffer> {
  const small = await sharp(await face('ada', 300))
    .resize(60)
    .toBuffer()
  return sharp({ create: { width: 480, height: 480, channels: 3, background: '#808080' } })
    .composite([{ input: small, left: 150, top: 150 }])
    .jpeg()
    .toBuffer()
}

/** A face that is there, and too blurred to compare. */
export async function blurredFace(): Promise<Buffer> {
  const coarse = await sharp(await face('ada'))
    .resize(40)
    .toBuffer()
  return sharp(coarse).resize(440, 440, { kernel: 'cubic' }).png().toBuffer()
}

/** An image for each code with which the service refuses one that it could read. */
export const UNUSABLE: ReadonlyArray<[code: string, make: () => Buffer | Promise<Buffer>]> = [
  ['image_too_large', () => pngHeader(5001, 5000)],
  ['image_too_small', () => plain(63, 200)],
  ['face_not_found', landscape],
  ['multiple_faces', groupPhoto],
  ['face_too_small', distantFace],
  ['face_not_upright', upsideDownFace],
  ['low_quality', blurredFace],
]

/** Files that no decoder of the service may touch, or that fail while they are decoded. Each gets `image_unreadable`. */
export async function unreadableFiles(): Promise<Record<string, Buffer>> {
  const jpeg = await face('ada')
  return {
    text: Buffer.from('This is not an image.'),
    'an SVG': Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="200"><rect width="9" height="9"/></svg>',
    ),
    'a GIF': await sharp(jpeg).gif().toBuffer(),
    'a TIFF': await sharp(jpeg).tiff().toBuffer(),
    'a truncated JPEG': jpeg.subarray(0, jpeg.length / 2),
    'a truncated PNG': (await sharp(jpeg).png().toBuffer()).subarray(0, 20_000),
    'a JPEG of its first bytes alone': jpeg.subarray(0, 20),
  }
}

/** The beginning of a photo as an iPhone writes it: a file type box of HEIC (ISO/IEC 23008-12), and no picture. */
export function heicHeader(): Buffer {
  return boxedFile('heic', 'mif1', 'heic')
}

/** A file type box of ISO/IEC 14496-12, padded to the size of a small file. */
export function boxedFile(brand: string, ...compatible: string[]): Buffer {
  const names = Buffer.from(['ftyp', brand, '\0\0\0\0', ...compatible].join(''), 'latin1')
  const size = Buffer.alloc(4)
  size.writeUInt32BE(4 + names.length)
  return Buffer.concat([size, names, Buffer.alloc(4096)])
}
