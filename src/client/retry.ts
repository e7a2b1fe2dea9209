/** When a call is tried again, and after how long. */
import { ApiError, ConnectionError, TimeoutError, UnexpectedResponseError } from './errors.js'

export interface RetryPolicy {
  /** Tries after the first; 0 for none. */
  maxRetries: number
  /** A `Retry-After` beyond it is left to the caller. Seconds. */
  maxRetryAfterSeconds: number
}

const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 8_000
/** Answers of a proxy in front of the service when the service cannot. */
const TRANSIENT_STATUSES = new Set([502, 503, 504])

/**
 * Milliseconds to wait before try number `retry + 1`, or null when trying again is no use. Every call may be repeated:
 * POST carries an idempotency key, and a repeated DELETE gets the same receipt.
 */
export function retryDelayMs(
  error: unknown,
  retry: number,
  policy: RetryPolicy,
  random: () => number = Math.random,
): number | null {
  if (retry >= policy.maxRetries || !isTransient(error)) return null
  const askedSeconds = (error instanceof ApiError && error.retryAfterSeconds) || 0
  if (askedSeconds > policy.maxRetryAfterSeconds) return null
  // Full jitter, on top of what the service asks for: callers that were refused together must not return together.
  return askedSeconds * 1000 + random() * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** retry)
}

function isTransient(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof TimeoutError) return true
  if (error instanceof UnexpectedResponseError) return TRANSIENT_STATUSES.has(error.status)
  // Of conflicts only this one passes by itself within the time of a call.
  return (
    error instanceof ApiError &&
    (error.status === 429 || error.status >= 500 || error.code === 'idempotency_in_progress')
  )
}

/** Seconds from now, of either form that RFC 9110, section 10.2.3 knows. */
export function parseRetryAfter(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined
  if (/^\d+$/.test(header)) return Number(header)
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, (at - nowMs) / 1000)
}

/** Rejects with the signal's reason when it is aborted. */
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
