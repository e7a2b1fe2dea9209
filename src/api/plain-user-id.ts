/** Refuses to enroll a user under an identifier that people cannot tell from another one. */

import { isPlainIdentifier, NO_UNSEEN_CHARACTERS } from '../contract/actions/readable-text.js'
import { DomainError } from '../lib/domain-error.js'

/**
 * Only new references keep to this rule: verify, look-up and erasure accept the identifiers of users who were enrolled before it.
 * @throws DomainError invalid_request
 */
export function assertPlainUserId(userId: string): void {
  if (isPlainIdentifier(userId)) return
  throw new DomainError('invalid_request', { details: [{ path: 'user_id', issue: NO_UNSEEN_CHARACTERS }] })
}
