/** Names common formats that the service does not read, by their first bytes, so that the refusal says what to do. */
import { BiometricError } from '../biometric-error.js'

const CONVERT = 'Convert it to JPEG'
const HEIC_WAY_OUT = `${CONVERT}: on an iPhone, set Settings > Camera > Formats to Most Compatible, or let a file input of a browser with accept="image/jpeg" convert the photo.`

/** First bytes at offset 0, as Latin-1. */
const BY_START: ReadonlyArray<readonly [start: string, name: string]> = [
  ['GIF8', 'a GIF'],
  ['%PDF', 'a PDF'],
  ['II*\0', 'a TIFF'],
  ['MM\0*', 'a TIFF'],
  ['BM', 'a BMP'],
  ['\xff\x0a', 'a JPEG XL'],
  ['\0\0\0\x0cJXL ', 'a JPEG XL'],
  ['\0\0\0\x0cjP  ', 'a JPEG 2000'],
  ['\x1aE\xdf\xa3', 'a WebM or Matroska video'],
  ['PK\x03\x04', 'a ZIP archive'],
  ['<', 'a text file, such as SVG or HTML'],
]

/** Brands of a file type box (ISO/IEC 14496-12), the most specific kind first. */
const BY_BRAND: ReadonlyArray<readonly [brands: readonly string[], name: string]> = [
  [['avif', 'avis'], 'an AVIF'],
  [['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'mif1', 'msf1'], 'a HEIC'],
]

const MAX_BOX = 256

/** The format with its article, such as "a HEIC"; null for unknown bytes. */
function foreignFormat(bytes: Uint8Array): string | null {
  const start = Buffer.from(bytes.subarray(0, MAX_BOX)).toString('latin1')
  if (start.slice(4, 8) === 'ftyp') {
    const box = start.slice(8, start.charCodeAt(2) * 256 + start.charCodeAt(3))
    const brands = box.match(/.{4}/gs) ?? []
    const known = BY_BRAND.find(([names]) => brands.some((brand) => names.includes(brand)))
    return known?.[1] ?? 'a video, such as MP4 or MOV,'
  }
  return BY_START.find(([magic]) => start.startsWith(magic))?.[1] ?? null
}

/** The refusal of a file that is neither JPEG, PNG nor WebP. */
export function unknownFormat(bytes: Uint8Array, imageIndex: number | undefined): BiometricError {
  const name = foreignFormat(bytes)
  if (name === null)
    return new BiometricError('image_unreadable', 'The image is not a JPEG, PNG or WebP file.', imageIndex)
  const wayOut = name === 'a HEIC' ? HEIC_WAY_OUT : `${CONVERT}.`
  const file = /file|video|archive/.test(name) ? name : `${name} file`
  const message = `The image is ${file}, and not a JPEG, PNG or WebP file. ${wayOut}`
  return new BiometricError('image_unreadable', message, imageIndex, { guidance: 'wrong_format' })
}
