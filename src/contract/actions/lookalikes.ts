/**
 * Finds letters that pass for others, by the table of Unicode Technical Standard #39: letters of another alphabet within a word, whole
 * texts of another alphabet that read as Latin, and odd forms of Latin letters. It knows what passes for Latin letters and digits, and
 * no pairs within Han, kana or Arabic. ASCII passes for nothing here: an account or a reference may hold 0 next to O.
 */
import { LAST_ALPHABET, LAST_RARE, LOOKALIKE, ODD, RANGES } from './lookalikes-table.js'

const ASCII = /^[\n -~]*$/
const LATIN = 1
/** Class of a character that ends a word. */
const BREAK = 255
/** Class of a character within words that is no letter: digits, marks and apostrophes. */
const IN_WORD = 0
const SCRIPT = LOOKALIKE - 1
const FIRST_CODE = 0x80
const END_CODE = 0x20000

/** Letters of which one shows that a text with a dotless i is Turkish or Azerbaijani. */
const TURKISH = /[çğöşüəÇĞİÖŞÜƏ]/
const DOTLESS_I = 'ı'

/** The class of each code point. It is made when the first text that is not ASCII comes. */
let table: Uint8Array | undefined
/** Letters of each script in the word that is read. Between words it holds zeros. */
const counts = new Uint32Array(SCRIPT + 1)

/** @returns the letters of a text that pass for others, each once, in their order; none for nearly all names */
export function lookalikes(text: string): string[] {
  // Most lines are ASCII, in which nothing passes for anything else: a batch has 4,000 of them.
  if (ASCII.test(text)) return []
  const classes = classesOf(text)
  const marked = new Uint8Array(text.length)
  for (let start = 0, at = 0; at <= classes.length; at++) {
    if (at < classes.length && classes[at] !== BREAK) continue
    markWord(classes, marked, start, at)
    start = at + 1
  }
  markPosers(classes, marked)
  if (text.includes(DOTLESS_I) && !TURKISH.test(text))
    for (let at = 0; at < marked.length; at++) if (text[at] === DOTLESS_I) marked[at] = 1
  const letters = new Set<number>()
  for (let at = 0; at < marked.length; at++) if (marked[at]) letters.add(text.codePointAt(at)!)
  return Array.from(letters, (code) => String.fromCodePoint(code))
}

/** Marks odd forms, letters of another alphabet than most of the word, and a word of a rare script that reads as Latin. */
function markWord(classes: Uint8Array, marked: Uint8Array, start: number, end: number): void {
  const own = scriptOf(classes, start, end)
  let readsAsLatin = own > LAST_ALPHABET && own < LAST_RARE
  for (let at = start; at < end; at++) {
    const kind = classes[at]!
    const script = kind & SCRIPT
    if (script === own && !(kind & LOOKALIKE)) readsAsLatin = false
    const isStranger = script !== IN_WORD && script !== own
    const mayMix = script > LAST_RARE || own > LAST_RARE
    if (kind & ODD || (isStranger && (kind & LOOKALIKE || !mayMix))) marked[at] = 1
  }
  for (let at = start; readsAsLatin && at < end; at++) if ((classes[at]! & SCRIPT) === own) marked[at] = 1
}

/** The script of most letters of a word. In a draw, Latin is the word's own. */
function scriptOf(classes: Uint8Array, start: number, end: number): number {
  let own = LATIN
  for (let at = start; at < end; at++) {
    const script = classes[at]! & SCRIPT
    if (script !== 0 && ++counts[script]! > counts[own]!) own = script
  }
  if (counts[LATIN] === counts[own]) own = LATIN
  for (let at = start; at < end; at++) counts[classes[at]! & SCRIPT] = 0
  return own
}

/** Marks the letters of each script, where each of them in the whole text passes for a Latin one. Words of rare scripts are done already. */
function markPosers(classes: Uint8Array, marked: Uint8Array): void {
  const isPlain = new Uint8Array(SCRIPT + 1).fill(1, LAST_ALPHABET + 1, LAST_RARE + 1)
  for (const kind of classes) if (kind !== BREAK && !(kind & LOOKALIKE)) isPlain[kind & SCRIPT] = 1
  for (let at = 0; at < classes.length; at++)
    if (classes[at]! & LOOKALIKE && classes[at] !== BREAK && !isPlain[classes[at]! & SCRIPT]) marked[at] = 1
}

/** The class of the character that begins at each index; the second half of a pair counts as a mark. */
function classesOf(text: string): Uint8Array {
  table ??= readTable()
  const classes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at)!
    classes[at] = code < END_CODE ? table[code]! : BREAK
    if (code > 0xffff) classes[++at] = classes[at - 1] === BREAK ? BREAK : IN_WORD
  }
  return classes
}

function readTable(): Uint8Array {
  const classes = new Uint8Array(END_CODE).fill(BREAK)
  for (const character of "0123456789'’") classes[character.codePointAt(0)!] = IN_WORD
  for (const first of 'Aa') classes.fill(LATIN, first.codePointAt(0)!, first.codePointAt(0)! + 26)
  classes.fill(IN_WORD, 0x300, 0x370)
  const numbers = RANGES.split(' ').map((text) => Number.parseInt(text, 36))
  for (let at = FIRST_CODE, index = 0; index < numbers.length; index += 3) {
    at += numbers[index]!
    classes.fill(numbers[index + 2]!, at, at + numbers[index + 1]!)
    at += numbers[index + 1]!
  }
  return classes
}
