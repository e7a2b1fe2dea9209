/** The tables on quality components of docs/accuracy.md, from the figures that were measured and the bounds that hold. */
import { readFileSync } from 'node:fs'
import { QUALITY_COMPONENTS } from '../../models/pack/quality-components.js'
import type { QualityBound } from '../../models/pack/quality-schema.js'
import { boundFor } from '../../src/biometrics/pipeline/judge/quality-bounds.js'
import { markdownTable } from '../../src/lib/markdown-table.js'
import { packageFile } from '../../src/lib/package-root.js'
import type { DiscardCurve, QualityRefusals } from '../evaluation/error-versus-discard.js'

interface PackFigures {
  refusals: QualityRefusals
  curves: DiscardCurve[]
}

export const QUALITY_FIGURES: Record<string, PackFigures> = JSON.parse(
  readFileSync(packageFile('docs', 'quality-figures.json'), 'utf8'),
).packs

/** One line for each component: its bounds, and what leaving the poorest photos out gains with each pack. */
export function qualityTables(): string {
  const packs = Object.values(QUALITY_FIGURES)
  const rows = QUALITY_COMPONENTS.map((component) => {
    const curves = packs.map((pack) => pack.curves.find((curve) => curve.component === component)!)
    return [
      `\`${component}\``,
      boundText(boundFor(component, 'verify')),
      boundText(boundFor(component, 'enrol')),
      ...curves.map(
        ({ relative_fnmr: gain, relative_fnmr_ci95: ci }) =>
          `${gain.toFixed(2)} (${ci.map((end) => end.toFixed(2)).join(' to ')})`,
      ),
    ]
  })
  const gains = Object.keys(QUALITY_FIGURES).map((pack) => `gain, \`${pack}\``)
  return markdownTable(['Component', 'at verification', 'at enrollment', ...gains], rows)
}

function boundText(bound: QualityBound | null): string {
  const { min, max } = bound ?? {}
  if (min === undefined) return max === undefined ? '–' : `at most ${max}`
  return max === undefined ? `at least ${min}` : `${min} to ${max}`
}
