/** Decides which numbers of an action every JSON parser reads as the same number. */

/** Integers of at most 15 digits, without exponent or fraction, are exact in every parser. */
const SHORT_INTEGER = /^-?\d{1,15}$/
const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/
const AS_STRING = 'send it as a string'

/**
 * Why a number must not be countersigned, or null. RFC 8785 hashes the double nearest to a number, so that
 * 123456789012345678 and 123456789012345680 would have one hash.
 * @param text a JSON number as it was received
 */
export function inexactNumberIssue(text: string): string | null {
  if (SHORT_INTEGER.test(text)) return null
  const value = Number(text)
  if (!Number.isFinite(value)) return `is a number out of range: ${AS_STRING}`
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    return `is an integer beyond 9007199254740991, which not every reader takes for the same number: ${AS_STRING}`
  if (decimalOf(text) !== decimalOf(String(value)))
    return `has more digits than a double holds, so that it would be countersigned as ${value}: ${AS_STRING}`
  return null
}

/** Writes the exact value without its sign in one form: digits without outer zeros, and the power of ten of the last digit. */
function decimalOf(text: string): string {
  const [, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? []
  const digits = whole + fraction
  // A loop, since a regular expression for trailing zeros takes quadratic time where a digit follows many zeros.
  let start = 0
  let end = digits.length
  while (digits[start] === '0') start++
  while (end > start && digits[end - 1] === '0') end--
  if (start === end) return '0'
  return `${digits.slice(start, end)}e${Number(exponent) - fraction.length + digits.length - end}`
}
