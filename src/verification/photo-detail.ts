/** The detail of a refused photo: its field, the fault, and the advice for the person as a code and as a sentence. */

import { PHOTO_HINTS, type PhotoGuidance } from '../biometrics/photo-guidance.js'
import type { ErrorDetail } from '../lib/domain-error.js'

export function photoDetail(path: string, issue: string, guidance: PhotoGuidance): ErrorDetail {
  return { path, issue, guidance, hint: PHOTO_HINTS[guidance] }
}
