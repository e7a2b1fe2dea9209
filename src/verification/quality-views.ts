/** Fields of a response and of an error that show the quality components of a photo. */

import type { QualityFault } from '../biometrics/measurements.js'
import type { ComponentFinding } from '../biometrics/pipeline/quality-bounds.js'
import { guidanceOfFault } from '../biometrics/refusal-guidance.js'
import type { ErrorDetail } from '../lib/domain-error.js'

/** Decimals of a value: landmarks and luminance are less precise than that. */
const DECIMALS = 3

/** Rounds a value, but never onto a bound that it is beyond: it would read as if it had passed. */
function valueView(value: number, { min, max }: { min?: number; max?: number }): number {
  const factor = 10 ** DECIMALS
  if (min !== undefined && value < min) return Math.floor(value * factor) / factor
  if (max !== undefined && value > max) return Math.ceil(value * factor) / factor
  return Number(value.toFixed(DECIMALS))
}

export function findingView({ component, value, bound, passed, hint }: ComponentFinding) {
  return { component, value: valueView(value, bound ?? {}), bound, passed, hint }
}

export function imageQualityView(findings: readonly ComponentFinding[]) {
  return { passed: findings.every(({ passed }) => passed), components: findings.map(findingView) }
}

export function faultDetail(path: string, fault: QualityFault): ErrorDetail {
  const { component, value, bound, hint } = fault
  const shown = valueView(value, bound)
  const isLow = bound.min !== undefined && value < bound.min
  const issue = `${component} is ${shown}, must be at ${isLow ? `least ${bound.min}` : `most ${bound.max}`}`
  return { path, issue, component, value: shown, bound, guidance: guidanceOfFault(fault), hint }
}
