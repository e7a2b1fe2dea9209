/** Records a request when it is answered: one observation for metrics, charts and trace, and one line in the log. */
import { createHmac, randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import type { Outcome } from '../../api/endpoint.js'
import type { Environment } from '../../config/config.js'
import type { IncomingRequest } from '../listeners/listener.js'
import type { RequestContext } from '../request-context.js'
import type { Observation } from './observation.js'
import { roundMs } from './round-ms.js'

export interface RecorderParts {
  environment: Environment
  log: Logger
  /** Passes the observation to metrics, charts and request log. */
  observe: (observation: Observation) => void
}

export class RequestRecorder {
  constructor(private readonly parts: RecorderParts) {}

  /** Never throws: the reply has been sent already. */
  record(request: IncomingRequest, context: RequestContext, outcome: Outcome, durationMs: number): void {
    try {
      const observation = this.observation(request, context, outcome, durationMs)
      this.parts.observe(observation)
      context.trace?.end(observation)
      this.log(observation, context.trace?.traceId)
    } catch (err) {
      this.parts.log.error({ request_id: context.requestId, err }, 'the request could not be recorded')
    }
  }

  private observation(
    request: IncomingRequest,
    context: RequestContext,
    { status, code, observed, audit }: Outcome,
    durationMs: number,
  ): Observation {
    const { requestId, clientRequestId, keyId, keyTenantId, user, isChallenge, address, timings } = context
    const { identity, destination } = context
    return {
      ...observed,
      requestId,
      environment: this.parts.environment,
      endpoint: destination?.route?.endpoint.id ?? 'unknown',
      method: request.method,
      path: destination?.template ?? digestOf(request.path),
      tenantId: identity?.caller.tenant.id,
      tenantName: identity?.caller.tenant.name,
      keyId,
      keyTenantId,
      user,
      subject: audit?.subject,
      verificationId: audit?.verification_id,
      clientRequestId,
      isReplay: 'X-Svc-Idempotent-Replay' in context.headers,
      isChallenge,
      address,
      signingKeyId: request.headers['x-svc-signing-key-id'],
      status,
      code,
      durationMs,
      timings,
    }
  }

  /** Writes one line for each request. The query may name a user, so it is left out. */
  private log(observation: Observation, traceId: string | undefined): void {
    const { requestId, environment, tenantId, keyId, address } = observation
    const { endpoint, method, path, status, code } = observation
    const { verdict, reason, durationMs, timings } = observation
    this.parts.log.info(
      {
        request_id: requestId,
        ...(traceId ? { trace_id: traceId } : {}),
        environment,
        tenant: tenantId ?? null,
        key: keyId,
        address,
        endpoint,
        method,
        path,
        status,
        ...(code ? { code } : {}),
        ...(verdict ? { verdict } : {}),
        ...(reason ? { reason } : {}),
        duration_ms: roundMs(durationMs),
        timings_ms: Object.fromEntries(Object.entries(timings).map(([stage, ms]) => [stage, roundMs(ms)])),
      },
      'request',
    )
  }
}

/** Secret of this process, so that a reader of the log cannot try out which user id a path held. */
const DIGEST_KEY = randomBytes(32)

/** An unknown path may hold a pasted key or a user's id. Its digest is enough to recognize repeats. */
function digestOf(path: string): string {
  return `unknown:${createHmac('sha256', DIGEST_KEY).update(path).digest('hex').slice(0, 12)}`
}
