/**
 * One request as it is seen from outside: everything that log, metrics, traces and the dashboard's charts say of it. Verdict and
 * effect are as the endpoint stated them; a refusal and a kept response have none.
 */

import type { Observed } from '../../api/endpoint.js'
import type { Environment } from '../../config/config.js'
import type { ErrorCode } from '../../lib/error-codes.js'
import type { CalledUser } from '../../verification/call.js'
import type { Timings } from '../../verification/stages.js'

export interface Observation extends Observed {
  requestId: string
  environment: Environment
  /** The endpoint's id; `unknown` for an address that is none of ours. */
  endpoint: string
  method: string
  /** Safe to write down: as the endpoint describes it, so that nobody is named; of an address that is none of ours the digest alone. */
  path: string
  /** The caller, where it is known. */
  tenantId: string | undefined
  tenantName: string | undefined
  /** Id of the API key that was presented, where the database has it: also of one that was refused. */
  keyId: string | null
  /** Whose key was presented, where the database has it: also of one that was refused, which makes nobody its caller. */
  keyTenantId: string | undefined
  /** The user that the request was about. Only the request log reads it, which writes the id down in the sandbox only, sealed. */
  user: CalledUser | undefined
  /** Pseudonym of the user, where the audit log has named it already. */
  subject: string | undefined
  verificationId: string | undefined
  /** The caller's own `X-Request-Id`, where it is well-formed. */
  clientRequestId: string | undefined
  /** Whether the answer was kept from an earlier request. */
  isReplay: boolean
  /** Whether the request brought the frames of a challenge. */
  isChallenge: boolean
  /** Where the request came from; null for one of the hosted capture page. Personal data where a person called. */
  address: string | null
  /** The signing secret that the caller says it holds (`X-Svc-Signing-Key-Id`). */
  signingKeyId: string | undefined
  status: number
  /** Of a refusal. */
  code: ErrorCode | undefined
  durationMs: number
  timings: Timings
}
