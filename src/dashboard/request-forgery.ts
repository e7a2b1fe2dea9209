/** Detects requests that another site makes a browser send, by their origin and by a token that only our own pages know. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingRequest } from '../http/listeners/listener.js'
import { DashboardError } from './dashboard-error.js'

/** Returns the value that our pages send in `X-CSRF-Token`. Only a page that can read the answer about the session knows it. */
export function csrfToken({ token }: { token: string }): string {
  return createHash('sha256').update(`csrf:${token}`).digest('base64url')
}

/** @throws DashboardError cross_site_request */
export function assertCsrfToken(session: { token: string }, given: string | undefined): void {
  const expected = Buffer.from(csrfToken(session))
  const actual = Buffer.from(given ?? '')
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected))
    throw new DashboardError('cross_site_request')
}

/**
 * A browser names the page that a changing request comes from; a form on another site cannot hide it.
 * @throws DashboardError cross_site_request
 */
export function assertSameOrigin({ headers }: Pick<IncomingRequest, 'headers'>): void {
  const { origin, host } = headers
  if (origin === undefined || host === undefined || !URL.canParse(origin) || new URL(origin).host !== host)
    throw new DashboardError('cross_site_request')
}
