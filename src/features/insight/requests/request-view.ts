/** An entry of the request log as the command and the dashboard show it. */
import type { Core } from '../../../admin/core.js'
import type { Environment } from '../../../config/config.js'
import { ERRORS, type ErrorCode } from '../../../contract/error-codes.js'
import { timeOfRequestId } from '../../../crypto/identifiers.js'
import type { ServiceKeys } from '../../../crypto/service-keys.js'
import { isoTime } from '../../../lib/clock.js'
import { openUser } from './request-log.js'
import type { RequestRecord } from './request-table.js'

/** Most requests that one id can name: its own, and replays of the same verification. */
export const MAX_NAMED = 50

/** The facts of a request that the log holds. */
export interface RequestFacts {
  request_id: string
  at: string
  environment: Environment
  endpoint: string
  status: number
  /** Error code, or reason of a rejection. */
  code: string | null
  verdict: 'approved' | 'rejected' | null
  /** Whether the answer was the stored one of an earlier request. */
  is_replay: boolean
  duration_ms: number
  key_id: string | null
  address: string | null
  client_request_id: string | null
  verification_id: string | null
  /** Pseudonym of the user. */
  subject: string | null
  /** Id of the user, in the sandbox only. */
  user_id: string | null
}

export function requestFacts(record: RequestRecord, keys: Pick<ServiceKeys, 'idempotency'>): RequestFacts {
  const { requestId, environment, endpoint, status, code, verdict } = record
  return {
    request_id: requestId,
    at: isoTime(timeOfRequestId(requestId)),
    environment,
    endpoint,
    status,
    code,
    verdict,
    is_replay: record.isReplay === 1,
    duration_ms: record.durationMs,
    key_id: record.keyId,
    address: record.address,
    client_request_id: record.clientRequestId,
    verification_id: record.verificationId,
    subject: record.subject,
    user_id: openUser(keys, record),
  }
}

/** Meaning of an error code and the next step; null for any other answer. An earlier version may have used a code that no longer exists. */
export function explained({ status, code }: RequestRecord): { message: string; remedy: string } | null {
  if (status < 400 || code === null || !Object.hasOwn(ERRORS, code)) return null
  const { message, remedy } = ERRORS[code as ErrorCode]
  return { message, remedy }
}

/** The pseudonym of a user in the request log; null for one who is not enrolled in production. */
export async function subjectOf(
  { vault, store }: Pick<Core, 'vault' | 'store'>,
  tenantId: string,
  environment: Environment,
  userId: string,
): Promise<string | null> {
  const blindIndex = vault.blindIndex(tenantId, environment, userId)
  if (environment === 'sandbox') return blindIndex.toString('hex')
  return (await vault.find(store.read, blindIndex, userId))?.pseudonym ?? null
}
