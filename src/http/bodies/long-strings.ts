/** Cuts long strings out of JSON before it is parsed, so that a photo in base64 is not made into a string twice. */
import { randomBytes } from 'node:crypto'

/** Shorter strings are parsed as they are: cutting them saves no time. */
const LONG_BYTES = 2048
const QUOTE = 0x22
const BACKSLASH = 0x5c
/** Prefix of the mark that replaces a cut. It is random, so that no caller can write one. */
const MARK = `cut:${randomBytes(16).toString('hex')}:`

interface CutJson {
  /** The document with every long string replaced by a mark. */
  text: string
  /** The bytes between the quotes of each cut string, escapes included. */
  cuts: Buffer[]
  /** Number of bytes outside the cuts, the quotes of the cuts included. */
  leftBytes: number
}

/**
 * Cuts every string of at least 2 KiB, without looking at its contents.
 * @param body UTF-8
 * @param maxLeftBytes most bytes outside the cuts: all work except one look at each byte is bounded by it
 * @returns null where more bytes are outside the cuts
 */
export function cutLongStrings(body: Buffer, maxLeftBytes: number): CutJson | null {
  if (body.length < LONG_BYTES) return { text: body.toString('utf8'), cuts: [], leftBytes: body.length }
  const cuts: Buffer[] = []
  const parts: string[] = []
  let copied = 0
  let left = 0
  for (let at = 0; at < body.length; ) {
    if (body[at] !== QUOTE) {
      if (++left > maxLeftBytes) return null
      at++
      continue
    }
    const close = closingQuote(body, at, maxLeftBytes - left)
    if (close < 0) return null
    if (close - at > LONG_BYTES) {
      parts.push(body.toString('utf8', copied, at + 1), MARK, String(cuts.length))
      cuts.push(body.subarray(at + 1, close))
      copied = close
      left += 2
    } else left += close + 1 - at
    if (left > maxLeftBytes) return null
    at = close + 1
  }
  parts.push(body.toString('utf8', copied))
  return { text: parts.join(''), cuts, leftBytes: left }
}

/** The number of the cut that the mark `value` stands for; undefined where it is no mark. */
export function cutNumber(value: unknown): number | undefined {
  if (typeof value !== 'string' || !value.startsWith(MARK)) return undefined
  return Number(value.slice(MARK.length))
}

/** The document with these cuts back in their places. */
export function putBackText(
  { text, cuts }: Pick<CutJson, 'text' | 'cuts'>,
  numbers: readonly number[],
): string {
  return numbers.reduce(
    (document, number) =>
      // A function, because `$` has a meaning in a replacement string.
      document.replace(`"${MARK}${number}"`, () => `"${cuts[number]!.toString('utf8')}"`),
    text,
  )
}

/**
 * Index of the quote that closes the string, or of the end of the document. -1 for a string with escaped quotes that is too long to
 * stay in the document: a search that stops at each quote would take a second for a few megabytes of them.
 */
function closingQuote(body: Buffer, open: number, maxLeftBytes: number): number {
  for (let close = body.indexOf(QUOTE, open + 1); close >= 0; close = body.indexOf(QUOTE, close + 1)) {
    let backslashes = 0
    while (body[close - 1 - backslashes] === BACKSLASH && backslashes <= maxLeftBytes) backslashes++
    if (backslashes === 0) return close
    if (close - open > maxLeftBytes) return -1
    if (backslashes % 2 === 0) return close
  }
  return body.length
}
