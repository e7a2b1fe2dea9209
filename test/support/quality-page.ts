/** The tables on quality components of docs/accuracy.md, from the figures that were measured and the bounds that hold. */
import { readFileSync } from 'node:fs'
import { QUALITY_COMPONENTS } from '../../models/pack/quality-components.js'
import type { QualityBound } from '../../models/pack/quality-schema.js'
import { boundFor } from '../../src/biometrics/pipeline/quality-bounds.js'
import type { DiscardCurve, QualityRefusals } from '../../src/evaluation/error-versus-discard.js'
import { markdownTable } from '../../src/lib/markdown-table.js'
import { packageFile } from '../../src/lib/package-root.js'

interface PackFigures {
  refusals: QualityRefusals
  curves: DiscardCurve[]
}

export const QUALITY_FIGURES: Record<string, PackFigures> = JSON.parse(
  readFileSync(packageFile('docs', 'quality-figures.json'), 'utf8'),
).packs

const SHOWN = [0, 0.01, 0.05, 0.1, 0.2]

export function qualityTables(): string {
  return [boundsTable(), ...Object.keys(QUALITY_FIGURES).map(curvesTable)].join('\n\n')
}

function boundsTable(): string {
  const rows = QUALITY_COMPONENTS.map((component) => [
    `\`${component}\``,
    boundText(boundFor(component, 'verify')),
    boundText(boundFor(component, 'enrol')),
  ])
  return markdownTable(['Component', 'at verify', 'at enrollment'], rows)
}

function curvesTable(pack: string): string {
  const { curves } = QUALITY_FIGURES[pack]!
  const rows = curves.map((curve) => {
    const { component, points, relative_fnmr: gain, relative_fnmr_ci95: ci, bound } = curve
    const fnmr = (share: number) => points.find(({ discarded }) => discarded === share)!.fnmr
    return [
      `\`${component}\``,
      ...SHOWN.map((share) => `${(100 * fnmr(share)).toFixed(2)} %`),
      `${gain.toFixed(2)} (${ci.map((end) => end.toFixed(2)).join(' to ')})`,
      bound ? String(curve.refused_photos) : '–',
      bound ? `${curve.refused_misses} of ${curve.refused_pairs}` : '–',
    ]
  })
  const left = SHOWN.map((share) => (share === 0 ? 'FNMR of all pairs' : `${100 * share} % left out`))
  return `\`${pack}\`:\n\n${markdownTable(['Component', ...left, 'gain', 'photos beyond the bound', 'their pairs missed'], rows)}`
}

function boundText(bound: QualityBound | null): string {
  const { min, max } = bound ?? {}
  if (min === undefined) return max === undefined ? '–' : `at most ${max}`
  return max === undefined ? `at least ${min}` : `${min} to ${max}`
}
