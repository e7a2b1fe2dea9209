/** Photos that every installation has: the samples inside @vladmandic/face-api, whose version is pinned. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import sharp, { type Sharp } from 'sharp'

export async function samplePhoto(file: string): Promise<Buffer> {
  const root = dirname(createRequire(import.meta.url).resolve('@vladmandic/face-api/package.json'))
  return readFile(join(root, 'demo', file))
}

const SAMPLES = ['sample1.jpg', 'sample2.jpg', 'sample3.jpg', 'sample4.jpg', 'sample5.jpg', 'sample6.jpg']

/** Poorer pictures (darker, smaller, turned over) are where graphs differ first. */
const VIEWS: ReadonlyArray<(image: Sharp) => Sharp> = [
  (image) => image,
  (image) => image.flop(),
  (image) => image.modulate({ brightness: 0.5 }),
  (image) => image.resize(480),
]

/** Gives the same bytes every time, with the same version of sharp. */
export async function agreementPhotos(): Promise<Buffer[]> {
  const photos: Buffer[] = []
  for (const file of SAMPLES) {
    const bytes = await samplePhoto(file)
    for (const view of VIEWS) photos.push(await view(sharp(bytes)).jpeg({ quality: 90 }).toBuffer())
  }
  return photos
}
