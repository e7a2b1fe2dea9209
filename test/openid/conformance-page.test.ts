/** docs/operations/openid-conformance.md: each rule that it names is a test, and each module without one has a reason. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'

const page = readFileSync(packageFile('docs', 'operations', 'openid-conformance.md'), 'utf8')
const rows = [...page.matchAll(/^\| (.+?) \| (–|`[\w.-]+`) \| (.+?) \|$/gm)].map(
  ([, modules, file, rule]) => ({
    modules: modules!,
    file: file!.replaceAll('`', ''),
    rule: rule!,
  }),
)

/** Titles of the tests of a file, which are the first texts of calls; a parameter of a title may be any text. */
function titlesOf(file: string): RegExp[] {
  const source = readFileSync(packageFile('test', 'openid', `${file}.test.ts`), 'utf8')
  const titles = [...source.matchAll(/\(\s*(['"])((?:(?!\1).)+)\1,/g)]
  const escaped = titles.map(([, , title]) => title!.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return escaped.map((title) => new RegExp(`^${title.replaceAll('%s', '.+')}$`))
}

describe('the page about conformance', () => {
  it('maps each module of the plans', () => {
    expect(rows.length).toBeGreaterThan(60)
  })

  it.each(rows.filter(({ file }) => file !== '–'))('names a test for $modules: $rule', ({ file, rule }) => {
    expect(titlesOf(file).some((title) => title.test(rule))).toBe(true)
  })

  it('gives a reason where there is no test', () => {
    const without = rows.filter(({ file }) => file === '–')
    expect(without.filter(({ rule }) => !/^No: .{20,}\.$/.test(rule))).toEqual([])
  })
})
