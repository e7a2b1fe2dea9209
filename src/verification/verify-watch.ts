/** Lets others look at each verify of production. They have no part in the verdict, and the caller never waits for them. */
import type { Evidence } from './biometric-provider.js'
import type { CaptureInput, UserCall } from './call.js'
import type { Examination, VerdictTerms } from './verdict.js'

/** Gets a verify before its pictures are examined. It looks at them after the answer (`call.afterAnswer`). */
export type WatchVerify = (
  call: UserCall<CaptureInput>,
  evidence: Evidence,
  terms: VerdictTerms,
) => WatchedVerify

/** A verify that is being answered. */
interface WatchedVerify {
  examined(examination: Examination): void
}
