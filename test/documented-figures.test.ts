/**
 * Sizes and speeds in sentences that nobody generates: a limit has to be a constant of the sources or a default, and what was measured,
 * computed or assumed has to say so where it stands. Error rates have tests of their own.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ALL_SETTINGS } from '../src/app/configuration.js'
import { packageFile } from '../src/lib/package-root.js'
import { linkingPages } from './support/page-links.js'
import { FENCE } from './support/plain-prose.js'

/** Written from `bench/results` and other sources; tables of accuracy are generated as a whole. */
const GENERATED = /<!-- ([\w-]+)(?:: [\w-]+)? -->[\s\S]*?<!-- \/\1 -->/g
const FIGURE = /(\d[\d.,]*) ?(ms|[KMG]iB|[kMG]B(?:\/s)?|a second|bytes)(?![\w/])/g
const KNOWN_AS = /\b(?:measured|computed|assumed|estimated|plan|planning|example)\b/i
/** Everything on it was measured once; it says when, and on which machine. */
const LABORATORY = 'docs/internals/laboratory.md'
const BYTES: Record<string, number> = { bytes: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }

/** Values of the constants of the sources, and of the defaults of settings. */
function constants(): Set<number> {
  const sources = ['src', 'clients', 'models', 'docs/operations'].flatMap((folder) =>
    readdirSync(packageFile(...folder.split('/')), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:ts|py|go|yml)$/.test(name) && !name.includes('node_modules'))
      .map((name) => readFileSync(packageFile(...folder.split('/'), ...name.split('/')), 'utf8')),
  )
  const products = sources.flatMap(
    (text) => text.match(/(?<![\w.])\d[\d_]*(?:e\d+)?(?: ?\*\*? ?\d[\d_]*)*(?![\w.])/g) ?? [],
  )
  const value = (product: string) =>
    product
      .replaceAll('_', '')
      .split(/(?<!\*) ?\* ?(?!\*)/)
      .map((power) =>
        power
          .split(/ ?\*\* ?/)
          .map(Number)
          .reduce((base, exponent) => base ** exponent),
      )
      .reduce((one, other) => one * other)
  const defaults = Object.values(ALL_SETTINGS).flatMap((setting) =>
    'default' in setting && typeof setting.default === 'number' ? [setting.default] : [],
  )
  return new Set([...products.map(value), ...defaults])
}

/** The figures of a page that neither follow from the sources nor say how they are known. */
function unheld(text: string, known: ReadonlySet<number>): string[] {
  const prose = text
    .replace(FENCE, '')
    .replace(GENERATED, '')
    .replace(/`[^`\n]*`/g, '`')
  const blocks = prose.split(/\n\s*\n/)
  return blocks.flatMap((block, i) =>
    // A table or a formula may be explained before or after it.
    KNOWN_AS.test(/^(?:\|| {4})/.test(block) ? `${blocks[i - 1]} ${block} ${blocks[i + 1]}` : block)
      ? []
      : [...block.matchAll(FIGURE)].flatMap(([figure, number, unit]) => {
          const bytes = Number(number!.replaceAll(',', '')) * (BYTES[unit!] ?? Number.NaN)
          return known.has(bytes) ? [] : [figure]
        }),
  )
}

const KNOWN = constants()
const pages = linkingPages()
  .filter((page) => page.startsWith('docs/') && page !== LABORATORY)
  .map((name) => [name, readFileSync(packageFile(...name.split('/')), 'utf8')] as const)

it('sizes and speeds in sentences are constants of the product, or say that they were measured, computed or assumed', () => {
  expect(pages.flatMap(([page, text]) => unheld(text, KNOWN).map((figure) => `${page}: ${figure}`))).toEqual(
    [],
  )
})

it.each([
  ['A body has at most 9 MiB.', ['9 MiB']],
  ['A body has at most 8 MiB.', []],
  ['It takes 12 ms.', ['12 ms']],
  ['It takes 12 ms (measured).', []],
])('"%s" leaves %j to nobody', (text, found) => {
  expect(unheld(text, KNOWN)).toEqual(found)
})
