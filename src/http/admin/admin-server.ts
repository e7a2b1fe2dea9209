/** The admin listener: metrics, liveness, readiness, and what features show there; and the separate listener for metrics. */

import type { Logger } from 'pino'
import { statusOf } from '../../api/error-response.js'
import { membershipView } from '../../cluster/membership.js'
import type { ServiceNode } from '../../storage/coordinator.js'
import { largeHeadPage } from '../listeners/large-head-page.js'
import type { IncomingRequest, Reply } from '../listeners/listener.js'
import type { Metrics } from '../metrics/metrics.js'
import type { HostGuard } from './host-guard.js'
import { plain, reply } from './replies.js'

type Handler = (request: IncomingRequest) => Promise<Reply>

/** The part of the admin listener that a feature has, for requests under the host names of this service. */
export interface AdminPart {
  /** Replies by path, or what makes them. They are answered to GET and HEAD. */
  pages: ReadonlyMap<string, Reply | (() => Reply)>
  /** Answers the requests whose path begins with the name. */
  handlers?: Readonly<Record<string, Handler>>
}

export interface AdminServerParts {
  /** The parts of this listener that features have. */
  shown: readonly AdminPart[]
  /** The metrics, or null when they have their own listener. */
  metrics: Metrics | null
  hosts: HostGuard
  readiness: {
    /** Reasons why the service is not ready; empty when it is. */
    readonly reasons: string[]
    /** Faults that an operator should mend although the service is ready. */
    readonly warnings: string[]
    /** Whether the engine has failed for good, so that only a restart of the service can help. */
    readonly isEngineGivenUp: boolean
  }
  /** The services that share the database; none when this is the only one. */
  nodes: () => readonly ServiceNode[]
  log: Logger
}

type Page = () => Promise<Reply>

export function adminHandler({ shown, metrics, hosts, readiness, nodes, log }: AdminServerParts): Handler {
  const pages = new Map<string, Page>([
    ...(metrics ? [metricsPage(metrics)] : []),
    [
      '/livez',
      async () =>
        readiness.isEngineGivenUp
          ? reply(503, 'application/json', JSON.stringify({ status: 'failed', reasons: ['engine_down'] }))
          : reply(200, 'application/json', JSON.stringify({ status: 'ok' })),
    ],
    [
      '/readyz',
      async () => {
        const { reasons, warnings } = readiness
        const view = {
          ...(reasons.length === 0 ? { status: 'ready' } : { status: 'not_ready', reasons }),
          ...(warnings.length > 0 ? { warnings } : {}),
          ...(nodes().length > 0 ? { nodes: membershipView(nodes()).nodes } : {}),
        }
        return reply(reasons.length === 0 ? 200 : 503, 'application/json', JSON.stringify(view))
      },
    ],
  ])
  for (const [path, page] of shown.flatMap((part) => [...part.pages]))
    pages.set(path, async () => (typeof page === 'function' ? page() : page))
  const page = pagesHandler(pages, hosts, log)
  const handlers = shown.flatMap(({ handlers = {} }) => Object.entries(handlers))
  return async (request) => {
    if (request.malformed) return largeHeadPage(request) ?? page(request)
    const handler = handlers.find(([prefix]) => request.path.startsWith(prefix))?.[1]
    return handler ? (hosts.refusal(request) ?? handler(request)) : page(request)
  }
}

export function metricsHandler(
  metrics: Pick<Metrics, 'render' | 'contentType'>,
  hosts: HostGuard,
  log: Logger,
) {
  return pagesHandler(new Map([metricsPage(metrics)]), hosts, log)
}

function metricsPage(metrics: Pick<Metrics, 'render' | 'contentType'>): [string, Page] {
  return ['/metrics', async () => reply(200, metrics.contentType, await metrics.render())]
}

function pagesHandler(pages: ReadonlyMap<string, Page>, hosts: HostGuard, log: Logger): Handler {
  return async (request) => {
    if (request.malformed) return plain(statusOf(request.malformed), `${request.malformed.message}\n`)
    const refusal = hosts.refusal(request)
    if (refusal) return refusal
    const page = pages.get(request.path)
    if (!page) return plain(404, 'There is no such page.\n')
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return plain(405, 'Only GET is supported.\n', { Allow: 'GET, HEAD' })
    try {
      return await page()
    } catch (err) {
      log.error({ err, path: request.path }, 'a page of the admin listener failed')
      return plain(503, 'The service cannot tell its status now.\n')
    }
  }
}
