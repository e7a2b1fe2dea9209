/** The error that any room throws for a caller to see. It knows its code and nothing of HTTP: see `src/api/error-response.ts`. */
import { ERRORS, type ErrorCategory, type ErrorCode } from '../contract/error-codes.js'
import { CodedError } from './errors.js'

export interface ErrorDetail {
  /** Dotted path of the field: `image`, `images.0`, `consent.at`. */
  path: string
  issue: string
  /** Scope that the API key lacks; only with `insufficient_scope`. */
  scope?: string
  /** Requirement of the tenant's policy; only with `policy_not_met`. */
  requirement?: string
  /** Quality component of `low_quality`, by its name in ISO/IEC 29794-5. */
  component?: string
  /** Measured value of the component. */
  value?: number
  /** Bounds that the value had to keep to. */
  bound?: { min?: number; max?: number }
  /** Code of `PHOTO_GUIDANCE`: what the person should do differently. Each detail of a `biometric_rejected` error has one. */
  guidance?: string
  /** The guidance as a sentence to show to the person. */
  hint?: string
}

interface DomainErrorOptions {
  /** Replaces the sentence of the registry by a more exact one. */
  message?: string
  /** Replaces the next step of the registry by a more exact one. */
  remedy?: string
  details?: ErrorDetail[]
  /** Time after which the same call may succeed, in milliseconds; undefined where waiting does not help. */
  retryAfterMs?: number | undefined
  /** Error behind this one. It is logged and never sent. */
  cause?: unknown
}

/** An error that a caller sees. Its message never holds a key, token, secret, image, embedding or path. */
export class DomainError extends CodedError<ErrorCode> {
  readonly category: ErrorCategory
  readonly remedy: string
  readonly details: ErrorDetail[] | undefined
  readonly retryAfterMs: number | undefined

  constructor(code: ErrorCode, options: DomainErrorOptions = {}) {
    super(code, options.message ?? ERRORS[code].message, { cause: options.cause })
    this.category = ERRORS[code].category
    this.remedy = options.remedy ?? ERRORS[code].remedy
    this.details = options.details
    this.retryAfterMs = options.retryAfterMs
  }
}

/** The refusal of one field of a request. @param issue what is wrong with it, such as "must be a time by ISO 8601" */
export function invalidField(path: string, issue: string): DomainError {
  return new DomainError('invalid_request', { details: [{ path, issue }] })
}
