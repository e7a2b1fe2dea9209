import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { boundFor, DEFAULT_BOUNDS } from '../../src/biometrics/pipeline/judge/quality-bounds.js'
import { packageFile } from '../../src/lib/package-root.js'
import { documentInDocs } from '../../tools/generators/docs.js'
import { QUALITY_FIGURES, qualityLines } from '../../tools/generators/quality-page.js'

it('docs/accuracy.md has the bounds that hold and the figures that were measured (UPDATE_DOCS=1 writes them)', () => {
  const page = readFileSync(packageFile('docs', 'accuracy.md'), 'utf8')
  const [before, rest] = page.split('<!-- quality -->')
  const [, after] = rest!.split('<!-- /quality -->')
  const made = `${before}<!-- quality -->\n${qualityLines()}\n<!-- /quality -->${after}`
  expect(documentInDocs('accuracy.md', made)).toBe(made)
})

it('the figures are of the bounds that hold', () => {
  for (const { curves } of Object.values(QUALITY_FIGURES))
    for (const { component, bound } of curves) expect(bound, component).toEqual(boundFor(component, 'enrol'))
})

it('the bounds of an enrolment refuse fewer than one in twenty usable photos', () => {
  for (const { refusals } of Object.values(QUALITY_FIGURES))
    expect(refusals.refused_photos / refusals.usable_photos).toBeLessThan(0.05)
})

it('enrollment bounds a quality component only if refusing its poorest photos reduces false non-matches', () => {
  for (const component of Object.keys(DEFAULT_BOUNDS.enrol)) {
    for (const { curves } of Object.values(QUALITY_FIGURES))
      expect(curves.find((curve) => curve.component === component)!.relative_fnmr, component).toBeLessThan(1)
  }
})
