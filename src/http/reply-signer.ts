/** Makes the reply of an answer: the headers that every reply has, and the signature over it and the request that it answers. */

import type { Outcome } from '../api/endpoint.js'
import type { Environment } from '../config/config.js'
import type { ErrorCode } from '../contract/error-codes.js'
import { SIGNATURE_HEADER, type SigningSecret, signResponse } from '../crypto/response-signature.js'
import { type Clock, SECOND_MS } from '../lib/clock.js'
import { STAGES, type Timings } from '../verification/stages.js'
import type { IncomingRequest, WholeReply } from './listeners/listener.js'
import { roundMs } from './observation/round-ms.js'
import type { RequestContext } from './request-context.js'

export interface SignerParts {
  /** The environment that the listener serves. Responses signed with the instance secret name it too. */
  environment: Environment
  clock: Clock
  /** Signs replies to callers whose tenant is not known. */
  instanceSecret: SigningSecret
}

/** Headers that every reply begins with. */
export const COMMON_HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
}

/** Refusals after which the rest of the request is not read, so that the connection cannot serve another one. */
const CLOSING = new Set<ErrorCode>(['body_too_large', 'shutting_down'])

/** The text that is signed, kept and sent. */
export function serialize(body: Outcome['body']): string {
  return typeof body === 'string' ? body : JSON.stringify(body)
}

export class ReplySigner {
  constructor(private readonly parts: SignerParts) {}

  sign(request: IncomingRequest, context: RequestContext, outcome: Outcome): WholeReply {
    const { requestId, clientRequestId, timings, trace } = context
    const { status, code } = outcome
    const body = serialize(outcome.body)
    const started = performance.now()
    const signature = signResponse(
      {
        environment: this.parts.environment,
        timestamp: Math.floor(this.parts.clock.now() / SECOND_MS),
        requestId,
        status,
        method: request.method,
        target: request.query ? `${request.path}?${request.query}` : request.path,
        body,
      },
      this.keys(context),
    )
    timings.sign = (timings.sign ?? 0) + performance.now() - started
    return {
      status,
      body,
      close: code !== undefined && CLOSING.has(code),
      headers: {
        ...context.headers,
        'X-Request-Id': requestId,
        ...(clientRequestId ? { 'X-Client-Request-Id': clientRequestId } : {}),
        [SIGNATURE_HEADER]: signature,
        ...(trace ? { traceresponse: trace.response } : {}),
        'Server-Timing': serverTiming(timings),
      },
    }
  }

  private keys({ identity }: RequestContext): SigningSecret[] {
    if (!identity) return [this.parts.instanceSecret]
    const { outgoing, incoming } = identity.secrets
    return incoming ? [outgoing, incoming] : [outgoing]
  }
}

function serverTiming(timings: Timings): string {
  return STAGES.filter((stage) => timings[stage] !== undefined)
    .map((stage) => `${stage};dur=${roundMs(timings[stage]!)}`)
    .join(', ')
}
