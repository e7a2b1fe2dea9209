/** The one place where any error becomes one that a caller may see. */

import { UnopenedBoxError } from '../crypto/sealed-box.js'
import { ApiError, retryAfter } from '../lib/api-error.js'
import { StoreUnavailableError } from '../storage/store.js'

const RETRY_SECONDS = 1

export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof StoreUnavailableError || error instanceof UnopenedBoxError)
    return new ApiError('store_unavailable', { headers: retryAfter(RETRY_SECONDS), cause: error })
  return new ApiError('internal_error', { cause: error })
}
