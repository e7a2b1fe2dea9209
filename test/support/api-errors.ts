/** Each error code of the API with its HTTP status, category, sentence and next step. */
import { ERROR_STATUS } from '../../src/api/error-response.js'
import { ERRORS, type ErrorCategory, type ErrorCode } from '../../src/lib/error-codes.js'

interface ApiErrorEntry {
  status: number
  category: ErrorCategory
  message: string
  remedy: string
}

export const API_ERRORS = Object.fromEntries(
  Object.entries(ERRORS).map(([code, entry]) => [
    code,
    { status: ERROR_STATUS[code as ErrorCode], ...entry },
  ]),
) as Record<ErrorCode, ApiErrorEntry>
