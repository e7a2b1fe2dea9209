/** docs/sdk.md and the lists of docs/guides/step-up.md against the SDK, so that neither lacks a method, an option or a code. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { REASONS } from '../../src/contract/verdict.js'
import { packageFile } from '../../src/lib/package-root.js'
import { documentInDocs } from '../../tools/generators/docs.js'
import { EXPORTS, isNamed, SHOWN, sdkPage } from '../../tools/generators/sdk-reference.js'

/** Words of the page, which somebody reads from top to bottom. */
const LONGEST_PAGE = 4200

it('docs/sdk.md equals the page made from the declarations (UPDATE_DOCS=1 writes it)', () => {
  const made = sdkPage()
  expect(documentInDocs('sdk.md', made)).toBe(made)
})

it('every method and option that is shown has a comment', () => {
  for (const [part, members] of Object.entries(SHOWN)) {
    const all = members()
    expect(all.length, part).toBeGreaterThan(2)
    expect(
      all.filter(({ description }) => !description).map(({ name }) => name),
      part,
    ).toEqual([])
  }
})

it('the page names every function, class and constant that a module of the SDK exports', () => {
  const [, ...named] = sdkPage().split(/`(\w+)(?:\([^`]*\))?`|^##+ (\w+)$/m)
  const names = new Set(named)
  for (const { module, exports } of EXPORTS()) {
    expect(exports.length, module).toBeGreaterThan(0)
    expect(
      exports.filter((one) => isNamed(one) && !names.has(one.name)).map(({ name }) => name),
      module,
    ).toEqual([])
  }
})

it('the page leaves types to the editor, and stays short enough to be read', () => {
  expect(sdkPage()).not.toMatch(/^(?:export )?(?:interface|type) /m)
  expect(sdkPage().split(/\s+/).length).toBeLessThan(LONGEST_PAGE)
})

it('every field on the page says what it is', () => {
  const silent = sdkPage().match(/^- `[^`]+`(?:, required)?: *$/gm) ?? []
  expect(silent).toEqual([])
})

it('every exported function, class and constant has a comment, and every function and method an example', () => {
  const all = EXPORTS().flatMap(({ exports }) => exports)
  expect(all.filter(({ description }) => !description).map(({ name }) => name)).toEqual([])
  const called = [...all.filter(({ kind }) => kind === 'function'), ...SHOWN.client()]
  expect(called.filter(({ example }) => !example).map(({ name }) => name)).toEqual([])
})

const guide = readFileSync(packageFile('docs', 'guides', 'step-up.md'), 'utf8')
/** Names in code that begin the items of the list under a heading. */
function namesUnder(heading: string): string[] {
  const [, rest = ''] = guide.split(`## ${heading}\n`)
  const [section = ''] = rest.split(/^## /m)
  return [...section.matchAll(/^- `(\w+)`: /gm)].map(([, name]) => name!)
}

it('the guide says of every reason of a rejection what an application does', () => {
  expect(namesUnder('Why a verdict is a rejection').sort()).toEqual([...REASONS].sort())
})

it('the guide says of every code of verifyVerdict what an application does', () => {
  const source = readFileSync(packageFile('clients', 'node', 'errors.ts'), 'utf8')
  const [, union = ''] = /^export type VerdictErrorCode =\n((?: {2}\| '\w+'\n)+)/m.exec(source) ?? []
  const codes = [...union.matchAll(/'(\w+)'/g)].map(([, code]) => code!)
  expect(codes.length).toBeGreaterThan(15)
  expect(namesUnder('Why a verdict is refused').sort()).toEqual(codes.sort())
})
