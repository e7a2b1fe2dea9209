/**
 * One answered request as log, metrics, traces and the dashboard's charts show it. Verdict and effect are as the endpoint stated
 * them; a refusal and a kept response have none.
 */

import type { Observed } from '../../api/endpoint.js'
import type { Environment } from '../../config/config.js'
import type { ErrorCode } from '../../contract/error-codes.js'
import type { CalledUser } from '../../verification/call.js'
import type { Timings } from '../../verification/stages.js'

export interface Observation extends Observed {
  requestId: string
  environment: Environment
  /** Id of the endpoint; `unknown` for an unknown address. */
  endpoint: string
  method: string
  /** Path template of the endpoint, which names nobody, or the digest of an unknown path: safe to log. */
  path: string
  /** Id of the calling tenant, where the caller is known. */
  tenantId: string | undefined
  tenantName: string | undefined
  /** Id of the API key that was presented, also of one that was refused; null for a key that the database does not have. */
  keyId: string | null
  /** Id of the tenant whose key was presented, also where the key was refused and `tenantId` is therefore undefined. */
  keyTenantId: string | undefined
  /** The user that the request was about. Only the request log reads it: it keeps the id in the sandbox only, sealed. */
  user: CalledUser | undefined
  /** Pseudonym of the user, where the audit log has used it already. */
  subject: string | undefined
  verificationId: string | undefined
  /** The caller's own `X-Request-Id`, where it is well-formed. */
  clientRequestId: string | undefined
  /** Whether the answer was kept from an earlier request. */
  isReplay: boolean
  /** Whether the request brought the frames of a challenge. */
  isChallenge: boolean
  /** IP address of the caller; null for a request of the hosted capture page. It is personal data where a person called. */
  address: string | null
  /** Id of the signing secret that the caller says it holds (`X-Svc-Signing-Key-Id`). */
  signingKeyId: string | undefined
  status: number
  /** Error code of a refusal. */
  code: ErrorCode | undefined
  durationMs: number
  timings: Timings
}
