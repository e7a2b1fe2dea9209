/** Decides whether an approved capture matches the first template so well that a template may be made of it. */
import { strictThreshold } from '../../../models/pack/strict-threshold.js'
import { faultsOf } from '../../biometrics/pipeline/judge/component-finding.js'
import type { Subject } from '../../users/template-vault.js'
import type { BiometricProvider, Comparison } from '../../verification/biometric-provider.js'
import type { VerdictTerms } from '../../verification/verdict.js'

/** How much stricter than the rate in force a capture must match before a template is made of it. */
const STRICTER = 10

/** An approval of which a template may be made. */
export interface Approved {
  subject: Subject
  comparison: Comparison
  terms: VerdictTerms
}

/**
 * The embedding of a capture that matches at a rate ten times stricter than the one in force, was not found to be a fake, and could be
 * enrolled with.
 * @param first opens the user's first template of the deciding model: a match of an aged template does not count
 * @param strictFmr strictest rate that is asked for
 * @returns null for any other capture
 */
export function strongMatch(
  deciding: BiometricProvider,
  { score, sample: { assessed, liveness }, samples }: Comparison,
  terms: VerdictTerms,
  first: () => Float32Array,
  strictFmr = 1,
): Float32Array | null {
  const strict =
    deciding.pack && strictThreshold(deciding.pack, Math.min(terms.point.fmr / STRICTER, strictFmr))
  if (!strict || score === null || assessed === null || liveness.passed === false) return null
  if (faultsOf(assessed.findings, assessed.imageIndex).length > 0) return null
  const capture = samples.find(({ imageIndex }) => imageIndex === assessed.imageIndex)?.embedding
  return capture && deciding.similarity(first(), capture) >= strict.threshold ? capture : null
}
