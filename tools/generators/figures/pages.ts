/** The documents that show figures, and the figures by name. */
import { readFileSync } from 'node:fs'
import { packageFile } from '../../../src/lib/package-root.js'
import { pagesOfProse } from '../../../test/support/plain-prose.js'
import { accuracyTables } from '../accuracy-page.js'
import { qualityLines } from '../quality-page.js'
import { accuracyFigures } from './accuracy.js'
import { hasFigures } from './markers.js'
import { type Results, readResult, readResults } from './results.js'
import { soakFigures } from './soak.js'
import { speedFigures } from './speed.js'

export function figuresOf(results: Results = readResults()): Record<string, string> {
  return {
    ...speedFigures(results),
    ...soakFigures(readResult('soak')),
    ...accuracyFigures(),
    calibrations: accuracyTables(),
    quality: qualityLines(),
  }
}

/** Paths of the pages with markers, inside the repository. */
export function pagesWithFigures(): string[] {
  return pagesOfProse().filter((page) => hasFigures(readPage(page)))
}

export function readPage(page: string): string {
  return readFileSync(packageFile(...page.split('/')), 'utf8')
}
