/** Shows how a service does: the traffic of tenants, the request log, drift, and a candidate that sees verifies in shadow. */
import { ownValues } from '../../config/own-settings.js'
import { EngineProvider } from '../../verification/engine-provider.js'
import type { Attached, Feature, FeatureHost } from '../feature.js'
import { insightRoutes } from './console-routes.js'
import { showDrift } from './drift/drift-metrics.js'
import { DriftRecorder } from './drift/drift-recorder.js'
import { servedModels } from './drift/drift-view.js'
import { DriftWatch } from './drift/drift-watch.js'
import { RequestLog } from './requests/request-log.js'
import { requestRoutes } from './requests/request-routes.js'
import { candidateOf } from './shadow/candidate.js'
import { shadowMetrics } from './shadow/shadow-metrics.js'
import { SHADOW_SETTINGS } from './shadow/shadow-settings.js'
import { Traffic } from './traffic/traffic.js'

export const insight: Feature = {
  async attach(host) {
    const models = servedModels(host.engine)
    const traffic = new Traffic(host)
    const requestLog = new RequestLog(host)
    const driftRecorder = new DriftRecorder({ ...host, ...models })
    const driftWatch = new DriftWatch({ ...host, ...models })
    showDrift(host.metrics, driftWatch)
    const { jobs = {}, ...shadow } = await attachShadow(host)
    return {
      ...shadow,
      observe(request) {
        traffic.observe(request)
        requestLog.observe(request)
        driftRecorder.observe(request)
      },
      jobs: {
        ...jobs,
        atOnce: [driftWatch],
        last: [traffic, requestLog, driftRecorder, ...(jobs.last ?? [])],
      },
      afterExpiry: requestLog.deleteOld,
      console: { ...insightRoutes(host, traffic), ...requestRoutes(host) },
    }
  },
}

/** The candidate's code is loaded only where one is configured; its metrics are always there. */
async function attachShadow(host: FeatureHost): Promise<Attached> {
  const { config, engine } = host
  const observer = shadowMetrics(host.metrics)
  const candidate = candidateOf(config, engine.packs.values())
  if (!candidate) return {}
  const { Shadow } = await import('./shadow/shadow.js')
  const { ShadowRecorder } = await import('./shadow/shadow-recorder.js')
  const recorder = new ShadowRecorder(host)
  const shadow = new Shadow({
    ...{ ...host, candidate, recorder, observer },
    settings: ownValues(SHADOW_SETTINGS, config),
    provider: new EngineProvider(engine),
    hasPlace: () => engine.hasSparePlace,
  })
  return { watch: shadow.watch, jobs: { answered: [shadow], last: [recorder] } }
}
