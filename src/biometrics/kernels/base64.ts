/** Decodes base64 from bytes to bytes, strictly: it builds no string and skips no character. */

const INVALID = 0xff
const VALUES = new Uint8Array(256).fill(INVALID)
for (const [value, character] of [
  ...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
].entries())
  VALUES[character.charCodeAt(0)] = value
const PADDING = '='.charCodeAt(0)

/**
 * Decodes base64 of RFC 4648, section 4: with padding, without line breaks.
 * @param text ASCII
 * @param out at least 3 / 4 of the text's length, less one byte for each padding character
 * @returns number of bytes written, or -1 when the text is not base64
 */
export function decodeBase64(text: Uint8Array, out: Uint8Array): number {
  const length = text.length
  if (length === 0) return 0
  if (length % 4 !== 0) return -1
  const padding = text[length - 1] !== PADDING ? 0 : text[length - 2] !== PADDING ? 1 : 2
  let to = 0
  // An invalid digit sets the top bit, which no valid digit has; the bit is checked once, at the end.
  let all = 0
  const whole = padding === 0 ? length : length - 4
  for (let from = 0; from < whole; from += 4) {
    const a = VALUES[text[from]!]!
    const b = VALUES[text[from + 1]!]!
    const c = VALUES[text[from + 2]!]!
    const d = VALUES[text[from + 3]!]!
    all |= a | b | c | d
    out[to++] = (a << 2) | (b >> 4)
    out[to++] = (b << 4) | (c >> 2)
    out[to++] = (c << 6) | d
  }
  if (padding > 0) {
    const a = VALUES[text[whole]!]!
    const b = VALUES[text[whole + 1]!]!
    const c = padding === 1 ? VALUES[text[whole + 2]!]! : 0
    all |= a | b | c
    out[to++] = (a << 2) | (b >> 4)
    if (padding === 1) out[to++] = (b << 4) | (c >> 2)
  }
  return all & 0x80 ? -1 : to
}
