/** Turns any error into one that a caller may see. An unknown error becomes `internal_error`. */

import { UnopenedBoxError } from '../crypto/sealed-box.js'
import { SECOND_MS } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'
import { StoreUnavailableError } from '../storage/store.js'

const RETRY_MS = SECOND_MS

export function toDomainError(error: unknown): DomainError {
  if (error instanceof DomainError) return error
  if (error instanceof StoreUnavailableError || error instanceof UnopenedBoxError)
    return new DomainError('store_unavailable', { retryAfterMs: RETRY_MS, cause: error })
  return new DomainError('internal_error', { cause: error })
}
