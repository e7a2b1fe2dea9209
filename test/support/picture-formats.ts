/** Photos as phones, cameras and programs make them, each from the same face, and the table of docs/accuracy.md on them. */
import sharp, { type Sharp } from 'sharp'
import { markdownTable } from '../../src/lib/markdown-table.js'
import { withPngChunk, withSegment } from './coded-pictures.js'
import { boxedFile, heicHeader } from './images.js'

export interface PictureFormat {
  name: string
  make: (jpeg: Buffer) => Promise<Buffer> | Buffer
  /** Largest difference of its score from that of the plain JPEG; the beginning of the message for a format that is refused. */
  answer: number | string
}

export const PICTURE_FORMATS: readonly PictureFormat[] = [
  taken('JPEG with a second picture behind it (MPF), as of phones with several lenses', 0, withSecondPicture),
  taken('Motion photo: a JPEG with a video behind it', 0, (jpeg) => Buffer.concat([jpeg, boxedFile('mp42')])),
  taken('Ultra HDR JPEG: its plain picture counts, without the gain map', 0.05, withGainMap),
  taken('JPEG, progressive', 0.02, (jpeg) => sharp(jpeg).jpeg({ progressive: true, quality: 95 }).toBuffer()),
  taken('JPEG without color subsampling (4:4:4)', 0.02, (jpeg) =>
    sharp(jpeg).jpeg({ chromaSubsampling: '4:4:4', quality: 95 }).toBuffer(),
  ),
  taken('JPEG that lies on its side, with its EXIF orientation', 0.02, async (jpeg) =>
    sharp(await sharp(jpeg).rotate(270).toBuffer())
      .withMetadata({ orientation: 6 })
      .jpeg({ quality: 95 })
      .toBuffer(),
  ),
  taken('JPEG that lacks only its end marker', 0, (jpeg) => jpeg.subarray(0, -2)),
  taken('JPEG in Display P3, as of iPhones', 0.02, (jpeg) =>
    sharp(jpeg).withIccProfile('p3').jpeg({ quality: 95 }).toBuffer(),
  ),
  taken('JPEG in CMYK', 0.05, (jpeg) => sharp(jpeg).toColourspace('cmyk').jpeg({ quality: 95 }).toBuffer()),
  taken('JPEG in gray', 0.1, (jpeg) => sharp(jpeg).greyscale().jpeg({ quality: 95 }).toBuffer()),
  taken('PNG', 0.001, (jpeg) => sharp(jpeg).png().toBuffer()),
  taken('PNG of 16 bits', 0.001, (jpeg) => sharp(jpeg).toColourspace('rgb16').png().toBuffer()),
  taken('PNG, interlaced', 0.001, (jpeg) => sharp(jpeg).png({ progressive: true }).toBuffer()),
  taken('PNG of 256 colors', 0.05, (jpeg) => sharp(jpeg).png({ palette: true }).toBuffer()),
  taken('PNG of linear samples (gAMA 1.0)', 0.05, linearPng),
  taken('WebP, lossless', 0.001, (jpeg) => sharp(jpeg).webp({ lossless: true }).toBuffer()),
  taken('WebP, lossy', 0.02, (jpeg) => sharp(jpeg).webp({ quality: 95 }).toBuffer()),
  refused('PNG in HDR (cICP with PQ)', 'The image is a PNG in HDR (PQ), which is not read.', async (jpeg) =>
    withPngChunk(await sharp(jpeg).png().toBuffer(), 'cICP', Buffer.of(9, 16, 0, 1)),
  ),
  refused('WebP with an animation', 'The image is animated.', animatedWebp),
  refused('PNG with an animation', 'The image is animated.', async (jpeg) =>
    withPngChunk(await sharp(jpeg).png().toBuffer(), 'acTL', Buffer.of(0, 0, 0, 1, 0, 0, 0, 0)),
  ),
  foreign('HEIC, as of iPhones', 'a HEIC file', heicHeader),
  foreign('AVIF', 'an AVIF file', (jpeg) => sharp(jpeg).avif({ effort: 0 }).toBuffer()),
  foreign('HEIF with another coding', 'a HEIF file', () => boxedFile('avci', 'mif1')),
  foreign('GIF', 'a GIF file', (jpeg) => sharp(jpeg).gif().toBuffer()),
  foreign('TIFF', 'a TIFF file', (jpeg) => sharp(jpeg).tiff().toBuffer()),
  foreign('BigTIFF', 'a BigTIFF file', (jpeg) => sharp(jpeg).tiff({ bigtiff: true }).toBuffer()),
  foreign('BMP', 'a BMP file', () => beginning('BM')),
  foreign('Photoshop PSD', 'a Photoshop PSD file', () => beginning('8BPS\0\x01')),
  foreign('JPEG 2000', 'a JPEG 2000 file', () => beginning('\0\0\0\x0cjP  \r\n\x87\n')),
  foreign('JPEG 2000 without a container, as in identity documents', 'a JPEG 2000 file', () =>
    beginning('\xff\x4f\xff\x51'),
  ),
  foreign('JPEG XL', 'a JPEG XL file', () => beginning('\xff\x0a')),
  foreign('Fujifilm RAF', 'a Fujifilm RAF file', () => beginning('FUJIFILMCCD-RAW ')),
  foreign('Canon CR3', 'a Canon CR3 file', () => boxedFile('crx ', 'isom')),
]

/** The table of docs/accuracy.md: the photos by what becomes of them. */
export function formatsTable(): string {
  const namesOf = new Map<string, string[]>()
  for (const { name, answer } of PICTURE_FORMATS) {
    const becomes = outcomeOf(answer)
    namesOf.set(becomes, [...(namesOf.get(becomes) ?? []), name])
  }
  return markdownTable(
    ['Compared with the plain JPEG', 'Photos'],
    [...namesOf].map(([becomes, names]) => [becomes, names.join('; ')]),
  )
}

function outcomeOf(answer: PictureFormat['answer']): string {
  if (answer === 0) return 'the same score'
  if (typeof answer === 'number') return `a score within ${answer} of it`
  return answer.endsWith('not a JPEG, PNG or WebP file.')
    ? 'refused: the message names the format'
    : `refused: “${answer}”`
}

function taken(name: string, answer: number, make: PictureFormat['make']): PictureFormat {
  return { name, answer, make }
}

function refused(name: string, answer: string, make: PictureFormat['make']): PictureFormat {
  return { name, answer, make }
}

function foreign(name: string, what: string, make: PictureFormat['make']): PictureFormat {
  return refused(name, `The image is ${what}, not a JPEG, PNG or WebP file.`, make)
}

/** The first bytes of a file that no program of the test writes: only they are looked at. */
function beginning(magic: string): Buffer {
  return Buffer.concat([Buffer.from(magic, 'latin1'), Buffer.alloc(4096)])
}

/** An index of pictures (CIPA DC-007) in front, and another picture behind the end of the first. */
async function withSecondPicture(jpeg: Buffer): Promise<Buffer> {
  const second = await sharp(jpeg).negate().jpeg().toBuffer()
  return Buffer.concat([withSegment(jpeg, 0xe2, Buffer.from('MPF\0MM\0*\0\0\0\x08', 'latin1')), second])
}

export function withGainMap(jpeg: Buffer): Promise<Buffer> {
  // The types of sharp 0.35 lack this experimental option.
  const photo = sharp(jpeg) as Sharp & { withGainMap(): Sharp }
  return photo.withGainMap().jpeg({ quality: 95 }).toBuffer()
}

async function linearPng(jpeg: Buffer): Promise<Buffer> {
  const { data, info } = await sharp(jpeg).raw().toBuffer({ resolveWithObject: true })
  const { width, height } = info
  const samples = data.map((value) => Math.round(255 * (value / 255) ** 2.2))
  const png = await sharp(samples, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer()
  const gamma = Buffer.alloc(4)
  gamma.writeUInt32BE(100_000)
  return withPngChunk(png, 'gAMA', gamma)
}

async function animatedWebp(jpeg: Buffer): Promise<Buffer> {
  const frames = [jpeg, await sharp(jpeg).negate().toBuffer()]
  return sharp(frames, { join: { animated: true } })
    .webp({ loop: 0, delay: [99, 99] })
    .toBuffer()
}
