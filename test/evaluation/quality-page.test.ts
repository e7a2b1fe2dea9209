import { expect, it } from 'vitest'
import { boundFor, DEFAULT_BOUNDS } from '../../src/biometrics/pipeline/judge/quality-bounds.js'
import { QUALITY_FIGURES } from '../../tools/generators/quality-page.js'

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
