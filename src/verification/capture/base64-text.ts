/** Decodes base64 inside JSON slice by slice, because the main thread serves nobody while it decodes one. */
import { bodyKernels } from '../../biometrics/kernels/body-kernels.js'

/** Decoding a slice of this size takes at most a millisecond, escapes included. */
const SLICE_BYTES = 2 ** 18
/** Characters of the longest escape: `\u002b`, which some languages write for a plus. */
const MAX_ESCAPE = 6
const BACKSLASH = 0x5c
const PADDING = '='.charCodeAt(0)
const NOTHING = Buffer.alloc(0)

/**
 * Decodes base64 with padding and without line breaks (RFC 4648, section 4). Yields after each slice.
 * @param text a string; or the bytes between the quotes of a string in JSON, with its escapes
 * @param sliceBytes bytes of a slice, more than the longest escape has
 * @returns a buffer with memory of its own, so that it can be transferred without others; null when the text is not base64
 */
export function* decodeBase64Text(
  text: string | Uint8Array,
  sliceBytes = SLICE_BYTES,
): Generator<void, Buffer | null> {
  const isEscaped = typeof text !== 'string'
  const bytes = isEscaped ? Buffer.from(text.buffer, text.byteOffset, text.byteLength) : Buffer.from(text)
  const out = Buffer.allocUnsafeSlow(Math.ceil(bytes.length / 4) * 3)
  let written = 0
  let rest: Buffer = NOTHING
  for (let from = 0; from < bytes.length; ) {
    if (from > 0) yield
    const end = sliceEnd(bytes, from, isEscaped, sliceBytes)
    const slice = bytes.subarray(from, end)
    const digits = isEscaped && slice.includes(BACKSLASH) ? unescaped(slice) : slice
    if (!digits) return null
    const isLast = end === bytes.length
    const joined = rest.length > 0 ? Buffer.concat([rest, digits]) : digits
    const whole = isLast ? joined.length : joined.length - (joined.length % 4)
    // Nothing may follow padding.
    if (!isLast && joined[whole - 1] === PADDING) return null
    const count = bodyKernels.decodeBase64(joined.subarray(0, whole), out.subarray(written))
    if (count < 0) return null
    written += count
    rest = joined.subarray(whole)
    from = end
  }
  return out.subarray(0, written)
}

/** End of a slice that cuts no escape in two. */
function sliceEnd(bytes: Buffer, from: number, isEscaped: boolean, sliceBytes: number): number {
  const end = from + sliceBytes
  if (end >= bytes.length) return bytes.length
  const last = isEscaped ? bytes.subarray(end - MAX_ESCAPE, end).indexOf(BACKSLASH) : -1
  return last < 0 ? end : end - MAX_ESCAPE + last
}

/** Bytes of a slice without escapes; null where it is not the inside of a JSON string. */
function unescaped(slice: Buffer): Buffer | null {
  try {
    return Buffer.from(JSON.parse(`"${slice.toString('latin1')}"`), 'latin1')
  } catch {
    return null
  }
}
