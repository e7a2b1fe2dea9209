/** A session at the dashboard's API over real HTTP, as its pages hold one. */
import { createLoginLink } from '../../src/admin/accounts/login-link.js'
import type { TestService } from './service.js'

export interface DashboardAnswer {
  status: number
  /** The status, and the code of a refusal: `403 not_permitted`. */
  outcome: string
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies freely
  body: any
}

export interface DashboardClient {
  cookie: string
  csrf: string
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<DashboardAnswer>
}

export async function loginToken(running: TestService, tenantId: string): Promise<string> {
  const { core, adminUrl } = running.service
  const now = running.clock.now()
  const link = await core.store.transaction('installation', (tx) =>
    createLoginLink(tx, { tenantId, adminUrl, now }),
  )
  return link.split('/').at(-1)!
}

/** The sign-in of a page at this address of the dashboard. */
export function signInAt(adminUrl: string, credentials: object): Promise<Response> {
  return fetch(`${adminUrl}/api/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: adminUrl },
    body: JSON.stringify(credentials),
  })
}

/** Any request, with nothing that was not asked for. */
export async function request(
  running: TestService,
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<DashboardAnswer> {
  const response = await fetch(`${running.service.adminUrl}/api${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json;')
  const { status } = response
  const answer = isJson ? JSON.parse(text) : undefined
  const outcome = answer?.code ? `${status} ${answer.code}` : `${status}`
  return { status, outcome, headers: response.headers, text, body: answer }
}

export async function signIn(
  running: TestService,
  credentials: { login_token: string; code?: string } | { name?: string; password: string; code?: string },
  extra: Record<string, string> = {},
): Promise<DashboardClient> {
  const origin = { Origin: running.service.adminUrl }
  const { status, body, headers, text } = await request(running, 'POST', '/session', credentials, {
    ...origin,
    ...extra,
  })
  if (status !== 201) throw new Error(text)
  const cookie = headers.get('set-cookie')!.split(';')[0]!
  const csrf = body.csrf_token as string
  return {
    cookie,
    csrf,
    call: (method, path, json, extra = {}) =>
      request(running, method, path, json, { ...origin, Cookie: cookie, 'X-CSRF-Token': csrf, ...extra }),
  }
}

/** Names of the routes that the person of a session may call: every route for an admin of the installation. */
export async function routesOf(client: DashboardClient): Promise<{ operator: string[]; tenant: string[] }> {
  return (await client.call('GET', '/session')).body.may
}

/** @returns method and path of a route below a prefix */
export function addressOf(name: string, below = ''): [method: string, path: string] {
  const [method, path] = name.split(' ') as [string, string]
  return [method, below + (path === '/' ? '' : path)]
}
