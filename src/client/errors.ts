/** What calls of the SDK throw; every error has a stable `code`. */
import type { ErrorCategory, ErrorCode } from './error-codes.js'
import type { DocumentedError, DocumentedErrorDetail, PhotoGuidance } from './types.js'

/** Completes to the known codes, and still takes one that a newer service sends. */
export type AnyErrorCode = ErrorCode | (string & {})

/** One detail of an error: a field, what is wrong with it, and for a photo the person's remedy. */
export interface ErrorDetail extends Omit<DocumentedErrorDetail, 'guidance'> {
  /** The person's remedy, in each detail of a `biometric_rejected`. Completes to the known codes. */
  guidance?: PhotoGuidance | (string & {})
}

export abstract class CountersignError extends Error {
  abstract readonly code: string
}

/**
 * The service refused the request, or would have: `body_too_large` is thrown before anything is sent. The message says what is wrong, which fields are
 * concerned, and what to do next.
 */
export class ApiError extends CountersignError {
  override readonly name = 'ApiError'
  readonly code: AnyErrorCode
  readonly category: ErrorCategory | (string & {})
  readonly details: readonly ErrorDetail[]
  /** The next step for the developer or the operator; undefined where the service is of an older version. */
  readonly remedy: string | undefined
  /** Address of the page that explains the code; undefined where the service is of an older version. */
  readonly docUrl: string | undefined
  /** Empty where nothing was sent. */
  readonly requestId: string
  readonly status: number
  /** Seconds, from `Retry-After`. */
  readonly retryAfterSeconds: number | undefined
  /** False when no tenant was known to sign the response, as for a wrong API key. */
  readonly verified: boolean

  constructor(body: ErrorBody, response: { status: number; retryAfterSeconds?: number; verified: boolean }) {
    const remedy = body.remedy ? ` ${body.remedy}` : ''
    super(
      `${body.message}${detailText(body)}${remedy} (${body.code}, ${body.request_id ? `request ${body.request_id}` : 'not sent'})`,
    )
    this.code = body.code
    this.category = body.error
    this.details = body.details ?? []
    this.remedy = body.remedy
    this.docUrl = body.doc_url
    this.requestId = body.request_id
    this.status = response.status
    this.retryAfterSeconds = response.retryAfterSeconds
    this.verified = response.verified
  }

  /** Codes of what the person can do better, the most urgent first; empty where the photo is not the matter. */
  get guidance(): ReadonlyArray<PhotoGuidance | (string & {})> {
    return this.details.flatMap(({ guidance }) => (guidance === undefined ? [] : [guidance]))
  }
}

const DETAILS_TOLD = 3

/** The first details: which field, and what is wrong with it. */
function detailText({ message, details = [] }: ErrorBody): string {
  const [only] = details
  // The one photo of the request need not be named.
  const isPlain = details.length === 1 && only?.path === 'image' && only.issue === message
  if (details.length === 0 || isPlain) return ''
  // What is wrong with a photo is the message itself; then only the photo is to be named.
  const told = details
    .slice(0, DETAILS_TOLD)
    .map(({ path, issue }) => (issue === message ? path : `${path}: ${issue}`))
  const more = details.length - told.length
  return ` [${told.join('; ')}${more > 0 ? `; and ${more} more` : ''}]`
}

/** The error body of the API. */
export interface ErrorBody extends Omit<DocumentedError, 'remedy' | 'doc_url' | 'details'> {
  /** The caller's next step. Older versions of the service leave it out. */
  remedy?: string
  /** Address of the page that explains the code. Older versions of the service leave it out. */
  doc_url?: string
  details?: ErrorDetail[]
}

export interface Attempts {
  /** How often it was tried. */
  attempts: number
  /** Since the call began, waits between tries included. */
  elapsedMs: number
}

abstract class NoAnswerError extends CountersignError implements Attempts {
  readonly attempts: number
  readonly elapsedMs: number

  constructor(what: string, { attempts, elapsedMs, cause }: Attempts & { cause: unknown }) {
    const tries = attempts === 1 ? '1 attempt' : `${attempts} attempts`
    super(`${what} (${tries}, ${Math.round(elapsedMs)} ms in all)`, { cause })
    this.attempts = attempts
    this.elapsedMs = elapsedMs
  }
}

/** No answer came: the address, the network, or TLS. */
export class ConnectionError extends NoAnswerError {
  override readonly name = 'ConnectionError'
  readonly code = 'connection_failed'
}

/** No complete answer came in time. */
export class TimeoutError extends NoAnswerError {
  override readonly name = 'TimeoutError'
  readonly code = 'timeout'
}

/** The answer is not one of the service: a proxy's error page, a redirect. */
export class UnexpectedResponseError extends CountersignError {
  override readonly name = 'UnexpectedResponseError'
  readonly code = 'unexpected_response'

  constructor(readonly status: number) {
    super(`The answer (status ${status}) is not one of Countersign; is the base URL right?`)
  }
}

/**
 * - `wrong_environment`: signed with your secret, but in the other environment.
 * - `response_mismatch`: well signed, but the answer to another request.
 */
export type SignatureErrorCode =
  | 'signature_missing'
  | 'signature_malformed'
  | 'signature_invalid'
  | 'signature_expired'
  | 'wrong_environment'
  | 'response_mismatch'

/** The answer cannot be trusted: forged, changed, kept from earlier, or signed with a secret that is not configured. */
export class SignatureError extends CountersignError {
  override readonly name = 'SignatureError'

  constructor(
    readonly code: SignatureErrorCode,
    message: string,
  ) {
    super(message)
  }
}

/** `no_verdict`: a capture session whose capture was not judged by verify. */
export type VerdictErrorCode =
  | 'malformed'
  | 'no_verdict'
  | 'signature_invalid'
  | 'expired'
  | 'not_yet_valid'
  | 'wrong_audience'
  | 'wrong_issuer'
  | 'wrong_environment'
  | 'wrong_user'
  | 'wrong_action'
  | 'wrong_nonce'
  | 'wrong_context'
  | 'too_old'
  | 'not_approved'
  | 'evaluation_grade'
  | 'replay_suspected'
  | 'already_used'

/** A verdict JWT does not allow the action. */
export class VerdictError extends CountersignError {
  override readonly name = 'VerdictError'

  constructor(
    readonly code: VerdictErrorCode,
    message: string,
    /** Of a verdict that is `not_approved`: why. */
    readonly reason?: string,
  ) {
    super(message)
  }
}
