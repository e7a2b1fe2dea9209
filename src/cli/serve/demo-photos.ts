/** Photos for trying: faces cut out of the sample pictures in @vladmandic/face-api, whose pinned version keeps their positions valid. */
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp, { type Sharp } from 'sharp'
import { samplePhoto } from '../../lib/sample-photo.js'

const SIDE_PX = 440
/** Factor by which more is cut out of a picture that is then rotated, so that no corner is empty. */
const MARGIN = 1.5

interface Shot {
  file: string
  sample: string
  /** Center of the face in the picture, in pixels. */
  centre: [x: number, y: number]
  /** Side of the square that is cut out, in pixels. */
  sidePx?: number
  tiltDegrees?: number
  mirrored?: boolean
  brightness?: number
}

const ADA = { sample: 'sample3.jpg', centre: [1137, 384] } satisfies Partial<Shot>

/**
 * Three photos of Ada to enroll, made of one picture. Her photo of today is another picture, as in a real verify: a second
 * copy of an enrolled picture would be a replay. Grace is somebody else.
 */
const SHOTS: Shot[] = [
  { ...ADA, file: 'ada.jpg' },
  { ...ADA, file: 'ada-2.jpg', sidePx: 460, tiltDegrees: 4, brightness: 0.9 },
  { ...ADA, file: 'ada-3.jpg', sidePx: 420, tiltDegrees: -4, brightness: 1.1, mirrored: true },
  { file: 'ada-today.jpg', sample: 'sample1.jpg', centre: [1560, 350], sidePx: 560 },
  { file: 'grace.jpg', sample: 'sample6.jpg', centre: [1591, 464] },
]

/** Writes the photos that are missing and leaves existing files as they are. */
export async function writeDemoPhotos(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true })
  for (const shot of SHOTS) {
    const path = join(dir, shot.file)
    if (!existsSync(path)) await writeFile(path, await take(shot))
  }
}

async function take(shot: Shot): Promise<Buffer> {
  const { centre, sidePx = SIDE_PX, tiltDegrees = 0, mirrored = false, brightness = 1 } = shot
  const sample = await samplePhoto(shot.sample)
  const wide = await square(sharp(sample), centre, tiltDegrees === 0 ? sidePx : sidePx * MARGIN)
  const turned = await sharp(wide).rotate(tiltDegrees).png().toBuffer({ resolveWithObject: true })
  const { width, height } = turned.info
  const close = await square(sharp(turned.data), [width / 2, height / 2], sidePx)
  const photo = sharp(close).flop(mirrored).modulate({ brightness }).resize(SIDE_PX)
  return photo.jpeg({ quality: 88 }).toBuffer()
}

function square(image: Sharp, [x, y]: readonly [number, number], side: number): Promise<Buffer> {
  const [left, top] = [Math.max(0, Math.round(x - side / 2)), Math.max(0, Math.round(y - side / 2))]
  return image.extract({ left, top, width: side, height: side }).png().toBuffer()
}
