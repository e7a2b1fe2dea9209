import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'
import { accuracyTables } from '../../tools/generators/accuracy-page.js'
import { documentInDocs } from '../../tools/generators/docs.js'

it('docs/accuracy.md has the figures of the calibrations that come with the packs (UPDATE_DOCS=1 writes them)', () => {
  const page = readFileSync(packageFile('docs', 'accuracy.md'), 'utf8')
  const [before, rest] = page.split('<!-- calibrations -->') as [string, string]
  const [, after] = rest.split('<!-- /calibrations -->') as [string, string]
  const made = `${before}<!-- calibrations -->\n${accuracyTables()}\n<!-- /calibrations -->${after}`
  expect(documentInDocs('accuracy.md', made)).toBe(made)
})
