/** The list of quality components of docs/accuracy.md, from the figures that were measured and the bounds that hold. */
import { readFileSync } from 'node:fs'
import { QUALITY_COMPONENTS, type QualityComponent } from '../../models/pack/quality-components.js'
import { boundFor } from '../../src/biometrics/pipeline/judge/quality-bounds.js'
import { packageFile } from '../../src/lib/package-root.js'
import type { DiscardCurve, QualityRefusals } from '../evaluation/error-versus-discard.js'
import { boundText } from '../evaluation/report-discards.js'
import { markdownList } from './markdown-list.js'

interface PackFigures {
  refusals: QualityRefusals
  curves: DiscardCurve[]
}

export const QUALITY_FIGURES: Record<string, PackFigures> = JSON.parse(
  readFileSync(packageFile('docs', 'quality-figures.json'), 'utf8'),
).packs

/** Says what each component measures. */
const MEASURED: Record<QualityComponent, string> = {
  inter_eye_distance:
    "pixels of the source between the eyes' centers; the width of the face is checked instead (`face_too_small`)",
  sharpness: 'variance of the Laplacian of the aligned face, in gray levels squared',
  luminance_mean: 'gray levels of the face region',
  luminance_variance: 'the same, in gray levels squared',
  under_exposure_prevention: 'share of its pixels that are not nearly black',
  over_exposure_prevention: 'share of its pixels that are not nearly white',
  illumination_uniformity: 'mean of the darker cheek over that of the brighter one',
  head_pose_yaw: 'degrees; above zero the face is turned to the right of the picture',
  head_pose_pitch: 'degrees; above zero it is lifted',
  head_pose_roll: 'degrees; above zero it is tilted clockwise',
  eyes_open:
    "gap between the lids over the eye's width, of the less open eye, from packs with 68 landmarks only",
}

/** One line for each component: what it measures, its bounds, and what leaving the poorest photos out gains with each pack. */
export function qualityLines(): string {
  const packs = Object.values(QUALITY_FIGURES)
  const items = QUALITY_COMPONENTS.map((component) => {
    const gains = packs.map((pack) => {
      const { relative_fnmr: gain, relative_fnmr_ci95: ci } = pack.curves.find(
        (curve) => curve.component === component,
      )!
      return `${gain.toFixed(2)} (${ci.map((end) => end.toFixed(2)).join(' to ')})`
    })
    return [
      `\`${component}\``,
      `${MEASURED[component]}. ${boundsText(component)}. Gain ${gains.join(', ')}.`,
    ] as const
  })
  return markdownList(items)
}

function boundsText(component: QualityComponent): string {
  const [verify, enroll] = [boundText(boundFor(component, 'verify')), boundText(boundFor(component, 'enrol'))]
  if (verify === '' && enroll === '') return 'No bound'
  if (verify === enroll) return `Bound: ${verify}`
  return verify === '' ? `Bound at enrollment: ${enroll}` : `Bounds: ${verify}, at enrollment ${enroll}`
}
