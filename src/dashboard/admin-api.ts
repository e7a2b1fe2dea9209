/** The dashboard's API under /api/: session, CSRF, permission, schema, route — in this order, for every request. */

import Type from 'typebox'
import { ApiError } from '../api-error.js'
import { requestId as newRequestId } from '../crypto/identifiers.js'
import { type InputParser, inputParser } from '../server/json-body.js'
import type { IncomingRequest, Reply } from '../server/listener.js'
import { TenancyError } from '../tenancy/tenancy.js'
import { DashboardError, refusal } from './dashboard-error.js'
import type { DashboardServices } from './dashboard-services.js'
import { CONTRACT_ROUTES } from './operator-routes.js'
import { json } from './replies.js'
import { type OperatorRoute, ROUTES, type RouteCall, type TenantRoute } from './routes.js'
import { assertCsrfToken, assertSameOrigin, type Credentials, csrfToken, type Session } from './sessions.js'

const SESSION_PATH = '/api/session'
const TENANT_PATH = /^\/api\/tenants\/(ten_[0-9a-f]{32})(\/.*)?$/
/** For all but photos, and for whoever has not signed in yet. */
const SMALL_BODY_BYTES = 16_384
const SAFE = new Set(['GET', 'HEAD'])

const credentials: InputParser = inputParser({
  body: Type.Union([
    Type.Object({ login_token: Type.String({ maxLength: 64 }) }, { additionalProperties: false }),
    Type.Object({ password: Type.String({ maxLength: 1024 }) }, { additionalProperties: false }),
  ]),
})

interface Compiled<Route> {
  route: Route
  parse: InputParser
  /** A tenant's session may not. */
  operatorOnly: boolean
}

export class AdminApi {
  private readonly operatorRoutes: Map<string, Compiled<OperatorRoute<unknown>>>
  private readonly tenantRoutes: Map<string, Compiled<TenantRoute<unknown>>>

  constructor(private readonly services: DashboardServices) {
    this.operatorRoutes = compile(ROUTES.operator, true)
    this.tenantRoutes = new Map([
      ...compile(ROUTES.tenant, false),
      ...compile(CONTRACT_ROUTES as Array<TenantRoute<unknown>>, true),
    ])
  }

  readonly handle = async (request: IncomingRequest): Promise<Reply> => {
    const requestId = newRequestId(this.services.clock.now())
    try {
      if (!SAFE.has(request.method)) assertSameOrigin(request)
      return request.path === SESSION_PATH
        ? await this.handleSession(request)
        : await this.handleRoute(request, requestId)
    } catch (error) {
      const reply = refusal(error, requestId, this.services.countRefusal)
      if (reply.status === 500)
        this.services.log.error({ request_id: requestId, err: error }, 'the dashboard failed')
      return reply
    }
  }

  private async handleSession(request: IncomingRequest): Promise<Reply> {
    const { sessions } = this.services
    switch (request.method) {
      case 'POST': {
        const body = await request.body(this.deadline(), SMALL_BODY_BYTES)
        const input = credentials(body, request.headers['content-type'], '') as Credentials
        const session = await sessions.signIn(input, request.remoteAddress)
        return json(sessionView(session), 201, { 'Set-Cookie': sessions.cookie(session) })
      }
      case 'GET':
      case 'HEAD':
        return json(sessionView(await sessions.find(request)))
      case 'DELETE': {
        const session = await sessions.find(request)
        assertCsrfToken(session, request.headers['x-csrf-token'])
        await sessions.signOut(session)
        return json({ signed_in: false }, 200, { 'Set-Cookie': sessions.clearedCookie() })
      }
      default:
        throw new ApiError('method_not_allowed', { headers: { Allow: 'GET, POST, DELETE' } })
    }
  }

  private async handleRoute(request: IncomingRequest, requestId: string): Promise<Reply> {
    const session = await this.services.sessions.find(request)
    if (!SAFE.has(request.method)) assertCsrfToken(session, request.headers['x-csrf-token'])
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const [, tenantId, rest = ''] = TENANT_PATH.exec(request.path) ?? []
    const compiled = tenantId
      ? this.tenantRoutes.get(`${method} ${rest}`)
      : this.operatorRoutes.get(`${method} ${request.path}`)
    // Before anything is looked up: a tenant learns nothing of what else there is.
    const isOwn = tenantId !== undefined && tenantId === session.tenantId
    if (session.tenantId !== null && (!isOwn || compiled?.operatorOnly))
      throw new DashboardError('not_permitted')
    if (!compiled) throw new ApiError('unknown_endpoint', { message: 'There is no such address.' })
    const deadlineMs = this.deadline()
    const body = await request.body(deadlineMs, compiled.route.takesPhotos ? undefined : SMALL_BODY_BYTES)
    const call: RouteCall<unknown> = {
      services: this.services,
      session,
      actor: session.tenantId === null ? 'dashboard:operator' : 'dashboard:tenant',
      input: compiled.parse(body, request.headers['content-type'], ''),
      query: new URLSearchParams(request.query),
      requestId,
      request,
      deadlineMs,
    }
    if (tenantId === undefined) return (compiled.route as OperatorRoute<unknown>).handle(call)
    const tenant = await this.services.ledger.store.read.tenantById(tenantId)
    if (!tenant) throw new TenancyError('tenant_not_found', 'There is no such tenant.')
    return (compiled.route as TenantRoute<unknown>).handle({ ...call, tenant })
  }

  private deadline(): number {
    return performance.now() + this.services.config.deadlineMs
  }
}

function compile<Route extends OperatorRoute<unknown> | TenantRoute<unknown>>(
  routes: Route[],
  operatorOnly: boolean,
): Map<string, Compiled<Route>> {
  return new Map(
    routes.map((route) => [
      `${route.method} ${route.path}`,
      { route, parse: inputParser(route), operatorOnly },
    ]),
  )
}

function sessionView(session: Session): Record<string, unknown> {
  return {
    role: session.tenantId === null ? 'operator' : 'tenant',
    tenant_id: session.tenantId,
    csrf_token: csrfToken(session),
    expires_at: new Date(session.expiresAt).toISOString(),
  }
}
