/** Real faces: cut out of the sample photos inside @vladmandic/face-api (pinned), re-photographed in several ways. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import sharp, { type Sharp } from 'sharp'

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

/**
 * `adaToday` is Ada's photo taken again: tilted, darker, from further away, compressed harder. It has to differ by enough that no processor
 * takes it for the same capture: the networks in 8 bits, which not all of them run, see a little less of a difference than those in 32.
 */
export type FaceName = keyof typeof FACES | 'adaToday'

const made = new Map<string, Promise<Buffer>>()

/** A JPEG with this one face, `side` pixels square: a copy, which may be spoilt, of one that is made once. */
export async function face(name: FaceName, side?: number): Promise<Buffer> {
  const key = `${name} ${side}`
  const photo = made.get(key) ?? cutOut(name, side)
  made.set(key, photo)
  return Buffer.from(await photo)
}

/** The same face in bytes that no engine has answered before (`shared-engine.ts`), so that it is busy with them. A decoder ignores the last ones. */
export async function unseenFace(name: FaceName): Promise<Buffer> {
  return Buffer.concat([await face(name), randomBytes(8)])
}

async function cutOut(name: FaceName, side?: number): Promise<Buffer> {
  const [sample, x, y, usual] = FACES[name === 'adaToday' ? 'ada' : name]
  const size = side ?? usual
  const left = Math.round(x - size / 2)
  const top = Math.max(0, Math.round(y - size / 2))
  const crop = sharp(readFileSync(join(SAMPLES, sample))).extract({ left, top, width: size, height: size })
  if (name !== 'adaToday') return crop.jpeg({ quality: 90 }).toBuffer()
  return sharp(await crop.png().toBuffer())
    .rotate(10, { background: '#404040' })
    .resize(Math.round(size * 0.7))
    .modulate({ brightness: 0.7 })
    .jpeg({ quality: 50 })
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

/** The photo changed in this way, as a JPEG where the change names no format. */
export async function altered(name: FaceName, change: (photo: Sharp) => Sharp): Promise<Buffer> {
  return change(sharp(await face(name))).toBuffer()
}

/** A photo as a request carries it. */
export async function photoOf(name: FaceName, side?: number): Promise<string> {
  return base64(await face(name, side))
}

/** Several of them, in order. */
export function photosOf<Names extends FaceName[]>(
  ...names: Names
): Promise<{ [Name in keyof Names]: string }> {
  return Promise.all(names.map((name) => photoOf(name))) as Promise<{ [Name in keyof Names]: string }>
}

export function base64(image: Uint8Array): string {
  return Buffer.from(image).toString('base64')
}
