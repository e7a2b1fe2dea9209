/** Table of contents of the evidence: every standard that lines are judged by. */
import type { Standard } from './evidence.js'
import { ISO_19795, ISO_24745, ISO_30107 } from './standards/biometric-norms.js'
import { AI_ACT, DORA } from './standards/eu-acts.js'
import { GDPR } from './standards/gdpr.js'
import { NIST } from './standards/nist.js'
import { PSD2 } from './standards/psd2.js'
import { ISO_27001, SOC_2 } from './standards/security-controls.js'

export const STANDARDS: readonly Standard[] = [
  PSD2,
  NIST,
  ISO_30107,
  ISO_19795,
  ISO_24745,
  GDPR,
  ISO_27001,
  SOC_2,
  DORA,
  AI_ACT,
]
