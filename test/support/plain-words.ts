/** Finds comments, messages and test titles that are hard to read: fragments without a subject, and words with a plainer twin. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFile } from '../../src/lib/package-root.js'

export interface Finding {
  /** Path inside the repository, with the number of the line: `src/api/endpoints/verify.ts:12`. */
  place: string
  kind: 'comment' | 'message' | 'title'
  text: string
}

/** A comment that begins so leaves out the thing that it speaks of. */
const FRAGMENT_OF_COMMENT = /^(?:Of|What|Whoever|Whatever|Who|With|By|For|As|Such|That)\b/
/** A title that begins so says nothing where it stands by itself, as in the log of a failed run. */
const FRAGMENT_OF_TITLE =
  /^(?:of|that|what|whoever|whatever|who|such|as|with|without|by|for|in|on|at|from|to|until|where|when|while|nor|and|but|not|once|also|even)\b/
/** Each has a plainer twin: anyone who, again, only, instead of, next to, reports, automatically, take seriously, obey. */
export const HARD_WORDS =
  /\b(?:whoever|whomever|whatever|anew|alone|in (?:the )?place of|in whose place|by (?:itself|themselves)|beside|(?:is|are|was|were|be) told|tells|tell of|told of|(?:is|are) meant(?! for| to)|heeds?|heeded|asked after)\b/i

const COMMENT = /\/\*\*?([\s\S]*?)\*\/|(?:^|\s)\/\/ (.+)$/gm
const TITLE = /\b(?:it|test)(?:\.[a-zA-Z]+(?:\([^()\n]*\))?)*\(\s*(['"`])((?:\\.|(?!\1).)+)\1/g
const STRING = /(['"`])((?:\\.|(?!\1)[^\n])*)\1/g

const FOLDERS = ['src', 'clients', 'models', 'tools', 'bench', 'scripts', 'test']
/** Folders whose own folders are the rooms. */
const ROOMS_INSIDE = ['src', 'clients', 'tools', 'test']
const IS_SOURCE = /\.(?:ts|tsx|mjs)$/
const IS_LEFT_OUT =
  /(?:^|\/)(?:node_modules|results|__pycache__)\/|^clients\/capture\/texts-|plain-(?:words|prose)/

/** @param under folders of the repository, such as `src/http`; all of its sources when left out */
export function findHardWords(under: readonly string[] = FOLDERS): Finding[] {
  return under.flatMap((folder) =>
    readdirSync(packageFile(...folder.split('/')), { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((file) => IS_SOURCE.test(file) && !IS_LEFT_OUT.test(file))
      .sort()
      .flatMap((file) => hardWordsIn(file, readFileSync(packageFile(...file.split('/')), 'utf8'))),
  )
}

/** @param file decides what is looked at: titles in tests, messages elsewhere */
export function hardWordsIn(file: string, text: string): Finding[] {
  const found: Finding[] = []
  const note = (kind: Finding['kind'], index: number, said: string) =>
    found.push({ place: `${file}:${text.slice(0, index).split('\n').length}`, kind, text: said })
  for (const match of text.matchAll(COMMENT)) {
    const said = (match[1] ?? match[2])!.replace(/^\s*\*? ?/gm, '').trim()
    if (FRAGMENT_OF_COMMENT.test(said) || HARD_WORDS.test(said)) note('comment', match.index, said)
  }
  // The comments are blanked out, at the same length, so that an apostrophe in one begins no string.
  const code = text.replace(COMMENT, (comment) => comment.replace(/[^\n]/g, ' '))
  if (file.startsWith('test/')) {
    for (const match of code.matchAll(TITLE))
      if (FRAGMENT_OF_TITLE.test(match[2]!) || HARD_WORDS.test(match[2]!))
        note('title', match.index, match[2]!)
  } else
    for (const match of code.matchAll(STRING))
      if (/\s/.test(match[2]!) && HARD_WORDS.test(match[2]!)) note('message', match.index, match[2]!)
  return found
}

/** The room that a place is in: `src/http`, `clients/node`, `tools/evaluation`, `test/api`, `models`, `bench`. */
export function roomOf({ place }: Finding): string {
  const [top, second = ''] = place.split('/')
  return ROOMS_INSIDE.includes(top!) && !/\.\w+:\d+$/.test(second) ? `${top}/${second}` : top!
}
