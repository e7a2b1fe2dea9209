/** The rules by which lockout, liveness, comparison and replay become the reason of a verdict. */
import type { Config } from '../config/config.js'
import type { Comparison } from './biometric-provider.js'
import type { Replay } from './capture/capture-memory.js'
import type { Reason } from './reasons.js'

/** An approval that waits for a second person is one of this user's: the face matched, and the policy asks no more of it. */
export function countedAs(
  { reason }: { reason: Reason | null },
  at: number,
): { approved: boolean; at: number } {
  return { approved: reason === null || reason === 'second_approval_required', at }
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
export function isMirrored({ comparison }: { comparison: Comparison | null }): boolean {
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
