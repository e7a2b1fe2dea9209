/** Refuses a capture that could lead to no verdict, before anybody moves the head for it. */
import { canonicalAction } from '../../api/action.js'
import type { ActionKinds } from '../../api/call-parts.js'
import type { Services } from '../../api/services.js'
import { DomainError, invalidField } from '../../lib/domain-error.js'
import { templateOf } from '../../users/templates.js'
import type { UserCall } from '../../verification/call.js'
import { decidingProvider } from '../../verification/references/deciding-model.js'
import type { Purpose } from './challenge-book.js'

/**
 * Canonical form of the action of a verify; null for an enrollment.
 * @param kinds of actions with a form of their own
 * @throws DomainError invalid_request when a verify has no action, or an enrollment has one
 */
export function actionFor(purpose: Purpose, action: unknown, kinds: readonly ActionKinds[]): string | null {
  if (purpose === 'enroll') {
    if (action !== undefined) throw invalidField('action', 'an enrollment has no action')
    return null
  }
  if (action === undefined) throw invalidField('action', 'is required')
  return canonicalAction(action, kinds)
}

/** The parts of the service that know whether a verify can succeed. */
export type VerifiableParts = Pick<Services, 'vault' | 'store' | 'lockout' | 'provider' | 'clock'>

/**
 * Refuses to prepare a verify that cannot succeed, before anybody moves the head for it.
 * @throws DomainError reference_not_found, reference_model_mismatch, locked_out
 */
export async function assertVerifiable(
  { vault, store, lockout, provider, clock }: VerifiableParts,
  { user, tenant }: Pick<UserCall<unknown>, 'user' | 'tenant'>,
): Promise<void> {
  const subject = await vault.find(store.read, user.blindIndex, user.id)
  const reference = subject?.reference
  if (reference && !templateOf(subject, decidingProvider(provider, tenant).model))
    throw new DomainError('reference_model_mismatch')
  const refusal = lockout.refusal(user.id, subject?.record ?? null, clock.now())
  if (refusal)
    throw new DomainError('locked_out', {
      message: 'The user is locked out after rejected verifications.',
      retryAfterMs: refusal.waitMs,
    })
  if (!reference && provider.needsReference(user.id)) throw new DomainError('reference_not_found')
}
