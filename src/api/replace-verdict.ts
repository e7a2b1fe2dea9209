/**
 * The verdict before a reference is replaced, an approved verify of the user's own face: where the contract asks for it, and for every user
 * who has a passkey, or had one. Otherwise anyone who replaces the face would have only one of two factors left to get around.
 */

import { MINUTE_MS } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'
import type { SubjectRecord, TenantRecord } from '../storage/records.js'
import type { StoreReader } from '../storage/store.js'

/** How long the verdict is good where the contract names no time. */
const DEFAULT_MINUTES = 10

/**
 * Compares with the id of the last such verify, which the service keeps with the user: a JWT could be forged by anyone who holds
 * the signing secret.
 * @param verificationId id of the verdict that the request names
 * @param now milliseconds since the Unix epoch
 * @throws DomainError replace_verdict_required where a verdict is needed and this one is missing, too old or used
 */
export async function assertReplaceVerdict(
  store: StoreReader,
  { replaceVerdictMinutes }: Pick<TenantRecord, 'replaceVerdictMinutes'>,
  { id, revokedPasskey, replaceVerdict, replaceVerdictAt }: SubjectRecord,
  verificationId: string | undefined,
  now: number,
): Promise<void> {
  const hasPasskey = async () => revokedPasskey !== null || (await store.countPasskeys(id)) > 0
  if (replaceVerdictMinutes === null && !(await hasPasskey())) return
  const minutes = replaceVerdictMinutes ?? DEFAULT_MINUTES
  const isGiven = verificationId !== undefined && verificationId === replaceVerdict
  const isFresh = replaceVerdictAt !== null && now - replaceVerdictAt < minutes * MINUTE_MS
  if (!isGiven || !isFresh) throw new DomainError('replace_verdict_required')
}
