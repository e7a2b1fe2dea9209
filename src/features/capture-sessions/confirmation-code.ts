/**
 * Six digits that a person types on the hosted page: the confirmation code, which the backend sends by another channel than the link, and
 * the number by which a phone that captured gives the result to the first device.
 */
import { createHash, randomInt, timingSafeEqual } from 'node:crypto'

const DIGITS = 6
/** Largest number of guesses in one session. With six digits, somebody who uses them all opens one link in 200,000. */
const MAX_CODE_TRIES = 5
/** Largest number of guesses at the number that the phone shows. */
export const MAX_NUMBER_TRIES = 3

/** The state of the code of one session. */
export interface CodeCheck {
  /** SHA-256 of the code in hex. The session's content, which holds it, is sealed under the secret of the link. */
  digest: string
  /** Number of codes that were typed, right or wrong. */
  tries: number
  isConfirmed: boolean
}

/** Draws a code. @returns the code, which is kept nowhere, and the state in which its session begins */
export function newCode(): { code: string; check: CodeCheck } {
  const code = String(randomInt(10 ** DIGITS)).padStart(DIGITS, '0')
  return { code, check: { digest: digestOf(code).toString('hex'), tries: 0, isConfirmed: false } }
}

/**
 * Compares a typed code in constant time, and counts the try before that. Spaces and hyphens in `typed` do not matter. The caller
 * keeps `check` in the same transaction, so that parallel guesses are counted one by one.
 */
export function tryCode(
  check: CodeCheck,
  typed: string,
  maxTries = MAX_CODE_TRIES,
): 'right' | 'wrong' | 'no_tries_left' {
  if (check.tries >= maxTries) return 'no_tries_left'
  check.tries++
  const digest = digestOf(typed.replace(/[\s-]/g, ''))
  if (timingSafeEqual(digest, Buffer.from(check.digest, 'hex'))) {
    check.isConfirmed = true
    return 'right'
  }
  return check.tries >= maxTries ? 'no_tries_left' : 'wrong'
}

/** Whether the page may go on: the code was confirmed, or none is asked for. */
export function isConfirmed(check: CodeCheck | null | undefined): boolean {
  return !check || check.isConfirmed
}

function digestOf(code: string): Buffer {
  return createHash('sha256').update(code).digest()
}
