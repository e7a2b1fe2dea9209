/** The routes for the traffic of a tenant, and for its drift. */
import { asks, consoleRoute } from '../../dashboard/lib/route.js'
import { isoTime } from '../../lib/clock.js'
import type { FeatureHost } from '../feature.js'
import { driftViews, servedModels } from './drift/drift-view.js'
import { restartDrift } from './drift/restart-drift.js'
import type { Traffic } from './traffic/traffic.js'
import { type TrafficWindow, WINDOWS } from './traffic/traffic-view.js'

const NAMES = Object.keys(WINDOWS) as TrafficWindow[]

export function insightRoutes(host: FeatureHost, traffic: Traffic) {
  const { store, clock, engine, operations } = host
  return {
    'GET /traffic': consoleRoute({
      right: 'read',
      /** The window of the chart; an hour by default. */
      query: asks<{ window?: TrafficWindow }>(),
      answer: ({ tenant, query }) =>
        traffic.view(tenant.id, NAMES.find((name) => name === query.get('window')) ?? 'hour'),
    }),

    /** The drift for each model pack that judged verifies of the last five weeks. */
    'GET /drift': consoleRoute({
      right: 'read',
      async answer({ tenant }) {
        return { models: await driftViews(tenant, store.read, clock.now(), servedModels(engine)) }
      },
    }),

    /** Compares with verifies from now on only. */
    'POST /drift/restart': consoleRoute({
      // Only for the operator, whose alert a new reference ends.
      right: 'admin',
      async answer({ tenant, actor }) {
        const since = clock.now()
        await restartDrift(operations, tenant, actor, since)
        return { since: isoTime(since) }
      },
    }),
  }
}
