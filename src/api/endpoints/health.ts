/** GET /v1/health: can this environment serve? */

import Type from 'typebox'
import { PACK_GRADES } from '../../../models/pack/grades.js'
import { SECOND_MS } from '../../lib/clock.js'
import { type Endpoint, type EndpointDescription, STATUS } from '../endpoint.js'
import { retryAfter } from '../error-response.js'
import { text, words } from '../schemas.js'
import type { Services } from '../services.js'

const check = words(['ok', 'degraded'])

const report = Type.Object(
  {
    status: check,
    environment: words(['production', 'sandbox']),
    version: Type.String(),
    checks: Type.Object({
      engine: Type.Object({
        status: check,
        model: text('Model pack that serves.'),
        following_models: Type.Array(Type.String(), {
          description: 'Model packs that are loaded next to it during a change of the pack.',
        }),
        grade: words(PACK_GRADES, 'Grade of the pack at the configured false match rate.'),
        workers: Type.Object({ ready: Type.Integer(), configured: Type.Integer() }),
        queue: Type.Object({ waiting: Type.Integer(), running: Type.Integer(), limit: Type.Integer() }),
        execution_provider: text('The ONNX Runtime provider that runs the models.'),
        fallbacks: Type.Array(Type.Object({ provider: Type.String(), reason: Type.String() }), {
          description: 'Providers that were configured before it and could not serve, and why.',
        }),
      }),
      store: Type.Object({ status: check }),
      http: Type.Object({
        status: check,
        transport: words(['uws', 'node'], 'The HTTP server that answers: uWebSockets.js or node:http.'),
        reason: words(
          ['preferred', 'configured', 'unavailable'],
          'Why this one: `preferred` is the first choice, `configured` was asked for, `unavailable` serves because uWebSockets.js does not load.',
        ),
      }),
    }),
  },
  { title: 'HealthResult' },
)

export const healthDescription: EndpointDescription = {
  id: 'health',
  topic: STATUS,
  operationId: 'get_health',
  sdkName: 'health',
  method: 'GET',
  path: '/v1/health',
  summary: 'Report the status of the endpoint',
  description: 'Says whether the engine and the database can serve.',
  success: { status: 200, description: 'Everything works.', schema: report },
  alternative: {
    status: 503,
    description: 'Something does not work, or not at full strength.',
    schema: report,
  },
  errors: [],
  answersWithoutStore: true,
  scopes: [],
}

/** The parts of the service that a health report describes. */
export type HealthParts = Pick<Services, 'config' | 'engineHealth' | 'transport' | 'version'> & {
  provider: Pick<Services['provider'], 'operatingPoint'>
  store: Pick<Services['store'], 'isHealthy'>
}

export function health(services: HealthParts): Endpoint<undefined> {
  return {
    ...healthDescription,
    async handle({ environment }) {
      const engine = services.engineHealth()
      const store = (await services.store.isHealthy()) ? 'ok' : 'degraded'
      const ok = engine.status === 'ok' && store === 'ok'
      const body = {
        status: ok ? 'ok' : 'degraded',
        environment,
        version: services.version,
        checks: {
          engine: {
            status: engine.status,
            model: engine.model,
            following_models: engine.following,
            grade: services.provider.operatingPoint(services.config.fmr).grade,
            workers: engine.workers,
            queue: engine.queue,
            execution_provider: engine.provider.active,
            fallbacks: engine.provider.fallbacks,
          },
          store: { status: store },
          http: { status: 'ok', transport: services.transport.name, reason: services.transport.reason },
        },
      }
      return ok ? { status: 200, body } : { status: 503, body, headers: retryAfter(RETRY_MS) }
    },
  }
}

/** Time in which a worker that died is usually replaced and warm, in milliseconds. */
const RETRY_MS = SECOND_MS
