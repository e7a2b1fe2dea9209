/**
 * Finds letters that pass for others: those of another alphabet within a word, whole texts of another alphabet that read as Latin,
 * and stylized forms of Latin letters. It knows the alphabets that resemble Latin, and no pairs within Han, kana or Arabic
 * (Unicode Technical Standard #39 has those).
 */

const ALPHABETS = ['Latin', 'Cyrillic', 'Greek', 'Armenian', 'Cherokee', 'Coptic', 'Lisu', 'Deseret'].map(
  (name) => ({ name, letter: new RegExp(`\\p{Script=${name}}`, 'u') }),
)
/** Cyrillic and Greek letters that look like Latin ones (UTS #39, confusables.txt). */
const LIKE_LATIN = /[аАВсСԁеЕһНіІјЈкКӏМоОрРԛѕЅТуУԝхХҮүґЅ]|[αΑΒΕεΖΗιΙκΚΜνΝοΟρΡτΤυΥχΧγω]/u
const LATIN_LIKE_LATIN = /[ɑɡɩʏɪʟ]/u
const ASCII = /^[\n -~]*$/
const LETTER = /\p{L}/u
const WORD = /[\p{L}\p{M}\p{N}’']+/gu
/** Letters of full width are usual in Japanese. */
const FULL_WIDTH = /[\uff01-\uff5e]/

/** @returns the letters of a text that pass for others, each once, in their order; none for nearly all names */
export function lookalikes(text: string): string[] {
  // Most lines are ASCII, in which nothing passes for anything else: a batch has 4,000 of them.
  if (ASCII.test(text)) return []
  const letters = [...text].filter((character) => LETTER.test(character) || isStylized(character))
  const marked = new Set<string>([
    ...letters.filter((letter) => isStylized(letter) || LATIN_LIKE_LATIN.test(letter)),
    ...(text.match(WORD) ?? []).flatMap(strangersIn),
    ...[...posers(letters, 'Cyrillic'), ...posers(letters, 'Greek')],
  ])
  return letters.filter((letter, index) => marked.has(letter) && letters.indexOf(letter) === index)
}

/** Letters of a word whose alphabet is not that of most of its letters. In a draw, Latin is the word's own. */
function strangersIn(word: string): string[] {
  const groups = ALPHABETS.map(({ letter }) =>
    [...word].filter((character) => letter.test(character)),
  ).filter((group) => group.length > 0)
  const [most] = groups.toSorted((a, b) => b.length - a.length)
  return groups.filter((group) => group !== most).flat()
}

/** The letters of an alphabet, where each of them in the whole text looks like a Latin one. */
function posers(letters: readonly string[], alphabet: string): string[] {
  const { letter } = ALPHABETS.find(({ name }) => name === alphabet)!
  const own = letters.filter((character) => letter.test(character))
  return own.every((character) => LIKE_LATIN.test(character)) ? own : []
}

/** Whether a character is another form of an ASCII letter or digit, such as a mathematical bold one. */
function isStylized(character: string): boolean {
  if (character <= '\u007f' || FULL_WIDTH.test(character)) return false
  return /^[A-Za-z0-9]+$/.test(character.normalize('NFKC'))
}
