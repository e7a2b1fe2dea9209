/** Names common formats that the service does not read, by their first bytes, so that the refusal says what to do. */
import { BiometricError } from '../../biometric-error.js'

const CONVERT = 'Convert it to JPEG.'
const HEIC_WAY_OUT =
  'Convert it to JPEG: on an iPhone, set Settings > Camera > Formats to Most Compatible, or let a file input of a browser with accept="image/jpeg" convert the photo.'
const DEVELOP = 'Export it as JPEG from the camera or its software.'
const STILL = 'Send one still picture as JPEG.'
const PHOTO = 'Send the photo itself as JPEG.'

interface Format {
  /** The file with its article, such as "a HEIC file". */
  name: string
  hint: string
}

const picture = (name: string, hint = CONVERT): Format => ({ name: `${name} file`, hint })
const raw = (name: string): Format => picture(name, DEVELOP)
const video = (name: string): Format => ({ name, hint: STILL })
const other = (name: string): Format => ({ name, hint: PHOTO })

const TIFF = picture('a TIFF')
const JPEG_XL = picture('a JPEG XL')
const JPEG_2000 = picture('a JPEG 2000')
const SVG = other('a text file, such as SVG or HTML')

/** First bytes at offset 0, as Latin-1. */
const BY_START: ReadonlyArray<readonly [start: string, format: Format]> = [
  ['GIF8', picture('a GIF')],
  ['%PDF', other('a PDF file')],
  ['II*\0\x10\0\0\0CR', raw('a Canon CR2')],
  ['II*\0', TIFF],
  ['MM\0*', TIFF],
  ['II+\0', picture('a BigTIFF')],
  ['MM\0+', picture('a BigTIFF')],
  ['IIU\0', raw('a Panasonic RW2')],
  ['IIRO', raw('an Olympus ORF')],
  ['FUJIFILMCCD-RAW', raw('a Fujifilm RAF')],
  ['II\xbc', picture('a JPEG XR')],
  ['8BPS', picture('a Photoshop PSD')],
  ['BM', picture('a BMP')],
  ['\0\0\x01\0', picture('an ICO')],
  ['\xff\x0a', JPEG_XL],
  ['\0\0\0\x0cJXL ', JPEG_XL],
  ['\0\0\0\x0cjP  ', JPEG_2000],
  ['\xff\x4f\xff\x51', JPEG_2000],
  ['\x1aE\xdf\xa3', video('a WebM or Matroska video')],
  ['PK\x03\x04', other('a ZIP archive')],
  ['<', SVG],
  ['\xef\xbb\xbf<', SVG],
]

const HEIC = picture('a HEIC', HEIC_WAY_OUT)
const HEIF = picture('a HEIF')
const MP4 = video('a video, such as MP4 or MOV')

/** Brands of a file type box (ISO/IEC 14496-12), the most specific kind first; any other brand is that of a video. */
const BY_BRAND: ReadonlyArray<readonly [brands: readonly string[], format: Format]> = [
  [['avif', 'avis'], picture('an AVIF')],
  [['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx'], HEIC],
  [['crx '], raw('a Canon CR3')],
  [['avci', 'avcs', 'vvic', 'vvis', 'jpeg', 'jpgs', 'j2ki', 'j2is'], HEIF],
  // The structure of a still picture, whose coding no other brand names: nearly all are photos of iPhones.
  [['mif1', 'mif2', 'msf1'], HEIC],
]

const MAX_BOX = 256

/** @returns null for unknown bytes */
function foreignFormat(bytes: Uint8Array): Format | null {
  const start = Buffer.from(bytes.subarray(0, MAX_BOX)).toString('latin1')
  if (start.slice(4, 8) === 'ftyp') {
    const box = start.slice(8, start.charCodeAt(2) * 256 + start.charCodeAt(3))
    const brands = box.match(/.{4}/gs) ?? []
    return BY_BRAND.find(([names]) => brands.some((brand) => names.includes(brand)))?.[1] ?? MP4
  }
  if (start.startsWith('RIFF') && start.slice(8, 12) === 'AVI ') return video('an AVI video')
  return BY_START.find(([magic]) => start.startsWith(magic))?.[1] ?? null
}

/** The refusal of a file that is neither JPEG, PNG nor WebP. */
export function unknownFormat(bytes: Uint8Array, imageIndex: number | undefined): BiometricError {
  const format = foreignFormat(bytes)
  if (format === null)
    return new BiometricError('image_unreadable', 'The image is not a JPEG, PNG or WebP file.', imageIndex)
  const message = `The image is ${format.name}, not a JPEG, PNG or WebP file. ${format.hint}`
  return new BiometricError('image_unreadable', message, imageIndex, { guidance: 'wrong_format' })
}
