/** Results of sessions of the hosted capture page, by their wire names. */
import type { ErrorBody } from './errors.js'
import type { CaptureSessionFacts, EnrollResult, VerifyResult } from './types.js'

/** The answer that `verify` or `enroll` would have given to the capture. `status` discriminates the union. */
export type CaptureSessionResult =
  | { status: 200; body: VerifyResult }
  | { status: 201; body: EnrollResult }
  | { status: 403 | 404 | 409 | 422; body: ErrorBody }

/** Answer of `GET /v1/capture-sessions/{session_id}`. */
export interface CaptureSession extends CaptureSessionFacts {
  /**
   * Result of the last capture that was judged, or null where none was, and where `result_withheld` says that it needs the proof. It is
   * final once `status` is `completed`.
   */
  result: CaptureSessionResult | null
}
