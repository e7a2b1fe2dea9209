/** Decides whether a call is retried, and after which wait. */
import { ApiError, ConnectionError, TimeoutError, UnexpectedResponseError } from './errors.js'

export interface RetryPolicy {
  /** Attempts after the first; 0 for none. */
  maxRetries: number
  /** Longest `Retry-After` that is waited for, in seconds; a longer one is left to the caller. */
  maxRetryAfterSeconds: number
  /** How long a refused connection is tried again, in seconds. */
  connectRetrySeconds: number
}

const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 8_000
/** Statuses with which a proxy answers while the service cannot be reached. */
const TRANSIENT_STATUSES = new Set([502, 503, 504])

/**
 * Every call may be repeated: a POST carries an idempotency key, and a repeated DELETE gets the same receipt.
 * @param retry number of retries so far, without those after a refused connection: these are bounded by time, since the request has not
 *   reached anybody
 * @returns milliseconds to wait before the next attempt, or null where another attempt is of no use
 */
export function retryDelayMs(
  error: unknown,
  retry: number,
  policy: RetryPolicy,
  elapsedMs = 0,
  random: () => number = Math.random,
): number | null {
  if (isRefused(error) && policy.maxRetries > 0) {
    const delayMs = random() * FIRST_DELAY_MS
    return elapsedMs + delayMs < policy.connectRetrySeconds * 1000 ? delayMs : null
  }
  if (retry >= policy.maxRetries || !isTransient(error)) return null
  const askedSeconds = (error instanceof ApiError && error.retryAfterSeconds) || 0
  if (askedSeconds > policy.maxRetryAfterSeconds) return null
  // Full jitter is added to the wait that the service asks for: callers that were refused together must not return together.
  return askedSeconds * 1000 + random() * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** retry)
}

/** @returns whether nothing listened at the address, as while a service starts again */
export function isRefused(error: unknown): boolean {
  return error instanceof ConnectionError && causeCode(error.cause) === 'ECONNREFUSED'
}

/** @returns the first code in the chain of causes that Node and undici give, such as `ECONNREFUSED` */
export function causeCode(cause: unknown): string | undefined {
  for (let each = cause, depth = 0; each instanceof Error && depth < 5; each = each.cause, depth++) {
    const { code } = each as { code?: unknown }
    if (typeof code === 'string' && /^\w+$/.test(code)) return code
  }
  return undefined
}

function isTransient(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return true
  if (error instanceof UnexpectedResponseError) return TRANSIENT_STATUSES.has(error.httpStatus)
  // A wrong API key stays wrong. The conflict is the only one that ends within the time of a call.
  return (
    error instanceof ApiError &&
    error.code !== 'too_many_wrong_keys' &&
    (error.httpStatus === 429 || error.httpStatus >= 500 || error.code === 'idempotency_in_progress')
  )
}

/** @returns seconds from now, for both forms of `Retry-After` in RFC 9110, section 10.2.3; undefined for other texts */
export function parseRetryAfter(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined
  if (/^\d+$/.test(header)) return Number(header)
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, (at - nowMs) / 1000)
}

/** Waits. Rejects with the signal's reason when it aborts. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
    if (signal?.aborted) abort()
  })
}
