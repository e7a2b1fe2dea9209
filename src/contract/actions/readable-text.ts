/** Decides which characters a text for people may hold, so that none of it is invisible or shown in another order. */

/**
 * Unicode's Cc, Cf, Cs, Co and Cn (control, format, surrogate, private use, unassigned), the line and paragraph separators, and
 * all other characters that have no shape of their own.
 */
const UNSEEN = /[\p{C}\p{Default_Ignorable_Code_Point}\u2028\u2029]/u

/** A sign with the selectors, joiners and tags that follow it, and what they join to it. Two letters of a flag count as one sign. */
const SEQUENCE =
  /(?:[\u{1f1e6}-\u{1f1ff}]{2}|\p{Emoji})(?:[\ufe0e\ufe0f\u20e3\u{1f3fb}-\u{1f3ff}\u{e0020}-\u{e007f}]|\u200d\p{Emoji})+/gu
/** Node 20 knows the flag `v`; the language level that the compiler is set to does not, so the pattern is no literal. */
const UNICODE_SETS = 'v'
/** The pattern of every emoji that Unicode recommends, with the joiners, tags and selectors that belong to it, and a sign with one selector. */
const EMOJI = String.raw`^(?:\p{RGI_Emoji}|\p{Emoji}[\ufe0e\ufe0f])$`
/** Compiled at the first emoji: that takes longer than to load most modules, and every command would wait for it. */
let emoji: RegExp | undefined
/** Emoji that were found so far, of some thousands: the pattern compares a sequence with one after the other, for microseconds. */
const knownEmoji = new Set<string>()

/** The spelling of these scripts needs the zero-width joiner and non-joiner: Persian, Urdu, the Indic scripts and their relatives. */
const JOINING_SCRIPTS = [
  ...['Arabic', 'Syriac', 'Mongolian', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil'],
  ...['Telugu', 'Kannada', 'Malayalam', 'Sinhala', 'Khmer', 'Myanmar', 'Tibetan'],
]
const JOINING = `[${JOINING_SCRIPTS.map((script) => `\\p{Script_Extensions=${script}}`).join('')}]`
const JOINERS = new RegExp(`(${JOINING})[\\u200c\\u200d](?=${JOINING})`, 'gu')

/** Selectors of variants of Han characters, with which Japanese names are written. */
const HAN_VARIANTS = /(\p{Script=Han})[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu

/** Arabic signs for numbers, dates and verses. They are visible although their category is Cf. */
const ARABIC_SIGNS = /[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2]/gu

export const NO_UNSEEN_CHARACTERS =
  'must not hold control, format, invisible, private-use or unassigned characters'
export const READABLE =
  'must not hold control characters, characters that change the direction of writing, or invisible ones (zero-width joiners may stand inside words of scripts that need them, and inside emoji)'

/** Whether an identifier holds visible characters only. For user ids: no language needs an invisible character in one. */
export function isPlainIdentifier(text: string): boolean {
  return !UNSEEN.test(text)
}

/** Whether every character of a line of text is visible, in any language and with emoji. */
export function isReadableLine(text: string): boolean {
  if (!UNSEEN.test(text)) return true
  // The first sequence that is no emoji decides, so that a text without any costs one comparison with them.
  for (const [sequence] of text.matchAll(SEQUENCE))
    if (UNSEEN.test(sequence) && !isEmoji(sequence)) return false
  // A space keeps the characters around an emoji apart.
  const rest = text
    .replace(SEQUENCE, ' ')
    .replace(JOINERS, '$1')
    .replace(HAN_VARIANTS, '$1')
    .replace(ARABIC_SIGNS, '')
  return !UNSEEN.test(rest)
}

function isEmoji(sequence: string): boolean {
  emoji ??= new RegExp(EMOJI, UNICODE_SETS)
  if (!knownEmoji.has(sequence) && !emoji.test(sequence)) return false
  knownEmoji.add(sequence)
  return true
}

/** Whether every character of a text of several lines and paragraphs is visible. */
export function isReadableText(text: string): boolean {
  return isReadableLine(text.replace(/[\t\n\r]/g, ' '))
}
