/** Hooks and a logger, by which an application watches its calls. */
import { type Attempts, CountersignError, type VerdictError } from './errors.js'

/** Facts about an answer apart from its body. */
export interface ResponseInfo extends Attempts {
  /** HTTP status. */
  status: number
  /** `X-Request-Id`, by which the service's log and audit log name the request. */
  requestId: string
  /** Whether this is the stored answer of an earlier request with this idempotency key. */
  replayed: boolean
  /** Seconds until a user who is locked out may try again. */
  retryAfterSeconds?: number
}

interface Named {
  method: string
  /** Path after /v1, with placeholders for ids of users and sessions. */
  path: string
}

/** A failed attempt that will be followed by another one in `delayMs` milliseconds. */
export type RetryEvent = Named & Attempts & { error: unknown; delayMs: number }

/** An answer whose signature is valid. Refusals are thrown and have no event. */
export type ResponseEvent = Named & ResponseInfo

/** A call that failed and is not retried. */
export type FailureEvent = Named & Attempts & { error: unknown }

/** A logger in the form of pino's: facts first. The facts never hold a key, a photo or a verdict. */
export interface Logger {
  debug(facts: object, message: string): void
  warn(facts: object, message: string): void
}

/** Callbacks for the calls of a client. */
export interface Hooks {
  /** Called before each retry. */
  onRetry?: ((event: RetryEvent) => void) | undefined
  /** Called with status, request id and number of attempts of each answer whose signature is valid. */
  onResponse?: ((event: ResponseEvent) => void) | undefined
  /** Logs answers (`debug`), and retries, failures and refused verdicts (`warn`). A pino logger fits. */
  logger?: Logger | undefined
}

export interface CallObserver {
  retry(event: RetryEvent): void
  response(event: ResponseEvent): void
  failure(event: FailureEvent): void
  /** Called for a verdict that does not allow the action. */
  refusal(error: VerdictError): void
}

export function observer({ onRetry, onResponse, logger }: Hooks): CallObserver {
  return {
    retry(event) {
      logger?.warn(facts(event), 'countersign: trying again')
      onRetry?.(event)
    },
    response(event) {
      logger?.debug({ ...event }, 'countersign: answered')
      onResponse?.(event)
    },
    failure(event) {
      logger?.warn(facts(event), 'countersign: failed')
    },
    refusal({ code, reason, message }) {
      logger?.warn({ code, reason, error: message }, 'countersign: verdict refused')
    },
  }
}

function facts({ error, ...event }: FailureEvent): object {
  const code = error instanceof CountersignError ? error.code : undefined
  return { ...event, code, error: error instanceof Error ? error.message : String(error) }
}
