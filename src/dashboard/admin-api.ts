/** The dashboard's API under /api/: session, CSRF, permission, schema, route — in this order, for every request. */
import Type from 'typebox'
import { MethodNotAllowedError } from '../api/error-response.js'
import { requestId as newRequestId } from '../crypto/identifiers.js'
import { json } from '../http/admin/replies.js'
import { isConfidential } from '../http/authentication/confidential-channel.js'
import { type InputParser, inputParser } from '../http/bodies/json-body.js'
import type { IncomingRequest, Reply } from '../http/listeners/listener.js'
import { ERRORS_PATH } from '../http/routing/routes.js'
import { isoTime } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'
import { assertLive, assertNotSuspended, TenancyError } from '../tenants/tenancy-error.js'
import { DashboardError, refusal } from './dashboard-error.js'
import type { DashboardServices } from './dashboard-services.js'
import type { AnyRoute, Right, RouteOptions, Taken } from './lib/route.js'
import { assertCsrfToken, assertSameOrigin, csrfToken } from './request-forgery.js'
import { rightsOf } from './rights.js'
import type { OperatorCall, TenantCall } from './routes/route.js'
import { ROUTES } from './routes/routes.js'
import { OidcSignIn } from './sign-in/oidc.js'
import { isUnnamedOfTenant } from './sign-in/session-person.js'
import type { Guest, Session } from './sign-in/sessions.js'
import { CREDENTIALS, type Credentials } from './sign-in/sign-in.js'

const SESSION_PATH = '/api/session'
const OPERATOR_PREFIX = '/api'
/** Names the operator as the owner of request bodies; the other owners are ids of tenants. */
const OPERATOR = 'operator'
const TENANT_PATH = /^\/api\/tenants\/(ten_[0-9a-f]{32})(\/.+)?$/
/** Largest body of a request that carries no photo, or that comes before the sign-in. */
const SMALL_BODY_BYTES = 16_384
const SAFE = new Set(['GET', 'HEAD'])

/** A session as the pages see it. */
export type SessionView = Awaited<ReturnType<AdminApi['view']>>

const VIEWER_LOOKS = 'Your role is to look: an admin may change things.'

const parseCredentials: InputParser = inputParser({ body: CREDENTIALS })

type CallOf<Caller> = Caller & Taken<never, never>

interface CompiledRoute<Call> extends RouteOptions {
  asksFreshSignIn: boolean
  parse: InputParser
  run: (call: Call) => Promise<Reply>
}

export class AdminApi {
  private readonly operatorRoutes: Map<string, CompiledRoute<CallOf<OperatorCall>>>
  private readonly tenantRoutes: Map<string, CompiledRoute<CallOf<TenantCall>>>
  private readonly oidc: OidcSignIn

  constructor(private readonly services: DashboardServices) {
    this.operatorRoutes = compile<CallOf<OperatorCall>>({ ...ROUTES.operator, ...services.operatorRoutes })
    this.tenantRoutes = compile<CallOf<TenantCall>>({ ...ROUTES.tenant, ...services.routes })
    this.oidc = new OidcSignIn(services)
  }

  readonly handle = async (request: IncomingRequest): Promise<Reply> => {
    const requestId = newRequestId(this.services.clock.now())
    try {
      if (!SAFE.has(request.method)) assertSameOrigin(request)
      if (OidcSignIn.handles(request.path))
        return await this.oidc.handle(request, this.guest(request, requestId))
      return request.path === SESSION_PATH
        ? await this.handleSession(request, this.guest(request, requestId))
        : await this.handleRoute(request, requestId)
    } catch (error) {
      const { countRefusal: count, statuses, urls } = this.services
      const errorsUrl = urls().admin + ERRORS_PATH
      const recorded = await this.recordRefusal(error, request, requestId)
      const reply = refusal(recorded, { requestId, errorsUrl, statuses, count })
      if (reply.status === 500)
        this.services.log.error({ request_id: requestId, err: error }, 'the dashboard failed')
      return reply
    }
  }

  private guest(request: IncomingRequest, requestId: string): Guest {
    const browser = request.headers['user-agent']
    return { address: this.services.addresses.of(request), browser, requestId }
  }

  /** Records a refused sign-in in the log and the audit log. @returns the error, or the failure that kept it from being recorded */
  private async recordRefusal(error: unknown, request: IncomingRequest, requestId: string): Promise<unknown> {
    if (!(error instanceof DashboardError && error.code === 'sign_in_failed')) return error
    const { log, core, addresses } = this.services
    log.warn(
      { request_id: requestId, address: addresses.of(request) },
      'a sign-in to the dashboard was refused',
    )
    return core.operations.signIns.refused(error, requestId)
  }

  private async handleSession(request: IncomingRequest, guest: Guest): Promise<Reply> {
    const { sessions, signIn } = this.services
    switch (request.method) {
      case 'POST': {
        const body = await request.body(this.deadline(), SMALL_BODY_BYTES)
        const input = parseCredentials(body, request.headers['content-type'], '') as Credentials
        const session = await signIn.byCredentials(input, guest)
        await this.endReplaced(request)
        return json(await this.view(session), 201, { 'Set-Cookie': sessions.cookie(session) })
      }
      case 'GET':
      case 'HEAD':
        return json(await this.view(await sessions.find(request)))
      case 'DELETE': {
        const session = await sessions.find(request)
        assertCsrfToken(session, request.headers['x-csrf-token'])
        await sessions.signOut(session)
        return json({ signed_in: false }, 200, { 'Set-Cookie': sessions.clearedCookie() })
      }
      default:
        throw new MethodNotAllowedError(['GET', 'POST', 'DELETE'])
    }
  }

  async view(session: Session) {
    const { person, method, expiresAt } = session
    const { name, role, tenantId } = person
    const rights = rightsOf(person)
    return {
      role: tenantId === null ? ('operator' as const) : ('tenant' as const),
      /** The name is `operator` or `tenant` for a person without a name. */
      person: { name, role },
      /** Id of the person's tenant, or null for an operator. */
      tenant_id: tenantId,
      csrf_token: csrfToken(session),
      /** Time at which the session ends unless it is used before. */
      expires_at: isoTime(expiresAt),
      /** How the session began, which is also how the person confirms their identity. */
      method,
      second_factor: this.secondFactor(session, await this.factorAt(session)),
      password: this.services.sessions.ownPassword(session),
      /** Names of the routes that the person's role may call, by which the pages offer them: those of the installation, and of a tenant. */
      may: {
        operator: namesOf(this.operatorRoutes, rights.operator),
        tenant: namesOf(this.tenantRoutes, rights.tenant),
      },
    }
  }

  /** @returns time since when the session's person has a second factor; null for none, and where the provider is responsible for it */
  private async factorAt({ person, method }: Session): Promise<number | null> {
    if (method === 'oidc' || isUnnamedOfTenant(person)) return null
    return this.services.core.operations.secondFactors.inForceSince(person)
  }

  /**
   * @returns `required` when the person must set up a second factor before any other request; null where the provider is responsible for it,
   * and where nobody has a name
   */
  private secondFactor({ person, method }: Session, factorAt: number | null) {
    if (method === 'oidc') return null
    if (factorAt !== null) return 'enrolled'
    if (this.services.config.operatorSecondFactor === 'required') return 'required'
    return isUnnamedOfTenant(person) ? null : 'none'
  }

  /** Ends the session that a sign-in replaces in the same browser, so that a new link leaves no older session behind. */
  private async endReplaced(request: IncomingRequest): Promise<void> {
    const { sessions } = this.services
    const before = await sessions.find(request).catch((error) => {
      if (error instanceof DashboardError) return null
      throw error
    })
    if (before) await sessions.signOut(before)
  }

  private async handleRoute(request: IncomingRequest, requestId: string): Promise<Reply> {
    const session = await this.services.sessions.find(request)
    if (!SAFE.has(request.method)) assertCsrfToken(session, request.headers['x-csrf-token'])
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const [, tenantId, rest = '/'] = TENANT_PATH.exec(request.path) ?? []
    const path = request.path.slice(OPERATOR_PREFIX.length)
    const ofOperator = tenantId === undefined ? this.operatorRoutes.get(`${method} ${path}`) : undefined
    const ofTenant = tenantId === undefined ? undefined : this.tenantRoutes.get(`${method} ${rest}`)
    const route = ofOperator ?? ofTenant
    const { person } = session
    // Checked before anything is looked up, so that a tenant learns nothing of the others. Routes for the person's own matters lie below no
    // tenant.
    const isOwn = tenantId === undefined ? ofOperator?.right === 'own' : tenantId === person.tenantId
    if (person.tenantId !== null && !isOwn) throw new DashboardError('not_permitted')
    if (!route) throw new DomainError('unknown_endpoint', { message: 'There is no such address.' })
    if (!rightsOf(person).tenant.includes(route.right))
      throw new DashboardError('not_permitted', person.role === 'viewer' ? VIEWER_LOOKS : undefined)
    if (route.givesSecret && !isConfidential(request, this.services.config))
      throw new DomainError('insecure_channel', {
        message: 'Keys, secrets and login links are not sent over an unencrypted channel.',
      })
    if (this.services.sessions.ownPassword(session) === 'required' && !route.choosesPassword)
      throw new DashboardError('password_not_chosen')
    const factorAt = await this.factorAt(session)
    if (route.right !== 'own' && this.secondFactor(session, factorAt) === 'required')
      throw new DashboardError('second_factor_not_added')
    if (route.asksFreshSignIn) this.services.sessions.assertFresh(session, factorAt)
    const deadlineMs = this.deadline()
    const limitBytes = route.takesLargeBody ? undefined : SMALL_BODY_BYTES
    const body = await request.body(deadlineMs, limitBytes, person.tenantId ?? OPERATOR)
    const call: CallOf<OperatorCall> = {
      services: this.services,
      operations: this.services.core.operations,
      actor: {
        name: `dashboard:${person.name}`,
        requestId,
        isTenant: person.tenantId !== null,
      },
      // The parser that was compiled from the route's own schema has checked the input.
      input: route.parse(body, request.headers['content-type'], '') as never,
      query: new URLSearchParams(request.query),
      request,
      urls: this.services.urls,
      session,
      guest: this.guest(request, requestId),
      deadlineMs,
    }
    if (ofOperator) return ofOperator.run(call)
    const tenant = await this.services.core.store.read.tenantById(tenantId!)
    if (!tenant) throw new TenancyError('tenant_not_found', 'There is no such tenant.')
    if (person.tenantId !== null) assertNotSuspended(tenant)
    if (route.right !== 'read') assertLive(tenant)
    return ofTenant!.run({ ...call, tenant })
  }

  private deadline(): number {
    return performance.now() + this.services.config.deadlineMs
  }
}

function compile<Call>(table: Record<string, AnyRoute<Call>>): Map<string, CompiledRoute<Call>> {
  return new Map(
    Object.entries(table).map(([name, route]) => {
      const run = async (call: Call) =>
        'reply' in route ? route.reply(call) : json(await route.answer(call), route.status)
      const asksFreshSignIn = !name.startsWith('GET ') && route.harmless === undefined
      const parse = inputParser(
        route.body ? { body: Type.Object(route.body, { additionalProperties: false }) } : {},
      )
      return [name, { ...route, asksFreshSignIn, parse, run }]
    }),
  )
}

function namesOf(routes: Map<string, RouteOptions>, rights: readonly Right[]): string[] {
  return [...routes].filter(([, { right }]) => rights.includes(right)).map(([name]) => name)
}
