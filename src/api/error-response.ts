/** How an error is answered over HTTP: its status, headers and body, all chosen by its code. */
import { ERRORS } from '../contract/error-codes.js'
import { SECOND_MS } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'

/** The address exists, and does not support the method of the request. */
export class MethodNotAllowedError extends DomainError {
  /** @param allowed methods that the address supports */
  constructor(readonly allowed: readonly string[]) {
    super('method_not_allowed')
  }
}

export function statusOf({ code }: DomainError): number {
  return ERRORS[code].status
}

/** The error body of the contract and the OpenAPI document. */
export function errorBody(
  error: DomainError,
  {
    requestId,
    errorsUrl,
  }: {
    requestId: string
    /** Address of the page that explains the codes; undefined for none. */
    errorsUrl: string | undefined
  },
): Record<string, unknown> {
  return {
    error: error.category,
    code: error.code,
    message: error.message,
    remedy: error.remedy,
    ...(errorsUrl && { doc_url: `${errorsUrl}#${error.code}` }),
    request_id: requestId,
    ...(error.details ? { details: error.details } : {}),
  }
}

/** `Retry-After`, `Allow` and `WWW-Authenticate`, where the error calls for them. */
export function errorHeaders(error: DomainError): Record<string, string> {
  return {
    ...(error.retryAfterMs === undefined ? {} : retryAfter(error.retryAfterMs)),
    ...(error instanceof MethodNotAllowedError ? { Allow: error.allowed.join(', ') } : {}),
    ...challengeOf(error),
  }
}

/** `Retry-After` in whole seconds, at least 1. */
export function retryAfter(waitMs: number): Record<string, string> {
  return { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / SECOND_MS))) }
}

/** `WWW-Authenticate` (RFC 6750, section 3): which credential is missing, or which scopes it lacks. */
function challengeOf({ code, category, details = [] }: DomainError): Record<string, string> {
  if (category === 'authentication_failed') return { 'WWW-Authenticate': 'Bearer realm="countersign"' }
  if (code !== 'insufficient_scope') return {}
  const scopes = details.flatMap(({ scope }) => scope ?? [])
  return { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scopes.join(' ')}"` }
}
