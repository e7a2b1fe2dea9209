/** The rules by which lockout, liveness, comparison and replay become the reason of a verdict. */
import type { Config } from '../config/config.js'
import type { Reason } from '../contract/verdict.js'
import type { Comparison } from './biometric-provider.js'
import type { Replay } from './capture/capture-memory.js'
import type { Verdict } from './verdict.js'

/**
 * Whether the lockout counts a verdict. A face that matched is no failed attempt: a replay is refused as what it is, so that impatient
 * taps of the right person lock nobody out. Below a condition it is no approval either, which would end a series of rejections.
 */
export function isCounted(verdict: Pick<Verdict, 'reason' | 'attempt' | 'withheld' | 'comparison'>): boolean {
  const { reason, attempt, withheld } = verdict
  return withheld === null && attempt !== 'uncounted' && reason !== 'replayed_capture' && !isMirrored(verdict)
}

/** Whether the policy refuses a replay. The same file was certainly sent twice; a nearly identical face may be that of a person who sits still. */
export function refusesReplay(policy: Config['replayPolicy'], found: Replay | null): boolean {
  if (policy === 'report') return false
  return policy === 'reject' ? found !== null : found === 'file'
}

export function reasonAgainst(
  { matches, sample }: Pick<Comparison, 'matches' | 'sample'>,
  isRefused: boolean,
): Reason | null {
  if (sample.liveness.passed === false) return 'liveness_failed'
  if (!matches) return 'no_match'
  return isRefused ? 'replayed_capture' : null
}

/** Whether the camera's setting is the only fault. Such frames were compared with nobody, so they are no guess at the face. */
function isMirrored({ comparison }: { comparison: Comparison | null }): boolean {
  const findings = comparison?.sample.liveness.findings ?? []
  return findings.length === 1 && findings[0] === 'mirrored'
}

/** Whether two images are the same file: frames of a camera differ, so that equal ones were not captured. */
export function holdsTwins(digests: readonly Buffer[]): boolean {
  return new Set(digests.map((digest) => digest.toString('latin1'))).size < digests.length
}

/** The comparison with a liveness that failed, because its frames were captured before. */
export function replayed(comparison: Comparison): Comparison {
  const { sample } = comparison
  const { findings = [], guidance = 'try_again' } = sample.liveness
  const liveness = {
    ...sample.liveness,
    passed: false,
    guidance,
    findings: [...new Set([...findings, 'replayed' as const])],
  }
  return { ...comparison, sample: { ...sample, liveness } }
}
