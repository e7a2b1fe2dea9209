/** The order in which a service ends. */

import type { ApiServer } from '../http/api-server.js'
import type { Readiness } from '../http/readiness.js'
import type { StopStep } from '../jobs/job.js'
import { SECOND_MS } from '../lib/clock.js'
import type { BackgroundWork } from './background-work.js'
import type { ServiceListeners } from './listeners.js'
import type { ServiceResources } from './resources.js'

/** How long replies under way may take beyond their own deadline. */
const DRAIN_GRACE_MS = SECOND_MS
/** They serve /readyz and metrics until all else has ended. */
const LAST_LISTENERS = ['admin', 'metrics'] as const

export interface ShutdownParts {
  resources: ServiceResources
  work: BackgroundWork
  listeners: ServiceListeners
  /** None where the start failed before they were made. */
  servers: readonly ApiServer[]
  readiness: Readiness
  /** Resolves when no reload is under way: a listener that a reload is opening would stay open. */
  reloading: () => Promise<unknown>
}

/**
 * 1. The APIs refuse further requests with `shutting_down`, and retention and audit verification begin nothing more.
 * 2. The listeners of the APIs and of features stop accepting and answer what is under way.
 * 3. The engine drains: a worker inside ONNX Runtime must not be ended, since that would abort the process. Jobs of features under way end.
 * 4. The lease and the membership are given up, so that another node takes over at once.
 * 5. The admin listener, which served /readyz and metrics until now, is closed.
 * 6. The last counts and log entries are saved; then the database is closed.
 */
export async function shutDown(parts: ShutdownParts): Promise<void> {
  const { resources, work, listeners, servers, readiness } = parts
  const { config, core, engine } = resources
  const stopped = (step: StopStep) => Promise.all((work.jobs[step] ?? []).map((job) => job.stop()))
  for (const server of servers) server.draining = true
  const ended = stopped('atOnce')
  work.keyWatch.stop()
  await parts.reloading()
  await listeners.closeAllBut(LAST_LISTENERS, config.deadlineMs + DRAIN_GRACE_MS)
  await stopped('answered')
  core.store.leave()
  await Promise.all([engine.close(), stopped('drained')])
  await work.leaderLease.stop()
  await work.membership.stop()
  await readiness.stop()
  await ended
  await listeners.close(LAST_LISTENERS, DRAIN_GRACE_MS)
  await stopped('last')
  await core.store.close()
}
