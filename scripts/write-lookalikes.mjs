/**
 * Writes `src/contract/actions/lookalikes-table.ts`: which script each letter belongs to, and which letters pass for Latin ones, by the table of
 * Unicode Technical Standard #39. Run it on the newest Node with the file https://www.unicode.org/Public/security/latest/confusables.txt:
 *
 *     node scripts/write-lookalikes.mjs confusables.txt
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Scripts whose words mix with Latin letters as a matter of course, such as 日本Bank. */
const MIXING = [
  ...['Arabic', 'Bengali', 'Devanagari', 'Ethiopic', 'Gujarati', 'Gurmukhi', 'Han', 'Hebrew', 'Kannada'],
  ...['Lao', 'Malayalam', 'Myanmar', 'Oriya', 'Tamil', 'Telugu', 'Thai'],
]
/** Alphabets in use whose letters never stand in a word with those of another. */
const ALPHABETS = ['Latin', 'Armenian', 'Cyrillic', 'Georgian', 'Greek']
/** Scripts of history or of few writers (UAX #31, tables 4 and 7) with letters like Latin ones. A word of theirs is judged separately. */
const RARE = [
  ...['Ahom', 'Bamum', 'Canadian_Aboriginal', 'Carian', 'Cherokee', 'Coptic', 'Deseret', 'Elbasan', 'Lisu'],
  ...['Lycian', 'Mende_Kikakui', 'Miao', 'Nko', 'Old_Italic', 'Osage', 'Runic', 'Tifinagh', 'Tirhuta'],
  'Warang_Citi',
]
const SCRIPTS = [...ALPHABETS, ...RARE, ...MIXING]
/** Id of the Roman numerals to 12, which are Latin letters in Unicode and usual in Japanese. It follows the rare scripts. */
const NUMERALS = ALPHABETS.length + RARE.length + 1
const idOf = (index) => (index < NUMERALS - 1 ? index + 1 : index + 2)
const LOOKALIKE = 64
const ODD = 128

/** Small capitals without a Latin letter in the standard's table, which has them as letters of their own. */
const SMALL_CAPITALS = /[ɢɪʏʀʙʛʜʟɴɶꜰꜱꞯᴀ-ᴢ]/u
/** Latin letters with a usual place in texts: ordinals, and letters of full width in Japanese. */
const USUAL = /[ªº\uff01-\uff5e]/
const LATIN_WRITING = /^[A-Za-z0-9]+$/
/** People read the letter kra as a k: it is the standard's prototype of the Cyrillic and Greek letters. */
const PROTOTYPES = { ĸ: 'k' }

const [file] = process.argv.slice(2)
const text = readFileSync(file, 'utf8')
const [, version] = /^# Version: (\S+)/m.exec(text)
const fromCodes = (codes) =>
  String.fromCodePoint(...codes.split(' ').map((code) => Number.parseInt(code, 16)))
const prototypes = new Map(
  [...text.matchAll(/^([0-9A-F]+) ;\t([0-9A-F ]+?) ;/gm)].map(([, from, to]) => [
    fromCodes(from),
    fromCodes(to),
  ]),
)
const skeleton = (character) =>
  [...character.normalize('NFD')]
    .map((part) => prototypes.get(part) ?? part)
    .map((part) => PROTOTYPES[part] ?? part)
    .join('')
    .normalize('NFD')
/** A mark of the letter's own does not count: ё passes for ë. A letter that passes for a digit, or for two letters, is in no name that reads as Latin. */
const looksLatin = (character) => {
  const letter = skeleton(character.normalize('NFD').replace(/\p{M}/gu, ''))
  return /^[A-Za-z]$/.test(letter) || (/^\d$/.test(letter) && /\p{N}/u.test(character))
}
const patterns = SCRIPTS.map((name) => new RegExp(`\\p{Script=${name}}`, 'u'))

function classOf(character) {
  if (character <= '\x7f' || USUAL.test(character)) return 0
  if (/[Ⅰ-Ⅻⅰ-ⅻ]/u.test(character)) return NUMERALS
  const letters = skeleton(character)
  // The sign × stands in sizes, and ℹ is an emoji.
  if (!/[\p{L}\p{N}]/u.test(character))
    return /^[A-Za-z0-9]$/.test(letters) && !/[×ℹ\p{M}]/u.test(character) ? ODD : 0
  const index = patterns.findIndex((pattern) => pattern.test(character))
  if (index === 0) return isOddLatin(character) ? 1 + ODD : 1
  if (index > 0) return idOf(index) + (looksLatin(character) ? LOOKALIKE : 0)
  const isStylized = /^[A-Za-z]$/.test(character.normalize('NFKC')) || LATIN_WRITING.test(letters)
  return isStylized ? ODD : 0
}

function isOddLatin(character) {
  // Letters with a mark, ligatures of French and Danish, and the dotless i, for which `lookalikes` has a rule.
  if (character.normalize('NFD') !== character || /[æÆœŒı]/.test(character)) return false
  return (
    SMALL_CAPITALS.test(character) ||
    LATIN_WRITING.test(skeleton(character)) ||
    LATIN_WRITING.test(character.normalize('NFKC'))
  )
}

const START = 0x80
const END = 0x20000
const ranges = []
for (let code = START, last = null; code < END; code++) {
  const character = String.fromCodePoint(code)
  if (code >= 0xd800 && code < 0xe000) continue
  const kind = classOf(character)
  // A gap between letters of one script, such as a mark, does not end its range.
  if (last && kind === last.kind && (code === last.end || !hasOther(last.end, code))) last.end = code + 1
  else if (kind > 0) {
    last = { start: code, end: code + 1, kind }
    ranges.push(last)
  }
}

/** Whether letters, or other characters with a class, stand between two characters. */
function hasOther(from, to) {
  for (let code = from; code < to; code++)
    if (/[\p{L}\p{N}\p{S}\p{P}\p{Z}]/u.test(String.fromCodePoint(code))) return true
  return false
}

let at = START
const numbers = ranges.flatMap(({ start, end, kind }) => {
  const row = [start - at, end - start, kind]
  at = end
  return row
})
const target = fileURLToPath(new URL('../src/contract/actions/lookalikes-table.ts', import.meta.url))
const words = numbers.map((number) => number.toString(36)).join(' ')
const lines = words.match(/.{1,100}(?: |$)/g)
writeFileSync(
  target,
  `/**
 * Scripts, and the letters that pass for Latin ones. \`scripts/write-lookalikes.mjs\` writes this file from confusables.txt ${version} of
 * Unicode Technical Standard #39 (copyright 2024 Unicode, Inc., Unicode License v3, https://www.unicode.org/license.txt).
 */

/** Version of the standard's data. */
export const UNICODE_VERSION = '${version}'
/** Highest class of an alphabet in use; Latin is 1. */
export const LAST_ALPHABET = ${ALPHABETS.length}
/** Highest class of a rare script or of Roman numerals. Higher classes are scripts whose words hold Latin letters as well. */
export const LAST_RARE = ${NUMERALS}
/** Added to the class of a letter that passes for a Latin letter or a digit. */
export const LOOKALIKE = ${LOOKALIKE}
/** Added to the class of a character that only passes for another. */
export const ODD = ${ODD}
/** The characters from U+0080: unclassed ones before the range, length of the range, class; each in base 36. */
export const RANGES =
${lines.map((line, index) => `  ${index === 0 ? '' : ''}'${line}'`).join(' +\n')}
`,
)
execFileSync('npx', ['biome', 'check', '--write', target], { stdio: 'inherit' })
