/** The pages show no sentence without its figure, and no sample output of an earlier version. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { SCHEMA } from '../src/features/postgres/store/postgres-migrations.js'
import { packageFile } from '../src/lib/package-root.js'
import { VERSION } from '../src/lib/version.js'
import { SCHEMA_VERSION } from '../src/storage/sqlite/sqlite-migrations.js'
import { standardPackDocument } from '../tools/pack-builders/standard/pack-document.js'
import { linkingPages } from './support/page-links.js'
import { emptyFiguresIn, sampleVersionsIn } from './support/page-samples.js'

/** Schema of the earlier database that the samples of an upgrade begin with. */
const EARLIER_SCHEMA = 5

const [major, minor] = VERSION.split('.').map(Number)
/** Samples of an upgrade and of a release show the next version. */
const NEXT_VERSION = `${major}.${minor! + 1}.0`

const pages = linkingPages()
  .filter((page) => page !== 'CHANGELOG.md')
  .map((page) => [page, readFileSync(packageFile(page), 'utf8')] as const)

/** Lists each sample that is not among those allowed, with its page. */
const othersThan = <T>(allowed: readonly T[], of: (text: string) => T[]) =>
  pages.flatMap(([page, text]) =>
    of(text)
      .filter((one) => !allowed.includes(one))
      .map((one) => `${page}: ${one}`),
  )

describe('the pages', () => {
  it('have a value for every figure of a sentence', () => {
    expect(pages.flatMap(([page, text]) => emptyFiguresIn(text).map((found) => `${page}: ${found}`))).toEqual(
      [],
    )
  })

  it('show outputs and files of this version, or of the next one', () => {
    expect(pages.flatMap(([, text]) => sampleVersionsIn(text).versions).length).toBeGreaterThan(10)
    expect(othersThan([VERSION, NEXT_VERSION], (text) => sampleVersionsIn(text).versions)).toEqual([])
  })

  it('show databases with the schemas of this version, or with an earlier one before an upgrade', () => {
    expect(pages.flatMap(([, text]) => sampleVersionsIn(text).schemas).length).toBeGreaterThan(2)
    const allowed = [SCHEMA_VERSION, SCHEMA, EARLIER_SCHEMA]
    expect(othersThan(allowed, (text) => sampleVersionsIn(text).schemas)).toEqual([])
  })

  it('show both schemas in the output of --version', () => {
    const shown = pages.flatMap(([, text]) => text.match(/^\d.* \(commit [0-9a-f]{12}, schema .*\)$/gm) ?? [])
    expect(shown).toEqual([
      expect.stringMatching(
        new RegExp(`^${VERSION} .*, schema ${SCHEMA_VERSION} with SQLite, ${SCHEMA} with PostgreSQL\\)$`),
      ),
    ])
  })

  it('show the standard pack in the version that is built', () => {
    const { id, version } = standardPackDocument()
    const named = (text: string) => sampleVersionsIn(text).packs.filter((pack) => pack.startsWith(`${id}@`))
    expect(pages.flatMap(([, text]) => named(text)).length).toBeGreaterThan(5)
    expect(othersThan([`${id}@${version}`], named)).toEqual([])
  })
})

describe('an empty figure', () => {
  it.each([
    ['a sentence', 'With half the load, p99 was –.'],
    ['a sentence with a unit', 'It took – ms.'],
    ['brackets', 'The median (–) is small.'],
    ['a marked figure', 'It takes <!-- figures: a -->–<!-- /figures --> of each.'],
    ['a cell with more text', '| a | takes – of each |'],
    ['a missing value', 'It took undefined ms.'],
  ])('is found in %s', (_where, text) => {
    expect(emptyFiguresIn(text)).toHaveLength(1)
  })

  it.each([
    ['a cell of its own', '| a | – |\n| --- | --- |'],
    ['a range', 'It took 3–5 ms.'],
    ['code', 'Write `– ms`.\n\n```\nwas –\n```\n'],
    ['a list', '- one\n- two'],
  ])('is not %s', (_where, text) => {
    expect(emptyFiguresIn(text)).toEqual([])
  })
})

describe('versions', () => {
  it('are found in outputs and in names of files', () => {
    const text = `0.1.0 (commit d5b4547e1fc7, schema 49 with SQLite, 41 with PostgreSQL)
db1/1054    0.2.0    8c8f2c20  40      2026-11-22T15:21:25.585Z  1.8 s
/opt/countersign-0.3.0/countersign of standard@1.0.0 and countersign@10.0.0.1`
    expect(sampleVersionsIn(text)).toEqual({
      versions: ['0.3.0', '0.1.0', '0.2.0'],
      schemas: [49, 41, 40],
      packs: ['standard@1.0.0'],
    })
  })
})
