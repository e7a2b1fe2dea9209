/** Recognizes color profiles that can hold any number of computations for each pixel. */

/**
 * Type signature of such a tag (`multiProcessElementsType`, ICC.1:2022, section 10.16); all other types have a fixed
 * number of steps.
 */
const PROGRAM = Buffer.from('mpet')
/** A JPEG's profile may be cut into several segments, which would split the signature. */
const JPEG_PROFILE = Buffer.from('ICC_PROFILE\0')

/**
 * @param bytes a file or its header, which may contain an uncompressed profile
 * @returns true also where the signature's bytes stand there by chance
 */
export function hasProgrammableProfile(bytes: Uint8Array): boolean {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const first = file.indexOf(JPEG_PROFILE)
  return file.includes(PROGRAM) || (first >= 0 && file.includes(JPEG_PROFILE, first + 1))
}
