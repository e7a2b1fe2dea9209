/** Refusals of a face that was found and measured. */
import type { QualitySpec } from '../../../../models/pack/quality-schema.js'
import { BiometricError, type FaceSample, type Liveness } from '../../types.js'
import { faultsOf } from './component-finding.js'
import { assessQuality, lowQuality } from './quality-bounds.js'

/** @throws BiometricError low_quality */
export function assertQuality(
  { imageIndex, quality }: Pick<FaceSample, 'imageIndex' | 'quality'>,
  spec: QualitySpec | undefined,
): void {
  const faults = faultsOf(assessQuality(quality.components, 'verify', spec), imageIndex)
  if (faults.length > 0) throw lowQuality(faults)
}

/**
 * Whether nothing but the pose is wrong with a face. The embedding of a blurred or dark one says too little to call it turned, and the
 * pose of a turned one is never right.
 */
export function isClear({ quality }: Pick<FaceSample, 'quality'>, spec: QualitySpec | undefined): boolean {
  const findings = assessQuality(quality.components, 'verify', spec)
  return findings.every(({ component, passed }) => passed || component.startsWith('head_pose_'))
}

/** @throws BiometricError liveness_failed */
export function assertLive({ passed, guidance }: Liveness, imageIndex: number): void {
  if (passed !== false) return
  const message = guidance
    ? 'The face is too close to judge whether the capture is live: move away from the camera.'
    : 'The image does not look like a live capture.'
  throw new BiometricError('liveness_failed', message, imageIndex, { guidance })
}
