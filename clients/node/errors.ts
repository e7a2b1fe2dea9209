/** Errors of the SDK's calls. Every error has a stable `code`. */
import type { ErrorCategory, ErrorCode } from '../../src/contract/error-codes.js'
import type { DocumentedError, DocumentedErrorDetail, PhotoGuidance } from './types.js'
import { remedyOf } from './verdict-remedies.js'

/** An error code. Editors complete the known ones; the type also takes a code that a newer service sends. */
export type AnyErrorCode = ErrorCode | (string & {})

/** One detail of an error: a field, what is wrong with it, and for a photo the person's remedy. */
export interface ErrorDetail extends Omit<DocumentedErrorDetail, 'guidance'> {
  /** The person's remedy, in each detail of a `biometric_rejected`. Completes to the known codes. */
  guidance?: PhotoGuidance | (string & {})
}

/**
 * The base class of every error that a call of the SDK throws, except `TypeError` for calls that cannot work. None has a `status`: web
 * frameworks would answer with it, and a wrong API key would sign your user out.
 */
export abstract class CountersignError extends Error {
  /** Stable code: compare it instead of the message. */
  abstract readonly code: string
}

/**
 * The service refused the request, or would have: `body_too_large` is thrown before anything is sent. The message says what is
 * wrong, which fields are concerned, and what to do next.
 * @example
 * try {
 *   await countersign.enroll({ user_id, image })
 * } catch (error) {
 *   if (!(error instanceof ApiError) || error.category !== 'biometric_rejected') throw error
 *   showToPerson(error.details.map(({ hint }) => hint))
 * }
 */
export class ApiError extends CountersignError {
  override readonly name = 'ApiError'
  /** The exact reason. */
  readonly code: AnyErrorCode
  /** The kind of the error, which decides what an application does about it. */
  readonly category: ErrorCategory | (string & {})
  /** Fields and what is wrong with each; empty where no field is at fault. */
  readonly details: readonly ErrorDetail[]
  /** The next step for the developer or the operator; undefined from an older version of the service. */
  readonly remedy: string | undefined
  /** Address of the page that explains the code; undefined from an older version of the service. */
  readonly docUrl: string | undefined
  /** Id of the request in the service's log; empty where nothing was sent. */
  readonly requestId: string
  /** HTTP status of the service's answer. It is not enumerable, so that it gets into no answer of yours. */
  declare readonly httpStatus: number
  /** Wait after which the call may succeed, in seconds, from `Retry-After`. */
  readonly retryAfterSeconds: number | undefined
  /** Whether a signature was checked: false where the service knew no tenant to sign for, as with a wrong API key. */
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
    Object.defineProperty(this, 'httpStatus', { value: response.status })
    this.retryAfterSeconds = response.retryAfterSeconds
    this.verified = response.verified
  }

  /** Codes of advice to the person, the most urgent first; empty where no photo is at fault. */
  get guidance(): ReadonlyArray<PhotoGuidance | (string & {})> {
    return this.details.flatMap(({ guidance }) => (guidance === undefined ? [] : [guidance]))
  }
}

const DETAILS_IN_MESSAGE = 3

/** @returns the first details for the message: each field, and what is wrong with it */
function detailText({ message, details = [] }: ErrorBody): string {
  const [only] = details
  // A request with a single photo need not name it.
  const isPlain = details.length === 1 && only?.path === 'image' && only.issue === message
  if (details.length === 0 || isPlain) return ''
  // Where the message says what is wrong with a photo, the detail adds only its name.
  const shown = details
    .slice(0, DETAILS_IN_MESSAGE)
    .map(({ path, issue }) => (issue === message ? path : `${path}: ${issue}`))
  const more = details.length - shown.length
  return ` [${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}]`
}

/** The error body of the API. */
export interface ErrorBody extends Omit<DocumentedError, 'remedy' | 'doc_url' | 'details'> {
  /** The caller's next step. Older versions of the service leave it out. */
  remedy?: string
  /** Address of the page that explains the code. Older versions of the service leave it out. */
  doc_url?: string
  details?: ErrorDetail[]
}

/** Effort of a call. */
export interface Attempts {
  /** Number of attempts, at least 1. */
  attempts: number
  /** Milliseconds since the call began, waits between attempts included. */
  elapsedMs: number
}

abstract class NoAnswerError extends CountersignError implements Attempts {
  /** Number of attempts, at least 1. */
  readonly attempts: number
  /** Milliseconds since the call began, waits between attempts included. */
  readonly elapsedMs: number

  constructor(what: string, { attempts, elapsedMs, cause }: Attempts & { cause: unknown }) {
    const tries = attempts === 1 ? '1 attempt' : `${attempts} attempts`
    super(`${what} (${tries}, ${Math.round(elapsedMs)} ms in all)`, { cause })
    this.attempts = attempts
    this.elapsedMs = elapsedMs
  }
}

/** No answer came: the address, the network or TLS failed. A POST may have reached the service: retry it with the same idempotency key. */
export class ConnectionError extends NoAnswerError {
  override readonly name = 'ConnectionError'
  readonly code = 'connection_failed'
}

/** No complete answer came within `timeoutMs`. A POST may have reached the service: retry it with the same idempotency key. */
export class TimeoutError extends NoAnswerError {
  override readonly name = 'TimeoutError'
  readonly code = 'timeout'
}

/** The answer is not the service's: a proxy's error page, or a redirect. Check the base URL. */
export class UnexpectedResponseError extends CountersignError {
  override readonly name = 'UnexpectedResponseError'
  readonly code = 'unexpected_response'
  /** HTTP status of the answer. It is not enumerable. */
  declare readonly httpStatus: number

  constructor(httpStatus: number) {
    super(`The answer (status ${httpStatus}) is not one of Countersign; is the base URL right?`)
    Object.defineProperty(this, 'httpStatus', { value: httpStatus })
  }
}

/**
 * Why an answer or a webhook cannot be trusted.
 * - `wrong_environment`: it was signed with your secret, but in the other environment.
 * - `response_mismatch`: it is well signed, but answers another request.
 */
export type SignatureErrorCode =
  | 'signature_missing'
  | 'signature_malformed'
  | 'signature_invalid'
  | 'signature_expired'
  | 'wrong_environment'
  | 'response_mismatch'

/** An answer or a webhook cannot be trusted: it is forged, changed, too old, or signed with a secret that is not configured. */
export class SignatureError extends CountersignError {
  override readonly name = 'SignatureError'

  constructor(
    /** Why the signature cannot be trusted. */
    readonly code: SignatureErrorCode,
    message: string,
  ) {
    super(message)
  }
}

/**
 * Why a verdict does not allow the action. `no_verdict`: verify judged no capture of the session. `proof_required`: the session gives its
 * result only with the proof of the browser that captured.
 */
export type VerdictErrorCode =
  | 'malformed'
  | 'no_verdict'
  | 'proof_required'
  | 'signature_invalid'
  | 'keys_unavailable'
  | 'expired'
  | 'not_yet_valid'
  | 'wrong_audience'
  | 'wrong_issuer'
  | 'wrong_environment'
  | 'wrong_user'
  | 'wrong_action'
  | 'wrong_nonce'
  | 'wrong_capture_session'
  | 'wrong_capture_binding'
  | 'not_displayed'
  | 'wrong_context'
  | 'too_old'
  | 'not_approved'
  | 'evaluation_grade'
  | 'replay_suspected'
  | 'already_used'

/**
 * A verdict JWT does not allow the action: refuse it, or ask for the face again.
 * @example
 * if (error instanceof VerdictError && error.code === 'expired') askForTheFaceAgain()
 */
export class VerdictError extends CountersignError {
  override readonly name = 'VerdictError'
  /** The next step; undefined for a reason that this version does not know, and where the message says it. */
  readonly remedy: string | undefined

  constructor(
    /** The first check of the verdict that failed. */
    readonly code: VerdictErrorCode,
    message: string,
    /** Reason of the rejection; only with the code `not_approved`. */
    readonly reason?: string,
  ) {
    const remedy = remedyOf(code, reason)
    super(remedy === undefined ? message : `${message} ${remedy}`)
    this.remedy = remedy
  }
}
