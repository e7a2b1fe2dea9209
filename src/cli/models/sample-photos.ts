/** Photos of faces for the comparison of graphs, made of the sample pictures that every installation has. */
import sharp, { type Sharp } from 'sharp'
import { samplePhoto } from '../../lib/sample-photo.js'

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
