/** The routes for the traffic of a tenant, and for its drift. */
import type { ConsoleTable } from '../../dashboard/lib/route.js'
import { isoTime } from '../../lib/clock.js'
import type { FeatureHost } from '../feature.js'
import { type DriftView, driftViews, servedModels } from './drift/drift-view.js'
import { restartDrift } from './drift/restart-drift.js'
import type { Traffic } from './traffic/traffic.js'
import { type TrafficView, type TrafficWindow, WINDOWS } from './traffic/traffic-view.js'

/** The routes, as the pages see them. */
export interface InsightRoutes {
  'GET /traffic': { query: TrafficQuery; answer: TrafficView }
  'GET /drift': { answer: DriftList }
  /** Compares with verifies from now on only. */
  'POST /drift/restart': { answer: { since: string } }
}

/** The drift of a tenant, for each model pack that judged its verifies of the last five weeks. */
export interface DriftList {
  models: DriftView[]
}

export interface TrafficQuery {
  /** Window of the chart; an hour by default. */
  window?: TrafficWindow
}

const NAMES = Object.keys(WINDOWS) as TrafficWindow[]

export function insightRoutes(host: FeatureHost, traffic: Traffic): ConsoleTable<InsightRoutes> {
  const { store, clock, engine, operations } = host
  return {
    'GET /traffic': {
      answer: ({ tenant, query }) =>
        traffic.view(tenant.id, NAMES.find((name) => name === query.get('window')) ?? 'hour'),
    },

    'GET /drift': {
      async answer({ tenant }) {
        const parts = { read: store.read, now: clock.now(), ...servedModels(engine) }
        return { models: await driftViews(tenant, parts) }
      },
    },

    'POST /drift/restart': {
      async answer({ tenant, actor }) {
        const since = clock.now()
        await restartDrift(operations, tenant, actor, since)
        return { since: isoTime(since) }
      },
    },
  }
}
