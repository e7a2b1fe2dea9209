/** Images no camera made: seeds in every form the decoders know, foreign formats, polyglots, lying headers. */
import sharp from 'sharp'
import { face, groupPhoto } from '../support/faces.js'
import { plain, pngHeader, unreadableFiles } from '../support/images.js'

/** Large enough to be enrolled, small enough to be sent ten thousand times. */
async function smallFace(): Promise<Buffer> {
  return sharp(await face('ada'))
    .resize(240)
    .jpeg()
    .toBuffer()
}

/** Well-formed pictures, from which damaged ones are made. */
export async function imageSeeds(): Promise<Buffer[]> {
  const ada = await smallFace()
  const picture = () => sharp(ada)
  const rotated = [2, 3, 5, 6, 8].map((orientation) =>
    picture().withMetadata({ orientation }).jpeg().toBuffer(),
  )
  return Promise.all([
    ada,
    picture().png().toBuffer(),
    picture().webp({ quality: 70 }).toBuffer(),
    picture().webp({ lossless: true }).toBuffer(),
    picture().jpeg({ progressive: true }).toBuffer(),
    picture().toColourspace('cmyk').jpeg().toBuffer(),
    picture().toColourspace('rgb16').png().toBuffer(),
    picture().greyscale().jpeg().toBuffer(),
    picture().png({ palette: true }).toBuffer(),
    picture().ensureAlpha(0.5).png().toBuffer(),
    picture().ensureAlpha(0.5).webp().toBuffer(),
    ...rotated,
  ])
}

/** Files that are hostile as they are. */
export async function hostileImages(): Promise<Buffer[]> {
  const ada = await smallFace()
  const png = await plain(200, 200)
  const webp = await sharp(ada).webp().toBuffer()
  const frames = await Promise.all([plain(128, 128), plain(128, 128)])
  const animated = await sharp(frames, { join: { animated: true } })
    .webp({ loop: 0 })
    .toBuffer()
  const page = Buffer.from('<html><script>alert(1)</script>')
  const pdf = Buffer.from('%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF')
  const heic = Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from('ftypheic\0\0\0\0mif1heic'), ada])
  const real = [4999, 5300].map((side) =>
    sharp({ create: { width: side, height: 4800, channels: 3, background: '#888' } })
      .png()
      .toBuffer(),
  )
  return [
    ...Object.values(await unreadableFiles()),
    pdf,
    heic,
    groupPhoto(),
    ...(await Promise.all(real)),
    pngHeader(5001, 5000),
    pngHeader(0, 0),
    animated,
    // Polyglots: one format's head, another's body.
    ...[page, pdf, png, webp].flatMap((tail) => [Buffer.concat([ada, tail]), Buffer.concat([png, tail])]),
    Buffer.concat([ada.subarray(0, 20), png]),
    Buffer.concat([png.subarray(0, 8), ada]),
    Buffer.concat([webp.subarray(0, 12), ada]),
    Buffer.concat([page, ada]),
    withJpegSize(ada, 5001, 5000),
    withJpegSize(ada, 0, 0),
    withJpegSize(ada, 4000, 4000),
  ]
}

/** The same scan under a frame header that says another size. */
function withJpegSize(jpeg: Buffer, width: number, height: number): Buffer {
  const lying = Buffer.from(jpeg)
  const frame = lying.indexOf(Buffer.from([0xff, 0xc0]))
  lying.writeUInt16BE(height, frame + 5)
  lying.writeUInt16BE(width, frame + 7)
  return lying
}
