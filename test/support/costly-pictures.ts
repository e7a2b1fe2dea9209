/** Pictures that are well-formed and cost a decoder more than they look. */
import { randomFillSync } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'
import sharp from 'sharp'

/** A JPEG of noise: as many bytes a pixel as a JPEG can have, which is about 0.6 at this quality. */
export function noiseJpeg(width: number, height: number): Promise<Buffer> {
  const pixels = randomFillSync(Buffer.alloc(width * height * 3))
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .jpeg({ quality: 40 })
    .toBuffer()
}

/**
 * A grey progressive JPEG with any number of scans: each refines every block by nothing, which takes 23 bytes and has the
 * decoder visit all of them.
 * @param comment of a segment between the first scan and the others
 */
export function scanBomb(width: number, height: number, scans: number, comment = Buffer.alloc(0)): Buffer {
  const blocks = Math.ceil(width / 8) * Math.ceil(height / 8)
  // A run of 32,767 blocks without coefficients: the code of EOB14 and 14 bits of its length.
  const runs = '0'.concat('1'.repeat(14)).repeat(Math.ceil(blocks / 32_767))
  const empty = withStuffing(bitsOf(runs))
  const scan = Buffer.concat([startOfScan({ from: 1, to: 63 }), empty])
  return Buffer.concat([
    Buffer.of(0xff, 0xd8),
    segment(0xdb, Buffer.concat([Buffer.of(0), Buffer.alloc(64, 1)])),
    segment(0xc2, Buffer.of(8, height >> 8, height & 255, width >> 8, width & 255, 1, 1, 0x11, 0)),
    segment(0xc4, huffmanTable(0x00, 0)),
    segment(0xc4, huffmanTable(0x10, 0xe0)),
    startOfScan({ from: 0, to: 0 }),
    withStuffing(Buffer.alloc(Math.ceil(blocks / 8))),
    segment(0xfe, comment),
    Buffer.concat(Array.from({ length: scans }, () => scan)),
    Buffer.of(0xff, 0xd9),
  ])
}

/** The same JPEG with a piece of a colour profile that holds this text. */
export function withProfile(jpeg: Buffer, text: string): Buffer {
  const profile = segment(0xe2, Buffer.from(`ICC_PROFILE\0\x01\x01${text}`, 'latin1'))
  return Buffer.concat([jpeg.subarray(0, 2), profile, jpeg.subarray(2)])
}

/** The same JPEG with a byte before its first segment that decoders pass over. */
export function withFillByte(jpeg: Buffer): Buffer {
  return Buffer.concat([jpeg.subarray(0, 2), Buffer.of(0xff), jpeg.subarray(2)])
}

/** One code, `0`, which stands for this symbol. */
function huffmanTable(id: number, symbol: number): Buffer {
  return Buffer.of(id, 1, ...Array<number>(15).fill(0), symbol)
}

function startOfScan({ from, to }: { from: number; to: number }): Buffer {
  return segment(0xda, Buffer.of(1, 1, 0x00, from, to, 0))
}

function segment(marker: number, content: Buffer): Buffer {
  const head = Buffer.of(0xff, marker, 0, 0)
  head.writeUInt16BE(content.length + 2, 2)
  return Buffer.concat([head, content])
}

function bitsOf(bits: string): Buffer {
  const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, '1')
  return Buffer.from(padded.match(/.{8}/g)!.map((octet) => Number.parseInt(octet, 2)))
}

function withStuffing(data: Buffer): Buffer {
  return Buffer.from([...data].flatMap((byte) => (byte === 0xff ? [byte, 0] : [byte])))
}

export interface PngShape {
  width: number
  height: number
  bits?: 8 | 16
  /** 2 is RGB, 6 is RGB with transparency. */
  colour?: 2 | 6
  isInterlaced?: boolean
  /** The filter of every row: 0 none to 4 Paeth, which costs most. */
  filter?: number
  /** Chunks that come before the picture, as type and content. */
  before?: Array<[type: string, content: Buffer]>
  /** Bytes of each IDAT chunk; by default all in one. */
  idatBytes?: number
}

/** A PNG of zeros: a thousandth of its pixels' bytes, and all of their work. */
export function zeroPng(shape: PngShape): Buffer {
  const { width, height, bits = 8, colour = 2, isInterlaced = false, filter = 4, before = [] } = shape
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([bits, colour, 0, 0, isInterlaced ? 1 : 0], 8)
  const pixelBytes = (colour === 6 ? 4 : 3) * (bits / 8)
  const rows = isInterlaced ? adam7(width, height) : [{ width, height }]
  const raw = Buffer.concat(
    rows.flatMap((pass) => {
      const row = Buffer.alloc(1 + pass.width * pixelBytes)
      row[0] = filter
      return Array.from({ length: pass.height }, () => row)
    }),
  )
  const data = deflateSync(raw, { level: 9 })
  const { idatBytes = data.length } = shape
  const parts = Array.from({ length: Math.ceil(data.length / idatBytes) }, (_, i) =>
    data.subarray(i * idatBytes, (i + 1) * idatBytes),
  )
  return Buffer.concat([
    Buffer.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a),
    pngChunk('IHDR', header),
    ...before.map(([type, content]) => pngChunk(type, content)),
    ...parts.map((part) => pngChunk('IDAT', part)),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

/** Text that unpacks to so many bytes. PNG specification, 11.3.3.3. */
export function compressedText(bytes: number): [type: string, content: Buffer] {
  return ['zTXt', Buffer.concat([Buffer.from('k\0\0'), deflateSync(Buffer.alloc(bytes, 97), { level: 9 })])]
}

/** The seven passes: width and height of each. PNG specification, 8.2. */
function adam7(width: number, height: number): Array<{ width: number; height: number }> {
  const passes = [
    [0, 0, 8, 8],
    [4, 0, 8, 8],
    [0, 4, 4, 8],
    [2, 0, 4, 4],
    [0, 2, 2, 4],
    [1, 0, 2, 2],
    [0, 1, 1, 2],
  ] as const
  return passes.map(([x, y, dx, dy]) => ({
    width: Math.ceil((width - x) / dx),
    height: Math.ceil((height - y) / dy),
  }))
}

export function pngChunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  checksum.writeUInt32BE(crc32(typed))
  return Buffer.concat([length, typed, checksum])
}
