/** Real faces: cut out of the sample photos inside @vladmandic/face-api (pinned), re-photographed in several ways. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import sharp from 'sharp'

const SAMPLES = join(
  dirname(createRequire(import.meta.url).resolve('@vladmandic/face-api/package.json')),
  'demo',
)

/** Centres of faces in the samples, and how wide a square is cut around them, in pixels. */
const FACES = {
  ada: ['sample3.jpg', 1137, 384, 440],
  /** Ada in another picture, on another day. */
  adaElsewhere: ['sample1.jpg', 1560, 350, 560],
  grace: ['sample6.jpg', 1591, 464, 440],
  mary: ['sample5.jpg', 1513, 560, 440],
  joan: ['sample6.jpg', 362, 662, 440],
} as const

/** `adaToday` is Ada's photo taken again: tilted, darker, from further away, compressed harder. */
export type FaceName = keyof typeof FACES | 'adaToday'

/** A JPEG with this one face, `side` pixels square. */
export async function face(name: FaceName, side?: number): Promise<Buffer> {
  const [sample, x, y, usual] = FACES[name === 'adaToday' ? 'ada' : name]
  const size = side ?? usual
  const left = Math.round(x - size / 2)
  const top = Math.max(0, Math.round(y - size / 2))
  const crop = sharp(readFileSync(join(SAMPLES, sample))).extract({ left, top, width: size, height: size })
  if (name !== 'adaToday') return crop.jpeg({ quality: 90 }).toBuffer()
  return sharp(await crop.png().toBuffer())
    .rotate(7, { background: '#404040' })
    .resize(size)
    .modulate({ brightness: 0.8 })
    .jpeg({ quality: 70 })
    .toBuffer()
}

/** The whole group photo: several faces. */
export function groupPhoto(): Buffer {
  return readFileSync(join(SAMPLES, 'sample4.jpg'))
}

/** A picture without a face. */
export function landscape(): Promise<Buffer> {
  return sharp({
    create: {
      width: 400,
      height: 300,
      channels: 3,
      background: '#808080',
      noise: { type: 'gaussian', mean: 128, sigma: 20 },
    },
  })
    .jpeg()
    .toBuffer()
}

/** The same capture again, as another device would send it. */
export const REPHOTOGRAPHED: Record<string, (image: Buffer) => Promise<Buffer>> = {
  're-encoded at quality 60': (image) => sharp(image).jpeg({ quality: 60 }).toBuffer(),
  'as WebP': (image) => sharp(image).webp({ quality: 80 }).toBuffer(),
  'as PNG': (image) => sharp(image).png().toBuffer(),
  'rotated by 6 degrees': (image) => sharp(image).rotate(6, { background: '#808080' }).jpeg().toBuffer(),
  darkened: (image) => sharp(image).modulate({ brightness: 0.7 }).jpeg().toBuffer(),
  'scaled to 300 pixels': (image) => sharp(image).resize(300).jpeg().toBuffer(),
  'scaled to 900 pixels': (image) => sharp(image).resize(900).jpeg().toBuffer(),
}

export function base64(image: Uint8Array): string {
  return Buffer.from(image).toString('base64')
}
