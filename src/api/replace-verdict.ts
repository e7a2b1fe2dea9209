/** The verdict that a contract may ask for before a reference is replaced: an approved verify of the user's own face. */

import { MINUTE_MS } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'
import type { SubjectRecord, TenantRecord } from '../storage/records.js'

/** The `type` of the action to which the user's approved verify must be bound. */
export const REPLACE_ACTION = 'replace_reference'

/** Whether an approved verify for this action allows the reference to be replaced. */
export function agreesToReplacement(action: unknown): boolean {
  return typeof action === 'object' && action !== null && 'type' in action && action.type === REPLACE_ACTION
}

/**
 * Compares with the id of the last such verify, which the service keeps with the user: a JWT could be forged by anyone who holds
 * the signing secret.
 * @param verificationId id of the verdict that the request names
 * @param now milliseconds since the Unix epoch
 * @throws DomainError replace_verdict_required where the contract asks for a verdict and this one is missing, too old or used
 */
export function assertReplaceVerdict(
  { replaceVerdictMinutes }: Pick<TenantRecord, 'replaceVerdictMinutes'>,
  { replaceVerdict, replaceVerdictAt }: Pick<SubjectRecord, 'replaceVerdict' | 'replaceVerdictAt'>,
  verificationId: string | undefined,
  now: number,
): void {
  if (replaceVerdictMinutes === null) return
  const isGiven = verificationId !== undefined && verificationId === replaceVerdict
  const isFresh = replaceVerdictAt !== null && now - replaceVerdictAt < replaceVerdictMinutes * MINUTE_MS
  if (!isGiven || !isFresh) throw new DomainError('replace_verdict_required')
}
