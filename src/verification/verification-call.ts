/** What a verification needs to know of the request that asks for it. The `Call` of an endpoint has all of this. */
import type { FlowShare } from '../biometrics/types.js'
import type { Environment } from '../config/config.js'
import type { LivenessRequirement } from '../config/liveness-requirement.js'
import type { TenantRecord } from '../storage/records.js'
import type { ActiveSecrets } from '../tenants/signing-secrets.js'
import type { ImageInput } from './images.js'
import type { Timings } from './stages.js'

export interface VerificationCall<Input> {
  input: Input
  environment: Environment
  tenant: TenantRecord
  secrets: ActiveSecrets
  /** `X-Svc-Signing-Key-Id`. */
  signingKeyId: string | undefined
  requestId: string
  /** On `performance.now()`'s axis. */
  deadlineMs: number
  /** Aborted when the caller hangs up. */
  signal: AbortSignal
  /** The scheduling class of the caller at the engine. */
  share: FlowShare
  /** Filled with the milliseconds that each stage took. */
  timings: Timings
}

/** A call that brings pictures of a user. */
export type CaptureCall = VerificationCall<
  ImageInput & { user_id: string; require_liveness?: LivenessRequirement }
>
