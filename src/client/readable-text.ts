/** Decides which characters a text for people may hold, so that none of it is invisible or shown in another order. */

/**
 * Unicode's Cc, Cf, Cs, Co and Cn (control, format, surrogate, private use, unassigned), the line and paragraph separators, and
 * all other characters that have no shape of their own.
 */
const UNSEEN = /[\p{C}\p{Default_Ignorable_Code_Point}\u2028\u2029]/u

/** Node 20 knows the flag `v`; the language level that the compiler is set to does not, so the pattern is no literal. */
const UNICODE_SETS = 'gv'
/** Every emoji that Unicode recommends, with the joiners, tags and selectors that belong to it, and a sign with one selector. */
const EMOJI = new RegExp(String.raw`\p{RGI_Emoji}|\p{Emoji}[\ufe0e\ufe0f]`, UNICODE_SETS)

/** The spelling of these scripts needs the zero-width joiner and non-joiner: Persian, Urdu, the Indic scripts and their relatives. */
const JOINING_SCRIPTS = [
  ...['Arabic', 'Syriac', 'Mongolian', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati', 'Oriya', 'Tamil'],
  ...['Telugu', 'Kannada', 'Malayalam', 'Sinhala', 'Khmer', 'Myanmar', 'Tibetan'],
]
const JOINING = `[${JOINING_SCRIPTS.map((script) => `\\p{Script_Extensions=${script}}`).join('')}]`
const JOINERS = new RegExp(`(?<=${JOINING})[\\u200c\\u200d](?=${JOINING})`, 'gu')

/** Selectors of variants of Han characters, with which Japanese names are written. */
const HAN_VARIANTS = /(?<=\p{Script=Han})[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu

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
  // A space keeps the characters around an emoji apart.
  const rest = text
    .replace(EMOJI, ' ')
    .replace(JOINERS, '')
    .replace(HAN_VARIANTS, '')
    .replace(ARABIC_SIGNS, '')
  return !UNSEEN.test(rest)
}

/** Whether every character of a text of several lines and paragraphs is visible. */
export function isReadableText(text: string): boolean {
  return isReadableLine(text.replace(/[\t\n\r]/g, ' '))
}
