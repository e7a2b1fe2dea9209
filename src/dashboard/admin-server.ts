/** The admin listener's pages: status, metrics, liveness, readiness, and the API description. */
import type { IncomingRequest, Reply } from '../server/listener.js'
import type { Metrics } from '../server/metrics.js'
import { STATUS_PAGE_CSP, type StatusFacts, statusPage } from './status-page.js'

export interface AdminServerParts {
  status: () => Promise<StatusFacts>
  metrics: Metrics
  openApi: string
  /** False before the engine is warm and while the process drains. */
  isReady: () => boolean
}

type Page = () => Promise<{ status?: number; type: string; body: string; headers?: Record<string, string> }>

export function adminHandler({ status, metrics, openApi, isReady }: AdminServerParts) {
  const pages: Record<string, Page> = {
    '/': async () => ({
      type: 'text/html; charset=utf-8',
      body: statusPage(await status()),
      headers: { 'Content-Security-Policy': STATUS_PAGE_CSP, 'Referrer-Policy': 'no-referrer' },
    }),
    '/metrics': async () => ({ type: metrics.contentType, body: await metrics.render() }),
    '/livez': async () => ({ type: 'application/json', body: JSON.stringify({ status: 'ok' }) }),
    '/readyz': async () =>
      isReady()
        ? { type: 'application/json', body: JSON.stringify({ status: 'ready' }) }
        : { status: 503, type: 'application/json', body: JSON.stringify({ status: 'not_ready' }) },
    '/v1/openapi.json': async () => ({ type: 'application/json; charset=utf-8', body: openApi }),
  }
  return async ({ method, path }: IncomingRequest): Promise<Reply> => {
    const page = pages[path]
    if (!page) return plain(404, 'There is no such page.\n')
    if (method !== 'GET' && method !== 'HEAD')
      return plain(405, 'Only GET is supported.\n', { Allow: 'GET, HEAD' })
    try {
      const { status: code = 200, type, body, headers } = await page()
      return reply(code, type, body, headers)
    } catch {
      return plain(503, 'The service cannot tell its status now.\n')
    }
  }
}

function plain(status: number, body: string, headers: Record<string, string> = {}): Reply {
  return reply(status, 'text/plain; charset=utf-8', body, headers)
}

function reply(status: number, type: string, body: string, headers: Record<string, string> = {}): Reply {
  return {
    status,
    body,
    headers: {
      'Content-Type': type,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      ...headers,
    },
  }
}
