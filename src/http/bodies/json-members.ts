/**
 * Check for members that a JSON parser accepts silently, but that a request which authorizes an action must not hold: a name given
 * twice, too many values or levels, and a number that a parser changes.
 */
import type { ErrorDetail } from '../../lib/domain-error.js'
import { inexactNumberIssue } from './exact-number.js'

/** Requests need only a few levels, but an action may be any object. */
const MAX_LEVELS = 64
/** An action of 4096 bytes in canonical form holds at most 2045 values; the schema takes several microseconds for each. */
const MAX_VALUES = 2100
const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const MINUS = 0x2d
const DIGIT_0 = 0x30
const DIGIT_9 = 0x39
/** The field whose numbers are countersigned. */
const ACTION = 'action'
/** Most characters of a path in an error: it names what the caller sent, which may be long. */
const MAX_PATH = 200

/**
 * The first member that different readers would read differently (RFC 8259, section 4), or null.
 * Its path names the outermost field only, since deeper names are the caller's own and may be long; the path of a number is whole.
 * @param text valid JSON
 */
export function memberIssue(text: string): ErrorDetail | null {
  /** The names seen in each open object; null for a list. */
  const levels: Array<Set<string> | null> = []
  /** The name or index at which the scan stands, for each open object or list. */
  const path: Array<string | number> = []
  let field = 'body'
  let isNameNext = false
  let values = 1
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case OPEN_OBJECT:
      case OPEN_LIST:
        if (levels.length === MAX_LEVELS) return { path: field, issue: 'is nested too deeply' }
        if (++values > MAX_VALUES) return { path: field, issue: 'holds too many values' }
        isNameNext = text.charCodeAt(at) === OPEN_OBJECT
        levels.push(isNameNext ? new Set() : null)
        path.push(isNameNext ? '' : 0)
        break
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        levels.pop()
        path.pop()
        isNameNext = false
        break
      case COMMA:
        if (++values > MAX_VALUES) return { path: field, issue: 'holds too many values' }
        isNameNext = levels.at(-1) != null
        if (!isNameNext && path.length > 0) (path[path.length - 1] as number)++
        break
      case QUOTE: {
        const close = closingQuote(text, at)
        if (isNameNext) {
          isNameNext = false
          const name = nameAt(text, at, close)
          if (levels.length === 1) field = name
          const names = levels.at(-1)!
          if (names.has(name))
            return {
              path: field,
              issue: levels.length === 1 ? 'is given more than once' : 'holds a field more than once',
            }
          names.add(name)
          path[path.length - 1] = name
        }
        at = close
        break
      }
      default: {
        if (field !== ACTION || !beginsNumber(text.charCodeAt(at))) break
        const end = numberEnd(text, at)
        const issue = inexactNumberIssue(text.slice(at, end))
        if (issue) return { path: shortened(path.join('.')), issue }
        at = end - 1
      }
    }
  }
  return null
}

function beginsNumber(code: number): boolean {
  return code === MINUS || (code >= DIGIT_0 && code <= DIGIT_9)
}

function numberEnd(text: string, start: number): number {
  let end = start + 1
  while (end < text.length && '0123456789+-.eE'.includes(text[end]!)) end++
  return end
}

function shortened(path: string): string {
  return path.length > MAX_PATH ? `${path.slice(0, MAX_PATH)}…` : path
}

/** A name with a backslash is parsed, because `"user\u005fid"` is the same name as `"user_id"`. */
function nameAt(text: string, open: number, close: number): string {
  const written = text.slice(open + 1, close)
  return written.includes('\\') ? JSON.parse(`"${written}"`) : written
}

function closingQuote(text: string, open: number): number {
  let close = text.indexOf('"', open + 1)
  while (isEscaped(text, close)) close = text.indexOf('"', close + 1)
  return close
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++
  return backslashes % 2 === 1
}
