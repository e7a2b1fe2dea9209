/** Photos to try: faces cut out of the sample pictures that @vladmandic/face-api ships; its version is pinned, so the places hold. */
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp, { type Sharp } from 'sharp'
import { samplePhoto } from '../models/sample-photos.js'

const SIDE_PX = 440
/** How much more is cut out of what is then turned, so that no corner is empty. */
const MARGIN = 1.5

interface Shot {
  file: string
  sample: string
  /** Of the face, in pixels. */
  centre: [x: number, y: number]
  /** From how far away: the side of what is cut out. */
  sidePx?: number
  tiltDegrees?: number
  mirrored?: boolean
  brightness?: number
}

const ADA = { sample: 'sample3.jpg', centre: [1137, 384] } satisfies Partial<Shot>

/**
 * Three views of Ada to enrol, made of one picture. Her photo of today is another picture of her, as a verify's is: a second
 * copy of what was enrolled would be a replay. Grace is somebody else.
 */
const SHOTS: Shot[] = [
  { ...ADA, file: 'ada.jpg' },
  { ...ADA, file: 'ada-2.jpg', sidePx: 460, tiltDegrees: 4, brightness: 0.9 },
  { ...ADA, file: 'ada-3.jpg', sidePx: 420, tiltDegrees: -4, brightness: 1.1, mirrored: true },
  { file: 'ada-today.jpg', sample: 'sample1.jpg', centre: [1560, 350], sidePx: 560 },
  { file: 'grace.jpg', sample: 'sample6.jpg', centre: [1591, 464] },
]

/** What is there already stays. */
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
