/** Colour profiles that can hold any number of computations for each pixel. */

/** The type of such a tag (`multiProcessElementsType`, ICC.1:2022, section 10.16); all others have a fixed number of steps. */
const PROGRAM = Buffer.from('mpet')
/** A JPEG's profile may be cut into several segments, which would hide the word. */
const JPEG_PROFILE = Buffer.from('ICC_PROFILE\0')

/** @param bytes of a file or its header, in which an uncompressed profile may be; true also where the words stand by chance */
export function hasProgrammableProfile(bytes: Uint8Array): boolean {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const first = file.indexOf(JPEG_PROFILE)
  return file.includes(PROGRAM) || (first >= 0 && file.includes(JPEG_PROFILE, first + 1))
}
