import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ERRORS } from '../src/api-error.js'
import { SETTINGS } from '../src/config.js'
import { packageFile } from '../src/package-root.js'
import { configurationPage, documentInDocs, errorsPage } from './support/docs.js'
import { supplyChainPage } from './support/supply-chain-page.js'

/** The cells of every table row of a page. */
function rowsOf(page: string): string[][] {
  return page
    .split('\n')
    .filter((line) => /^\| `/.test(line))
    .map((line) =>
      line
        .slice(2, -2)
        .split(/(?<!\\) \| /)
        .map((cell) => cell.replaceAll('\\|', '|').replaceAll('\\<', '<')),
    )
}

const code = (text: string) => `\`${text}\``

describe('docs/errors.md', () => {
  const page = documentInDocs('errors.md', errorsPage())

  it('is the one that the registry makes (UPDATE_DOCS=1 writes it)', () => {
    expect(page).toBe(errorsPage())
  })

  it('lists exactly the codes of the registry, with status, message and remedy, under their category', () => {
    const listed: Record<string, unknown> = {}
    for (const section of page.split(/^## /m).slice(1)) {
      const category = section.split('\n')[0]
      for (const [name, status, message, remedy] of rowsOf(section))
        listed[name!.replaceAll('`', '')] = { status: Number(status), category, message, remedy }
    }
    expect(listed).toEqual(ERRORS)
  })
})

describe('docs/configuration.md', () => {
  const page = documentInDocs('configuration.md', configurationPage())

  it('is the one that the settings make (UPDATE_DOCS=1 writes it)', () => {
    expect(page).toBe(configurationPage())
  })

  it('lists every variable once, with its default and its meaning', () => {
    const expected = Object.values(SETTINGS).map(({ variable, fallback, description }) => [
      code(variable),
      fallback === undefined ? '–' : code(fallback),
      description,
    ])
    expect(rowsOf(page).sort()).toEqual(expected.sort())
  })

  it('puts every variable under a heading of its own kind', () => {
    expect(page).not.toContain('## Others')
  })
})

describe('docs/supply-chain.md', () => {
  it('is the one that package.json and the records make (UPDATE_DOCS=1 writes it)', () => {
    const made = supplyChainPage()
    expect(documentInDocs('supply-chain.md', made)).toBe(made)
  })
})

describe('the documentation', () => {
  const pages = [
    packageFile('README.md'),
    ...readdirSync(packageFile('docs'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => packageFile('docs', name)),
  ]
  const texts = pages.map((file) => readFileSync(file, 'utf8')).join('\n')

  it('names no variable that the service does not read', () => {
    const known = new Set<string>(Object.values(SETTINGS).map(({ variable }) => variable))
    const named = new Set(texts.match(/\bCOUNTERSIGN_[A-Z_]*[A-Z]\b/g))
    expect([...named].filter((name) => !known.has(name))).toEqual([])
  })
})

describe('docs/threat-model.md', () => {
  const page = readFileSync(packageFile('docs', 'threat-model.md'), 'utf8')
  const named = [...page.matchAll(/`(test\/[\w/.-]+)`/g)].map(([, file]) => file!)

  it('names tests, and every one of them is there', () => {
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter((file) => !existsSync(packageFile(...file.split('/'))))).toEqual([])
  })
})
