/** What an application may watch of its calls: hooks, and a logger. */
import { type Attempts, CountersignError, type VerdictError } from './errors.js'

/** What came beside the body. */
export interface ResponseInfo extends Attempts {
  status: number
  /** `X-Request-Id`, which the service's log and audit log name. */
  requestId: string
  /** The kept response of an earlier request with this idempotency key. */
  replayed: boolean
  /** Of a user who is locked out: when to try again. */
  retryAfterSeconds?: number
}

interface Named {
  method: string
  /** After /v1, without what would name a user. */
  path: string
}

/** After `attempts` tries one more follows in `delayMs`. */
export type RetryEvent = Named & Attempts & { error: unknown; delayMs: number }

/** An answer whose signature held. Refusals are thrown and have no event. */
export type ResponseEvent = Named & ResponseInfo

export type FailureEvent = Named & Attempts & { error: unknown }

/** As pino has it: facts first. Neither key nor photo nor verdict is among them. */
export interface Logger {
  debug(facts: object, message: string): void
  warn(facts: object, message: string): void
}

export interface Hooks {
  /** Called before a call is tried again. */
  onRetry?: ((event: RetryEvent) => void) | undefined
  /** Called with what came beside each answer whose signature held. */
  onResponse?: ((event: ResponseEvent) => void) | undefined
  /** Told of answers (`debug`), and of retries, failures and refused verdicts (`warn`). A pino logger fits. */
  logger?: Logger | undefined
}

export interface CallObserver {
  retry(event: RetryEvent): void
  response(event: ResponseEvent): void
  failure(event: FailureEvent): void
  /** A verdict that does not allow the action. */
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
