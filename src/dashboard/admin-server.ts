/**
 * The admin listener, which serves the dashboard and its API, the documentation, the API reference with its sandbox, metrics, liveness and
 * readiness; and the separate listener for metrics.
 */

import type { Logger } from 'pino'
import { statusOf } from '../api/error-response.js'
import { membershipView } from '../cluster/membership.js'
import { largeHeadPage } from '../http/listeners/large-head-page.js'
import type { IncomingRequest, Reply } from '../http/listeners/listener.js'
import type { Metrics } from '../http/metrics/metrics.js'
import { ERRORS_PAGE_HEADERS } from '../http/openapi/errors-page.js'
import { ERRORS_PATH } from '../http/routing/routes.js'
import type { ServiceNode } from '../storage/coordinator.js'
import { SANDBOX_PATH } from './contract.js'
import { DASHBOARD_ERRORS_PAGE } from './dashboard-errors-page.js'
import { documentationFiles } from './documentation-files.js'
import type { HostGuard } from './host-guard.js'
import { plain, reply } from './replies.js'
import { staticFiles } from './static-files.js'

export interface AdminServerParts {
  /** Answers the requests under /api/. */
  api: (request: IncomingRequest) => Promise<Reply>
  /**
   * Answers the API reference's calls of the sandbox. They have the page's own origin here, so that no other origin needs access.
   * Production has only its own listener.
   */
  sandbox: (request: IncomingRequest) => Promise<Reply>
  /** The metrics, or null when they have their own listener. */
  metrics: Metrics | null
  openApi: () => string
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

export function adminHandler({
  api,
  sandbox,
  metrics,
  openApi,
  hosts,
  readiness,
  nodes,
  log,
}: AdminServerParts) {
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
    [
      ERRORS_PATH,
      async () => reply(200, 'text/html; charset=utf-8', DASHBOARD_ERRORS_PAGE, ERRORS_PAGE_HEADERS),
    ],
    ['/v1/openapi.json', async () => reply(200, 'application/json; charset=utf-8', openApi())],
  ])
  for (const [path, file] of [...staticFiles(), ...documentationFiles()]) pages.set(path, async () => file)
  const page = pagesHandler(pages, hosts, log)
  return async (request: IncomingRequest): Promise<Reply> => {
    if (request.malformed) return largeHeadPage(request) ?? page(request)
    if (request.path.startsWith('/api/')) return hosts.refusal(request) ?? api(request)
    if (request.path.startsWith(`${SANDBOX_PATH}/`))
      return hosts.refusal(request) ?? sandbox({ ...request, path: request.path.slice(SANDBOX_PATH.length) })
    return page(request)
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

function pagesHandler(pages: ReadonlyMap<string, Page>, hosts: HostGuard, log: Logger) {
  return async (request: IncomingRequest): Promise<Reply> => {
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
