/** Refusals of the service in memory, with the sentences of the service. */
import { ERRORS, type ErrorCategory, type ErrorCode } from '../../../src/contract/error-codes.js'
import { LOCKED_OUT_SECONDS, RETRY_AFTER_SECONDS } from '../../../src/contract/sandbox-rules.js'
import { GUIDANCE_TEXTS } from '../../capture/guidance-texts.js'
import type { ErrorDetail } from '../errors.js'
import type { PhotoGuidance } from '../types.js'
import type { FakeAnswer } from './signatures.js'

/** Address of the page of error codes in error bodies. Nothing answers there. */
const ERRORS_URL = 'https://countersign.test/errors'

/** An answer of the service in memory that is an error. */
export class FakeRefusal extends Error {
  constructor(
    readonly code: ErrorCode,
    private readonly details?: readonly ErrorDetail[],
    private readonly remedy: string = ERRORS[code].remedy,
  ) {
    super(ERRORS[code].message)
  }

  get category(): ErrorCategory {
    return ERRORS[this.code].category
  }

  /** @returns what the client gets */
  answer(requestId: string): FakeAnswer {
    const { code, category, message, remedy, details } = this
    const { status } = ERRORS[code]
    const body = {
      error: category,
      code,
      message,
      remedy,
      doc_url: `${ERRORS_URL}#${code}`,
      request_id: requestId,
      ...(details && { details }),
    }
    const isBusy = status === 429 || status === 503
    if (!isBusy && code !== 'locked_out') return { status, body }
    const seconds = isBusy ? RETRY_AFTER_SECONDS : LOCKED_OUT_SECONDS
    return { status, body, headers: { 'Retry-After': String(seconds) } }
  }
}

/** @throws FakeRefusal invalid_request */
export function refuseRequest(path: string, issue: string): never {
  throw new FakeRefusal('invalid_request', [{ path, issue }])
}

/** A detail that says which photo is at fault, and what the person can do about it. */
export function photoDetail(path: string, issue: string, guidance: PhotoGuidance): ErrorDetail {
  return { path, issue, ...adviceOf(guidance) }
}

/** A code of guidance with its sentence. */
export function adviceOf<Code extends PhotoGuidance>(guidance: Code): { guidance: Code; hint: string } {
  return { guidance, hint: GUIDANCE_TEXTS[guidance] }
}
