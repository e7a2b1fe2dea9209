/** Tests of docs/evidence.md, and of the requirements from which the command makes its page. */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ALL_SETTINGS } from '../../../src/app/configuration.js'
import { STANDARDS } from '../../../src/features/evidence/judge-installation.js'
import { packageFile } from '../../../src/lib/package-root.js'
import { documentInDocs } from '../../../tools/generators/docs.js'
import { defaultInstallation, evidencePage } from './evidence-document.js'

describe('docs/evidence.md', () => {
  it('is the one that the judgements on the defaults make (UPDATE_DOCS=1 writes it)', () => {
    const made = evidencePage()
    expect(documentInDocs('evidence.md', made)).toBe(made)
  })

  it('shows a line with its judgement', () => {
    expect(evidencePage()).toContain('| **not met**: ')
  })
})

describe('the requirements of countersign evidence', () => {
  const lines = STANDARDS.flatMap(({ requirements }) => requirements)

  it('each have an id of their own, a clause, a text and something that holds them or a reason why not', () => {
    expect(lines.length).toBeGreaterThan(80)
    expect(new Set(lines.map(({ id }) => id)).size).toBe(lines.length)
    for (const { id, clause, asks, judge } of lines) {
      const { why } = judge(defaultInstallation())
      for (const text of [clause, asks, why]) expect(text, id).toMatch(/^\S.*\S$/)
      expect(why, id).not.toMatch(/undefined|NaN|null|–|\[object/)
    }
  })

  it('name only settings that there are', () => {
    const named = lines.flatMap(({ settings }) => settings)
    expect(named.length).toBeGreaterThan(30)
    expect(named.filter((name) => !(name in ALL_SETTINGS))).toEqual([])
  })

  it('names only test files that are there', () => {
    const named = [...new Set(lines.flatMap(({ tests }) => tests))]
    expect(named.length).toBeGreaterThan(60)
    expect(named.filter((file) => !existsSync(packageFile(...file.split('/'))))).toEqual([])
  })

  it('names only documents and headings that are there', () => {
    const named = [...new Set(lines.flatMap(({ documents }) => documents))]
    expect(named.filter((document) => !isThere(document))).toEqual([])
  })
})

/** Whether a document of docs/ exists, with the heading of its anchor. */
function isThere(document: string): boolean {
  const [path, anchor] = document.split('#') as [string, string | undefined]
  const file = packageFile('docs', ...path.split('/'))
  if (!existsSync(file)) return false
  return anchor === undefined || headingsOf(readFileSync(file, 'utf8')).includes(anchor)
}

/** Anchors as GitHub makes them. */
function headingsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}
