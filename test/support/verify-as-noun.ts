/** Finds texts for users that call a verification "a verify". The call, `verify`, keeps its name in code, and the verb is a verb. */
import { readdirSync, readFileSync } from 'node:fs'
import { packageFile } from '../../src/lib/package-root.js'

const SINGULAR =
  /\b(?:an?|the|each|every|no|any|this|another|other|one|only|per|such|first|next|last|latest|real|failed|strong|rejected|approved|production|sandbox|slow|ordinary|later|earlier)\s+verify\b(?![-`'"/_])/gi
/** The verb has an object, and as the predicate of a sentence mostly an article after it. */
const PLURAL =
  /(?<![-.\w`'"])verifies\b(?![-`_])(?!\s+(?:the|an?|it|its|them|all|every|each|real|users?|this|that|these|whether|against|signatures?|nothing|and\s+erases)\b)/gi
const INLINE_CODE = /`[^`\n]*`/g

/** The places in a text without code. */
export function verifyAsNoun(text: string): RegExpExecArray[] {
  const prose = text.replace(INLINE_CODE, (code) => 'Ø'.repeat(code.length))
  return [SINGULAR, PLURAL].flatMap((pattern) => [...prose.matchAll(pattern)])
}

const TS_COMMENT = /\/\*\*?[\s\S]*?\*\/|(?:^|\s)\/\/ .+$/gm
const STRING = /(['"`])((?:\\.|(?!\1)[^\n])*)\1/g
/** Text between tags, or between a tag and braces. */
const TEXT_OF_JSX = /(?<![=-])[>}]([^<>{}=]*[a-z][^<>{}=]*)(?=[<{])/gi

const FOLDERS = ['src', 'clients', 'models', 'tools']
/** Texts of alerts and of Grafana's dashboard. */
const OTHER_FILES = [
  'docs/operations/alerts.yml',
  'docs/operations/helm/countersign/alerts.yml',
  'docs/operations/grafana.json',
]
const IS_SOURCE = /\.(?:ts|tsx|mjs|py|go)$/
const IS_LEFT_OUT = /(?:^|\/)(?:node_modules|__pycache__|build|dist)\//

/** Every finding as `file:line: text`. Messages are looked at everywhere, and comments of the packages, which are their reference. */
export function findVerifyAsNoun(): string[] {
  const read = (file: string) => verifyAsNounIn(file, readFileSync(packageFile(file), 'utf8'))
  const sources = FOLDERS.flatMap((folder) =>
    readdirSync(packageFile(folder), { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .filter((file) => IS_SOURCE.test(file) && !IS_LEFT_OUT.test(file))
      .sort(),
  )
  return [...sources, ...OTHER_FILES].flatMap(read)
}

/** @param file decides what is looked at */
export function verifyAsNounIn(file: string, text: string): string[] {
  const found = new Set<string>()
  const look = (index: number, part: string) => {
    for (const { index: at } of verifyAsNoun(part))
      found.add(`${file}:${text.slice(0, index + at).split('\n').length}: ${wordsAround(part, at)}`)
  }
  if (/\.(?:py|go|yml|json)$/.test(file)) look(0, text)
  else {
    if (file.startsWith('clients/'))
      for (const { index, 0: comment } of text.matchAll(TS_COMMENT)) look(index, comment)
    const code = text.replace(TS_COMMENT, (comment) => comment.replace(/[^\n]/g, ' '))
    for (const { index, 2: said = '' } of code.matchAll(STRING)) if (/\s/.test(said)) look(index + 1, said)
    if (file.endsWith('.tsx'))
      for (const { index, 1: said = '' } of code.matchAll(TEXT_OF_JSX)) look(index + 1, said)
  }
  return [...found]
}

function wordsAround(text: string, at: number): string {
  return text.slice(Math.max(0, at - 30), at + 40).replace(/\s+/g, ' ')
}
