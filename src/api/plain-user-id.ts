/** Refuses to enrol somebody under an identifier that people cannot tell from another. */
import { ApiError } from '../lib/api-error.js'
import { isPlainIdentifier, NO_UNSEEN_CHARACTERS } from '../lib/readable-text.js'

/**
 * Users who were enrolled before this rule keep their identifier: verify, look-up and erasure take it, a new reference does not.
 * @throws ApiError invalid_request
 */
export function assertPlainUserId(userId: string): void {
  if (isPlainIdentifier(userId)) return
  throw new ApiError('invalid_request', { details: [{ path: 'user_id', issue: NO_UNSEEN_CHARACTERS }] })
}
