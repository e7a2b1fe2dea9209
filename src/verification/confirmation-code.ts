/** A code that the backend tells the person by a channel of its own, and that the hosted page asks for: a link without it is worth nothing. */
import { createHash, randomInt, timingSafeEqual } from 'node:crypto'

const DIGITS = 6
/** Guesses in one session. With six digits, one link in 200,000 falls to somebody who uses all of them. */
export const MAX_CODE_TRIES = 5

/** The state of the code of one session. */
export interface CodeCheck {
  /** SHA-256 of the code in hex: it stands in content that is sealed under the link's secret. */
  digest: string
  /** Codes that were typed, right or wrong. */
  tries: number
  isConfirmed: boolean
}

/** @returns the code, which is told once, and the state in which its session begins */
export function newCode(): { code: string; check: CodeCheck } {
  const code = String(randomInt(10 ** DIGITS)).padStart(DIGITS, '0')
  return { code, check: { digest: digestOf(code).toString('hex'), tries: 0, isConfirmed: false } }
}

/**
 * Counts the try before it compares, in constant time. Spaces and hyphens in `typed` do not matter. The caller keeps `check` in the
 * same transaction, so that guesses at the same time are counted one by one.
 */
export function tryCode(check: CodeCheck, typed: string): 'right' | 'wrong' | 'no_tries_left' {
  if (check.tries >= MAX_CODE_TRIES) return 'no_tries_left'
  check.tries++
  const digest = digestOf(typed.replace(/[\s-]/g, ''))
  if (timingSafeEqual(digest, Buffer.from(check.digest, 'hex'))) {
    check.isConfirmed = true
    return 'right'
  }
  return check.tries >= MAX_CODE_TRIES ? 'no_tries_left' : 'wrong'
}

/** Whether the page may go on. */
export function isConfirmed(check: CodeCheck | null | undefined): boolean {
  return !check || check.isConfirmed
}

function digestOf(code: string): Buffer {
  return createHash('sha256').update(code).digest()
}
