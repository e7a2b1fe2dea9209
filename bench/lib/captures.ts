/** Test pictures: one person as a phone's camera would show her, 640×480 JPEG, no two files alike. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import sharp from 'sharp'

const SIZE = { width: 640, height: 480 } as const

/**
 * Centers of the pictures, in pixels of photos that the pinned package ships. They are cut out unscaled; the user's
 * center lies next to the face, so that no detector takes a neighbor's hair for a second face.
 */
const FRAMES = {
  user: { sample: 'sample3.jpg', x: 1207, y: 384 },
  stranger: { sample: 'sample6.jpg', x: 1591, y: 464 },
} as const

/** JPEG quality of the first picture; each further one is encoded a step better, up to the span. */
const QUALITY = { lowest: 84, span: 12 } as const
/** The camera moves by `step` pixels between pictures, to and fro over the span. */
const DRIFT_PX = { step: 2, span: 7 } as const

/**
 * Pictures for enrollment and for verification: one face, each picture framed and encoded a little differently. All
 * are cut from one photo, so that every pack recognizes the person.
 */
export interface Captures {
  enrolImages: Buffer[]
  verifyImages: Buffer[]
}

const COUNTS = { enrol: 4, verify: 12 } as const

export async function takeCaptures(): Promise<Captures> {
  const all = await photograph('user', COUNTS.enrol + COUNTS.verify)
  return { enrolImages: all.slice(0, COUNTS.enrol), verifyImages: all.slice(COUNTS.enrol) }
}

/** Pictures of somebody else, whom no verify may approve. */
export function takeStrangers(): Promise<Buffer[]> {
  return photograph('stranger', COUNTS.verify)
}

/** @returns `count` JPEG files */
async function photograph(person: keyof typeof FRAMES, count: number): Promise<Buffer[]> {
  const { sample, x, y } = FRAMES[person]
  const folder = dirname(createRequire(import.meta.url).resolve('@vladmandic/face-api/package.json'))
  const source = await readFile(join(folder, 'demo', sample))
  return Promise.all(
    Array.from({ length: count }, (_, i) => {
      const drift = ((i % DRIFT_PX.span) - (DRIFT_PX.span >> 1)) * DRIFT_PX.step
      return sharp(source)
        .extract({
          left: x - SIZE.width / 2 + drift,
          top: y - SIZE.height / 2 - drift,
          ...SIZE,
        })
        .jpeg({ quality: QUALITY.lowest + (i % QUALITY.span) })
        .toBuffer()
    }),
  )
}

/**
 * Standard deviation of the grain, in gray levels of 255, that enlarged pictures get: without it, their files would
 * be far too small.
 */
const GRAIN = 14

/** Returns the same pictures with more pixels, and with the grain of a sensor. */
export async function enlarge(images: readonly Buffer[], width: number, height: number): Promise<Buffer[]> {
  const noise = { type: 'gaussian', mean: 128, sigma: GRAIN } as const
  const grain = await sharp({ create: { width, height, channels: 3, background: '#808080', noise } })
    .png({ compressionLevel: 0 })
    .toBuffer()
  return Promise.all(
    images.map((image) =>
      sharp(image)
        .resize(width, height, { fit: 'cover' })
        .composite([{ input: grain, blend: 'soft-light' }])
        .jpeg({ quality: QUALITY.lowest + QUALITY.span / 2 })
        .toBuffer(),
    ),
  )
}

/** Sizes in bytes of the smallest and the largest picture, for the report. */
export function describeSizes(images: readonly Buffer[]): string {
  const kilobytes = images.map(({ length }) => length / 1000)
  return `${SIZE.width}×${SIZE.height} JPEG, ${Math.min(...kilobytes).toFixed(0)} to ${Math.max(...kilobytes).toFixed(0)} kB`
}
