/** The map of the conformance suite's modules: each rule is a test, and docs/internals/openid-conformance.md gives a reason for each module without one. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { packageFile } from '../../../src/lib/package-root.js'
import { PLANS } from './conformance-modules.js'

const page = readFileSync(packageFile('docs', 'internals', 'openid-conformance.md'), 'utf8')
const mapped = Object.values(PLANS).flatMap((files) =>
  Object.entries(files).flatMap(([file, rules]) =>
    Object.entries(rules).map(([modules, rule]) => ({ file, modules, rule })),
  ),
)

/** Titles of the tests of a file, which are the first texts of calls; a parameter of a title may be any text. */
function titlesOf(file: string): RegExp[] {
  const source = readFileSync(packageFile('test', 'features', 'openid', `${file}.test.ts`), 'utf8')
  const titles = [...source.matchAll(/\(\s*(['"])((?:(?!\1).)+)\1,/g)]
  const escaped = titles.map(([, , title]) => title!.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return escaped.map((title) => new RegExp(`^${title.replaceAll('%s', '.+')}$`))
}

describe('the page about conformance', () => {
  const [, table] = page.split('## Modules without a test') as [string, string]
  const without = [...table.matchAll(/^\| (?!Plan|---)(.+?) \| (.+?) \| (.+?) \|$/gm)]

  it('names each plan whose modules are mapped', () => {
    expect(Object.keys(PLANS).filter((plan) => !page.includes(`| \`${plan}\` |`))).toEqual([])
  })

  it('gives a reason for each module without a test', () => {
    expect(mapped.length + without.length).toBeGreaterThan(60)
    expect(without.length).toBeGreaterThan(5)
    expect(without.filter(([, , , reason]) => !/^.{20,}\.$/.test(reason!))).toEqual([])
  })
})

describe('the map of the modules', () => {
  it.each(mapped)('names a test for $modules: $rule', ({ file, rule }) => {
    expect(titlesOf(file).some((title) => title.test(rule))).toBe(true)
  })
})
