/** Refuses to enrol somebody under an identifier that people cannot tell from another. */
import { DomainError } from '../lib/domain-error.js'
import { isPlainIdentifier, NO_UNSEEN_CHARACTERS } from '../lib/readable-text.js'

/**
 * Users who were enrolled before this rule keep their identifier: verify, look-up and erasure take it, a new reference does not.
 * @throws DomainError invalid_request
 */
export function assertPlainUserId(userId: string): void {
  if (isPlainIdentifier(userId)) return
  throw new DomainError('invalid_request', { details: [{ path: 'user_id', issue: NO_UNSEEN_CHARACTERS }] })
}
