/** An entry of the request log as the command and the dashboard show it. */
import type { Core } from '../../../admin/core.js'
import type { Environment } from '../../../config/config.js'
import { ERRORS, type ErrorCode } from '../../../contract/error-codes.js'
import { timeOfRequestId } from '../../../crypto/identifiers.js'
import type { ServiceKeys } from '../../../crypto/service-keys.js'
import { isoTime } from '../../../lib/clock.js'
import { wire } from '../../../lib/wire.js'
import { openUser } from './request-log.js'
import type { RequestRecord } from './request-table.js'

/** Most requests that one id can name: its own, and replays of the same verification. */
export const MAX_NAMED = 50

export function requestFacts(record: RequestRecord, keys: Pick<ServiceKeys, 'idempotency'>) {
  return {
    request_id: record.requestId,
    at: isoTime(timeOfRequestId(record.requestId)),
    // The code is that of an error, or the reason of a rejection.
    ...wire(record, 'environment', 'endpoint', 'status', 'code', 'verdict'),
    /** Whether the answer was the stored one of an earlier request. */
    is_replay: record.isReplay === 1,
    ...wire(record, 'durationMs', 'keyId', 'address', 'clientRequestId', 'verificationId', 'subject'),
    /** Id of the user, in the sandbox only. */
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
