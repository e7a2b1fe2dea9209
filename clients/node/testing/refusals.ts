/** Refusals of the service in memory, with the sentences of the service. */
import { ERRORS, type ErrorCategory, type ErrorCode } from '../../../src/contract/error-codes.js'
import { LOCKED_OUT_SECONDS, RETRY_AFTER_SECONDS } from '../../../src/contract/sandbox-rules.js'
import type { ErrorDetail } from '../errors.js'
import type { PhotoGuidance } from '../types.js'
import { FAKE_HINTS } from './service-texts.js'

/** Address of the page of error codes in error bodies. Nothing answers there. */
const ERRORS_URL = 'https://countersign.test/errors'

/** An answer of the service in memory that is an error; `body` is the JSON that the client gets. */
export class FakeRefusal extends Error {
  readonly status: number
  readonly category: ErrorCategory
  readonly body: object
  /** `Retry-After` of the answer; null where it has none. */
  readonly retryAfterSeconds: number | null

  constructor(
    readonly code: ErrorCode,
    requestId: string,
    details?: readonly ErrorDetail[],
    remedy: string = ERRORS[code].remedy,
  ) {
    const { status, category, message } = ERRORS[code]
    super(message)
    this.status = status
    this.category = category
    const isBusy = status === 429 || status === 503
    this.retryAfterSeconds = code === 'locked_out' ? LOCKED_OUT_SECONDS : isBusy ? RETRY_AFTER_SECONDS : null
    this.body = {
      error: category,
      code,
      message,
      remedy,
      doc_url: `${ERRORS_URL}#${code}`,
      request_id: requestId,
      ...(details ? { details } : {}),
    }
  }
}

/** A detail that says which photo is at fault, and what the person can do about it. */
export function photoDetail(path: string, issue: string, guidance: PhotoGuidance): ErrorDetail {
  return { path, issue, guidance, hint: FAKE_HINTS[guidance] }
}
