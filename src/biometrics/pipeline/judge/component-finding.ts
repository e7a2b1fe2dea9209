/** Findings about the components of a photo’s quality. */
import type { QualityComponent } from '../../../../models/pack/quality-components.js'
import type { QualityBound } from '../../../../models/pack/quality-schema.js'
import type { QualityFault } from '../../measurements.js'

/** Judgement of one component of a photo. */
export interface ComponentFinding {
  component: QualityComponent
  value: number
  /** The bound that the value must keep; null where every value is good enough. */
  bound: QualityBound | null
  passed: boolean
  /** Advice to the person; null where the component passed. */
  hint: string | null
}

/** Returns the findings beyond their bounds. */
export function faultsOf(findings: readonly ComponentFinding[], imageIndex: number): QualityFault[] {
  return findings.flatMap(({ component, value, bound, hint }) =>
    bound && hint !== null ? [{ imageIndex, component, value, bound, hint }] : [],
  )
}
