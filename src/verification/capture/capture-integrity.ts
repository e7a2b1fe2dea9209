/**
 * Signals about the integrity of a capture: signs that its pictures do not come from a camera of the person's device. A signal is a hint
 * for the backend and for people who look into a case. None is proof. A signal changes a verdict only where the tenant's policy asks for a
 * person's look.
 */
import { sha256 } from '../../crypto/sha256.js'
import type { ImageInput } from './images.js'

/** Signals that a browser reports. Anyone who controls the browser can leave each of them out. */
export const CLIENT_SIGNALS = [
  'virtual_camera',
  'replaced_function',
  'synthetic_track',
  'unlisted_camera',
  'settings_mismatch',
  'frame_timing',
] as const

/** Signals that the service finds in the pictures themselves. */
export const SERVER_SIGNALS = ['repeated_picture', 'mixed_frames'] as const

export type CaptureSignalCode = (typeof CLIENT_SIGNALS)[number] | (typeof SERVER_SIGNALS)[number]

export interface CaptureSignal {
  code: CaptureSignalCode
  /** `client`: a browser reported it. `server`: the service found it in the pictures. */
  source: 'client' | 'server'
}

export interface CaptureIntegrity {
  signals: CaptureSignal[]
}

/** Fields of a request that brings pictures, perhaps with what a browser reports about their capture. */
export type ReportedCapture = ImageInput & {
  capture_integrity?: { signals: (typeof CLIENT_SIGNALS)[number][] }
}

/**
 * Returns the signals of a capture: first those that the browser reported, then those of the pictures.
 * @param images the files of the request, in their order
 * @param areFrames whether they are the frames of one film
 * @returns null where the request brings no report
 */
export async function captureIntegrity(
  { capture_integrity: report }: ReportedCapture,
  images: readonly Buffer[],
  areFrames: boolean,
): Promise<CaptureIntegrity | null> {
  if (!report) return null
  const parts = images.map(partsOf)
  const found: Array<[(typeof SERVER_SIGNALS)[number], boolean]> = [
    ['repeated_picture', await hasRepeat(parts)],
    // Photos of one request may come from several cameras; frames of a film come from one, by one encoder.
    ['mixed_frames', areFrames && new Set(parts.map(({ format }) => format)).size > 1],
  ]
  return {
    signals: [
      ...report.signals.map((code) => ({ code, source: 'client' as const })),
      ...found.flatMap(([code, isFound]) => (isFound ? [{ code, source: 'server' as const }] : [])),
    ],
  }
}

interface PictureParts {
  /** Size and quantization tables of a JPEG, as text; empty for any other file. */
  format: string
  /** The coded picture without metadata: two files with the same one show the same pixels. */
  picture: Buffer[]
}

const SOI = Buffer.from([0xff, 0xd8])
const EOI = Buffer.from([0xff, 0xd9])
/** Segments before the pictures' data, at most: encoders write under twenty. */
const MAX_SEGMENTS = 64
const MARKER = { quantization: 0xdb, firstFrame: 0xc0, lastFrame: 0xc2, scan: 0xda, comment: 0xfe }

/** Splits a JPEG (ITU-T T.81, annex B). Any other file, and one that is cut off, is a picture as a whole. */
function partsOf(file: Buffer): PictureParts {
  const whole = { format: '', picture: [file] }
  if (!file.subarray(0, SOI.length).equals(SOI)) return whole
  const picture: Buffer[] = []
  let format = ''
  let offset = SOI.length
  for (let count = 0; count < MAX_SEGMENTS && file[offset] === 0xff && offset + 4 <= file.length; count++) {
    const marker = file[offset + 1]!
    if (marker === MARKER.scan) {
      // Inside a scan, FF is always followed by zero or a restart marker. What follows the end is no part of the picture.
      const end = file.indexOf(EOI, offset)
      picture.push(file.subarray(offset, end === -1 ? file.length : end))
      return { format, picture }
    }
    const segment = file.subarray(offset, offset + 2 + file.readUInt16BE(offset + 2))
    const isMetadata = (marker & 0xf0) === 0xe0 || marker === MARKER.comment
    if (!isMetadata) picture.push(segment)
    const isFrame = marker >= MARKER.firstFrame && marker <= MARKER.lastFrame
    if (isFrame || marker === MARKER.quantization) format += segment.toString('latin1')
    offset += segment.length
  }
  return whole
}

/** Whether two pictures are the same. Only pictures of one length are hashed, and cameras hardly ever make two of one length. */
async function hasRepeat(parts: readonly PictureParts[]): Promise<boolean> {
  const byLength = new Map<number, Buffer[][]>()
  for (const { picture } of parts) {
    const length = picture.reduce((sum, part) => sum + part.length, 0)
    byLength.set(length, [...(byLength.get(length) ?? []), picture])
  }
  for (const alike of byLength.values()) {
    if (alike.length < 2) continue
    const hashes = await Promise.all(
      alike.map(async (picture) => (await sha256(Buffer.concat(picture))).toString('hex')),
    )
    if (new Set(hashes).size < hashes.length) return true
  }
  return false
}
