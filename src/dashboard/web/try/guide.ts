/** Asks the API for guidance in front of the camera, with the key that the person tries. */
import type { CaptureDetector, CaptureGuidance } from '../../../../clients/capture/capture.js'
import { tryCall } from '../base/api.js'
import { base64Of, dataUrl } from '../base/photo.js'
import type { Trial } from './trial.js'

export function guideOf({ tenantId, apiKey, userId }: Trial): CaptureDetector {
  /** The latest faultless frontal frame, from which movements are measured. */
  let frontal: string | undefined
  return async (frame, step) => {
    const image = base64Of(await dataUrl(frame))
    const body = { user_id: userId, image, step, ...(frontal && step !== 'frontal' ? { frontal } : {}) }
    const answer = await tryCall(tenantId, { key: apiKey, operation: 'guidance', body })
    if (answer.status !== 200) throw new Error(`guidance: ${answer.status}`)
    const guidance = answer.body.guidance as CaptureGuidance[]
    if (step === 'frontal' && guidance.length === 0) frontal = image
    return guidance
  }
}
