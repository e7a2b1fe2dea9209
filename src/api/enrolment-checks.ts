/** Rules that hold before a reference is enrolled or replaced. */

import { isPlainIdentifier, NO_UNSEEN_CHARACTERS } from '../contract/actions/readable-text.js'
import { MINUTE_MS } from '../lib/clock.js'
import { DomainError, invalidField } from '../lib/domain-error.js'
import type { SubjectRecord, TenantRecord } from '../storage/records.js'
import type { StoreReader } from '../storage/store.js'

/**
 * Refuses to enroll a user under an identifier that people cannot tell from another one. Only new references keep to this rule: verify,
 * look-up and erasure accept the identifiers of users who were enrolled before it.
 * @throws DomainError invalid_request
 */
export function assertPlainUserId(userId: string): void {
  if (isPlainIdentifier(userId)) return
  throw invalidField('user_id', NO_UNSEEN_CHARACTERS)
}

/** How long the verdict is good where the contract names no time. */
const DEFAULT_MINUTES = 10

/**
 * The verdict before a reference is replaced is an approved verify of the user's own face: where the contract asks for it, and for every
 * user who has another credential, or had a passkey. Otherwise anyone who replaces the face would have only one of two factors left to get
 * around.
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
  const hasCredential = async () => Object.values(await store.credentialsOf(id)).some((count) => count > 0)
  if (replaceVerdictMinutes === null && revokedPasskey === null && !(await hasCredential())) return
  const minutes = replaceVerdictMinutes ?? DEFAULT_MINUTES
  const isGiven = verificationId !== undefined && verificationId === replaceVerdict
  const isFresh = replaceVerdictAt !== null && now - replaceVerdictAt < minutes * MINUTE_MS
  if (!isGiven || !isFresh) throw new DomainError('replace_verdict_required')
}
