/** Cutting long strings out of JSON before it is parsed: a photo in base64 need not become a string, twice, to be read. */
import { randomBytes } from 'node:crypto'

/** Shorter strings are not worth it. */
const LONG_BYTES = 2048
/** A body with more strings than any request of ours has is parsed the ordinary way, so that it cannot make this slow. */
const MOST_STRINGS = 256
const QUOTE = 0x22
const BACKSLASH = 0x5c
/** Stands for the nth cut; not to be guessed, so that no caller can write one. */
const MARK = `cut:${randomBytes(16).toString('hex')}:`

export interface CutJson {
  /** The document with every long string replaced by a mark. */
  text: string
  /** What was cut: the bytes between the quotes. */
  cuts: Buffer[]
}

/**
 * Cuts every string of at least 2 KiB that holds no escape; what it holds otherwise is for its reader to judge.
 * @param body UTF-8
 * @returns null where nothing is to be gained
 */
export function cutLongStrings(body: Buffer): CutJson | null {
  if (body.length < LONG_BYTES) return null
  const cuts: Buffer[] = []
  let text = ''
  let copied = 0
  let strings = 0
  for (let open = body.indexOf(QUOTE); open >= 0; ) {
    if (++strings > MOST_STRINGS) return null
    const close = closingQuote(body, open)
    if (close < 0) break
    const content = body.subarray(open + 1, close)
    if (content.length >= LONG_BYTES && !content.includes(BACKSLASH)) {
      text += body.toString('utf8', copied, open + 1) + MARK + cuts.length
      cuts.push(content)
      copied = close
    }
    open = body.indexOf(QUOTE, close + 1)
  }
  if (cuts.length === 0) return null
  return { text: text + body.toString('utf8', copied), cuts }
}

/** The nth cut, where `value` is its mark. */
export function cutOf(value: unknown, cuts: Buffer[]): Buffer | undefined {
  if (typeof value !== 'string' || !value.startsWith(MARK)) return undefined
  return cuts[Number(value.slice(MARK.length))]
}

function closingQuote(body: Buffer, open: number): number {
  for (let close = body.indexOf(QUOTE, open + 1); close >= 0; close = body.indexOf(QUOTE, close + 1)) {
    let backslashes = 0
    while (body[close - 1 - backslashes] === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return close
  }
  return -1
}
