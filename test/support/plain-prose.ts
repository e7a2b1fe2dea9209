/** Finds prose in Markdown that is hard to read: words with a plainer twin, long sentences and long cells of tables. */
import { readdirSync, readFileSync } from 'node:fs'
import { packageFile } from '../../src/lib/package-root.js'
import { HARD_WORDS } from './plain-words.js'

export interface ProseFinding {
  /** Path inside the repository, with the number of the line: `docs/scale.md:12`. */
  place: string
  kind: 'word' | 'sentence' | 'cell'
  text: string
}

/** The goal is 25 words; a sentence or a cell that is a little longer may still read well. */
const MAX_WORDS_OF_SENTENCE = 35
const MAX_WORDS_OF_CELL = 40

/** The pages have the spelling of the API. */
const OTHER_SPELLING =
  /\b(?:enrol(?!l)|colour|behaviour|neighbour|licence|centre|recognis|organis|synchronis|normalis)\w*/i

/** Pages that are made from the source, where `findHardWords` reads their texts. */
const IS_GENERATED = /^docs\/(?:commands|errors|operator-errors|configuration|evidence|sdk)\.md$/
const SINGLE_PAGES = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md']

/** Stands for inline code: a capital letter, so that a sentence can begin with code. It counts as no word. */
const CODE = 'Ø'
/** A block of code, with its fences. */
export const FENCE = /^[ \t]*(`{3,}|~{3,})[^\n]*\n(?:[\s\S]*?\n)??[ \t]*\1[ \t]*$/gm
const INLINE_CODE = /(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g
const COMMENT_OR_TAG = /<!--[\s\S]*?-->|<\/?[a-z][^<>]*>/gi
const LINK_TARGET = /\]\([^()\n]*\)/g
/** An empty line ends a block; a heading, a list item, a quote and a row of a table each begin one. */
const BETWEEN_BLOCKS = /\n\s*\n|\n(?=[ \t]*(?:#|[-*+] |\d+\. |>|\|))|(?<=\n#[^\n]*)\n/
/** Ends a sentence at each end of a line as well, so it is given none. */
const SENTENCES = new Intl.Segmenter('en', { granularity: 'sentence' })

/** The pages that people read, by path inside the repository. */
export function pagesOfProse(): string[] {
  const under = (folder: string) =>
    readdirSync(packageFile(...folder.split('/')), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
      .map((name) => `${folder}/${name}`)
  const clients = ['go', 'node', 'python']
  return [...SINGLE_PAGES, ...under('docs'), ...clients.map((name) => `clients/${name}/README.md`)]
    .filter((page) => !IS_GENERATED.test(page))
    .sort()
}

/** @param page path inside the repository */
export function hardProseOf(page: string): ProseFinding[] {
  return hardProseIn(page, readFileSync(packageFile(...page.split('/')), 'utf8'))
}

/** @param page only names the place of a finding */
export function hardProseIn(page: string, text: string): ProseFinding[] {
  const found: ProseFinding[] = []
  const prose = proseOf(`\n${text}`)
  const note = (kind: ProseFinding['kind'], index: number, said: string) =>
    found.push({
      place: `${page}:${prose.slice(0, index).split('\n').length - 1}`,
      kind,
      text: said.trim().replace(/\s+/g, ' '),
    })
  for (const { index, block } of partsOf(prose, BETWEEN_BLOCKS)) {
    const isRow = block.startsWith('|')
    for (const part of isRow ? partsOf(block, /(?<!\\)\|/) : [{ index: 0, block }]) {
      const at = index + part.index
      if (isRow && wordsOf(part.block) > MAX_WORDS_OF_CELL) note('cell', at, part.block)
      for (const { index: offset, segment } of SENTENCES.segment(part.block.replaceAll('\n', ' '))) {
        if (HARD_WORDS.test(segment) || OTHER_SPELLING.test(segment)) note('word', at + offset, segment)
        if (wordsOf(segment) > MAX_WORDS_OF_SENTENCE) note('sentence', at + offset, segment)
      }
    }
  }
  return found
}

/** The text with all that is not prose blanked out, at the same length, so that a place in it is a place in the page. */
function proseOf(text: string): string {
  const blank = (part: string) => part.replace(/[^\n]/g, ' ')
  return text
    .replace(FENCE, blank)
    .replace(INLINE_CODE, (code) => CODE + blank(code.slice(1)))
    .replace(COMMENT_OR_TAG, blank)
    .replace(LINK_TARGET, blank)
}

/** What stands between the separators, without leading space, and where it begins. */
function partsOf(text: string, separator: RegExp): { index: number; block: string }[] {
  const parts: { index: number; block: string }[] = []
  let begin = 0
  const add = (end: number) => {
    const block = text.slice(begin, end)
    parts.push({ index: begin + block.length - block.trimStart().length, block: block.trim() })
  }
  for (const match of text.matchAll(new RegExp(separator, 'g'))) {
    add(match.index)
    begin = match.index + match[0].length
  }
  add(text.length)
  return parts.filter(({ block }) => block !== '')
}

function wordsOf(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word.replace(CODE, ''))).length
}
