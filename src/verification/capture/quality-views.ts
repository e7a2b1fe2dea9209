/** Fields of a response and of an error that show the quality of photos. */

import type { QualityFault } from '../../biometrics/measurements.js'
import { guidanceOfFault } from '../../biometrics/picture-guidance.js'
import { type ComponentFinding, faultsOf } from '../../biometrics/pipeline/judge/component-finding.js'
import type { ErrorDetail } from '../../lib/domain-error.js'
import type { AssessedImage } from '../biometric-provider.js'
import type { PathOf } from './images.js'

/** Decimals of a value: landmarks and luminance are less precise than that. */
const DECIMALS = 3
/** Decimals of a score and of a confidence. */
const SCORE_DECIMALS = 4

/**
 * Shows the quality of a request's images: a score, and what failed.
 * @param images at least one
 * @param pathOf names the field of each image
 * @param isDetailed whether every component of every image is shown as well
 */
export function qualityView(images: readonly AssessedImage[], pathOf: PathOf, isDetailed: boolean) {
  const faults = images.flatMap(({ findings, imageIndex }) => faultsOf(findings, imageIndex))
  return {
    score: Number(Math.max(...images.map(({ quality }) => quality.score)).toFixed(SCORE_DECIMALS)),
    passed: faults.length === 0,
    issues: faults.map((fault) => issueView(pathOf(fault.imageIndex), fault)),
    ...(isDetailed ? { images: images.map((image) => imageView(image, pathOf)) } : {}),
  }
}

function imageView({ imageIndex, quality, findings }: AssessedImage, pathOf: PathOf) {
  return {
    path: pathOf(imageIndex),
    passed: findings.every(({ passed }) => passed),
    face_width_px: Math.round(quality.faceWidthPx),
    detection: Number(quality.detection.toFixed(SCORE_DECIMALS)),
    components: findings.map(findingView),
  }
}

function findingView({ component, value, bound, passed }: ComponentFinding) {
  return { component, value: valueView(value, bound ?? {}), bound, passed }
}

function issueView(path: string, fault: QualityFault) {
  const { component, value, bound, hint } = fault
  return { path, component, value: valueView(value, bound), bound, guidance: guidanceOfFault(fault), hint }
}

export function faultDetail(path: string, fault: QualityFault): ErrorDetail {
  const view = issueView(path, fault)
  const { min, max } = fault.bound
  const isLow = min !== undefined && fault.value < min
  const issue = `${fault.component} is ${view.value}, must be at ${isLow ? `least ${min}` : `most ${max}`}`
  return { ...view, issue }
}

/** Rounds a value, but never onto a bound that it is beyond: it would read as if it had passed. */
function valueView(value: number, { min, max }: { min?: number; max?: number }): number {
  const factor = 10 ** DECIMALS
  if (min !== undefined && value < min) return Math.floor(value * factor) / factor
  if (max !== undefined && value > max) return Math.ceil(value * factor) / factor
  return Number(value.toFixed(DECIMALS))
}
