/** The detail of a refused photo: its field, the fault, and the advice for the person as a code and as a sentence. */

import type { PhotoGuidance } from '../../../clients/capture/guidance-codes.js'
import { GUIDANCE_TEXTS } from '../../../clients/capture/guidance-texts.js'
import type { ErrorDetail } from '../../lib/domain-error.js'

export function photoDetail(path: string, issue: string, guidance: PhotoGuidance): ErrorDetail {
  return { path, issue, guidance, hint: GUIDANCE_TEXTS[guidance] }
}
