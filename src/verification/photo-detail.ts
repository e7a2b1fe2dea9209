/** Details of a refused photo: the field, what is wrong with it, and what the person can do, as a code and as a sentence. */

import { PHOTO_HINTS, type PhotoGuidance } from '../biometrics/photo-guidance.js'
import type { ErrorDetail } from '../lib/domain-error.js'

export function photoDetail(path: string, issue: string, guidance: PhotoGuidance): ErrorDetail {
  return { path, issue, guidance, hint: PHOTO_HINTS[guidance] }
}
