/** Sign-in of operators and of people of tenants by an OpenID provider: authorization code flow with PKCE (RFC 7636), by openid-client. */
import { readFileSync } from 'node:fs'
import type { Configuration } from 'openid-client'
import { PersonError } from '../admin/people-operations.js'
import type { IncomingRequest, Reply } from '../http/listeners/listener.js'
import { MINUTE_MS, SECOND_MS } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'
import { TenancyError } from '../tenants/tenancy.js'
import { PROVIDER_SIGN_IN, type ProviderProblem } from './contract.js'
import type { DashboardServices } from './dashboard-services.js'
import { ProviderSignInError } from './provider-sign-in-error.js'
import { auditRefusedSignIn } from './refused-sign-in.js'
import { json, plain } from './replies.js'
import { type Guest, HOST_PREFIX, type Session } from './sessions.js'

const PREFIX = '/api/oidc'
const COOKIE = 'countersign_oidc'
/** As the query of the way to the provider: the operator has to show there again who they are. */
const FRESH = 'fresh'
/** In which the operator signs in at the provider. */
const PATIENCE_SECONDS = 600
const PROVIDER_TIMEOUT_SECONDS = 10

export class OidcSignIn {
  private provider: Promise<Configuration> | null = null

  constructor(private readonly services: DashboardServices) {}

  static handles(path: string): boolean {
    return path === PREFIX || path.startsWith(`${PREFIX}/`)
  }

  /** @throws DomainError unknown_endpoint */
  async handle(request: IncomingRequest, guest: Guest): Promise<Reply> {
    const isEnabled = this.services.config.oidcIssuer !== undefined
    const route = `${request.method} ${request.path.slice(PREFIX.length)}`
    if (route === 'GET ')
      return json({
        enabled: isEnabled,
        password: this.takesPasswords,
        // The pages ask for the session only where there is one: a refusal would stand in the browser's console as an error.
        signed_in: await this.services.sessions.find(request).then(
          () => true,
          () => false,
        ),
      })
    if (isEnabled && route === 'GET /login')
      return this.orSignInPage(guest, () => this.begin(request.query === FRESH))
    if (isEnabled && route === 'GET /callback')
      return this.orSignInPage(guest, () => this.finish(request, guest))
    throw new DomainError('unknown_endpoint', { message: 'There is no such address.' })
  }

  /** It is a browser that comes here, without a page of ours that could show a refusal: one is shown on the sign-in page. */
  private async orSignInPage(guest: Guest, step: () => Promise<Reply>): Promise<Reply> {
    try {
      return await step()
    } catch (error) {
      const { log, core, countRefusal } = this.services
      const isRefused = error instanceof ProviderSignInError
      const err = isRefused ? await auditRefusedSignIn(error, core, guest.requestId) : error
      const problem = problemOf(err)
      countRefusal(err instanceof ProviderSignInError ? 'sign_in_failed' : problem)
      const entry = { request_id: guest.requestId, address: guest.address, problem, err }
      if (problem === 'internal_error') log.error(entry, 'the dashboard failed')
      else log.warn(entry, 'a sign-in by the provider failed')
      return redirect(`/#/${PROVIDER_SIGN_IN}/${problem}/${guest.requestId}`)
    }
  }

  private async begin(isFresh: boolean): Promise<Reply> {
    const client = await import('openid-client')
    const provider = await this.discovered()
    const verifier = client.randomPKCECodeVerifier()
    const [state, nonce] = [client.randomState(), client.randomNonce()]
    const url = client.buildAuthorizationUrl(provider, {
      redirect_uri: this.callbackUrl(),
      scope: this.services.config.oidcScope,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
      // OpenID Connect Core 1.0, 3.1.2.1: both ask for it, and the second has the provider say when it was.
      ...(isFresh ? { prompt: 'login', max_age: '0' } : {}),
    })
    const kept = `${state}.${nonce}.${verifier}${isFresh ? `.${FRESH}` : ''}`
    return redirect(url.href, this.cookie(kept, PATIENCE_SECONDS))
  }

  private async finish(request: IncomingRequest, guest: Guest): Promise<Reply> {
    const { sessions } = this.services
    // First: what is made up has the provider asked, with our secret.
    await sessions.assertNotGuessing(guest)
    return redirect('/', sessions.cookie(await this.signedIn(request, guest)))
  }

  private async signedIn(request: IncomingRequest, guest: Guest): Promise<Session> {
    const kept = new RegExp(
      `(?:^|;\\s*)${this.cookieName}=([\\w-]+)\\.([\\w-]+)\\.([\\w-]+)(?:\\.(${FRESH}))?(?:;|$)`,
    )
    const [, state, nonce, verifier, fresh] = kept.exec(request.headers.cookie ?? '') ?? []
    // Whoever brings another browser's answer here has no such cookie.
    if (!state || !nonce || !verifier)
      throw new ProviderSignInError('not_begun_here', 'This sign-in was not begun here, or too long ago.')
    const { config, sessions } = this.services
    const client = await import('openid-client')
    const provider = await this.discovered()
    let name: unknown
    let groups: unknown
    let authenticatedAt: number | null
    try {
      const tokens = await client.authorizationCodeGrant(
        provider,
        new URL(`${this.callbackUrl()}?${request.query}`),
        { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true },
      )
      const claims = tokens.claims()!
      // Not said is not verified: where people write their address themselves, they would write an operator's. Some say it as text.
      const isDoubtful = config.oidcClaim === 'email' && String(claims.email_verified) !== 'true'
      name = isDoubtful ? null : claims[config.oidcClaim]
      groups = claims[config.oidcGroupsClaim]
      authenticatedAt = this.authenticatedAt(claims.auth_time)
    } catch (cause) {
      // The provider's own words may be anybody's: they are for the log.
      if (cause instanceof client.AuthorizationResponseError)
        throw new ProviderSignInError('provider_refused', 'The provider refused the sign-in.', { cause })
      throw new ProviderSignInError('invalid_answer', "The provider's answer is not valid.", { cause })
    }
    if (typeof name !== 'string')
      throw new ProviderSignInError(
        'nameless',
        `The provider vouches for no ${config.oidcClaim}, by which people are known here.`,
      )
    const { clock } = this.services
    const freshMs = config.dashboardFreshMinutes * MINUTE_MS
    if (fresh && (authenticatedAt === null || clock.now() - authenticatedAt >= freshMs))
      throw new ProviderSignInError('not_fresh', 'The provider does not say that the sign-in was just now.')
    await this.followGroups(name, groups, guest)
    return sessions.signInNamed(name, authenticatedAt, guest)
  }

  /**
   * Gives a person who is no operator the tenant and the role of the provider's groups. Operators are known by name only: no group
   * makes one, and none changes one.
   * @throws ProviderSignInError unknown_person, tenant_suspended
   */
  private async followGroups(name: string, claimed: unknown, { requestId }: Guest): Promise<void> {
    const { config, core } = this.services
    const known = await core.store.read.personByName(name)
    if (known?.tenantId === null) return
    const groups: unknown[] = Array.isArray(claimed) ? claimed : [claimed]
    const mapped = config.oidcTenantGroups.find(({ group }) => groups.includes(group))
    if (!mapped) {
      if (known?.origin === 'provider')
        throw new ProviderSignInError('unknown_person', `No group lets ${name} in any more.`)
      return
    }
    const tenant = await core.store.read.tenantByName(mapped.tenant)
    if (!tenant || (known && known.tenantId !== tenant.id))
      throw new ProviderSignInError(
        'unknown_person',
        tenant
          ? `The group ${mapped.group} is of the tenant ${mapped.tenant}, and ${name} belongs to another one.`
          : `There is no tenant ${mapped.tenant}, as COUNTERSIGN_OIDC_TENANT_GROUPS has it.`,
      )
    if (known?.role === mapped.role) return
    const people = core.operations.peopleOf(tenant.id)
    try {
      await people.fromProvider(name, mapped.role, { name: 'dashboard', requestId })
    } catch (error) {
      if (error instanceof PersonError) throw new ProviderSignInError('unknown_person', error.message)
      throw error
    }
  }

  private get takesPasswords(): boolean {
    const { sessions } = this.services
    return sessions.takesPassword({ tenantId: null }) || sessions.takesPassword({ tenantId: '' })
  }

  /** A clock of the provider that runs ahead makes no sign-in fresher than now. @returns null where it does not say */
  private authenticatedAt(authTime: unknown): number | null {
    if (typeof authTime !== 'number') return null
    return Math.min(authTime * SECOND_MS, this.services.clock.now())
  }

  /** Asked for once it is needed: the service starts without its provider, and asks again after a failure. */
  private async discovered(): Promise<Configuration> {
    this.provider ??= this.discover()
    try {
      return await this.provider
    } catch (cause) {
      this.provider = null
      throw new ProviderSignInError('provider_unreachable', 'The provider cannot be reached.', { cause })
    }
  }

  private async discover(): Promise<Configuration> {
    const { oidcIssuer, oidcClientId, oidcClientSecretFile } = this.services.config
    const client = await import('openid-client')
    const issuer = new URL(oidcIssuer!)
    const secret = oidcClientSecretFile && readFileSync(oidcClientSecretFile, 'utf8').trim()
    const isLocal =
      issuer.protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(issuer.hostname)
    return client.discovery(
      issuer,
      oidcClientId!,
      undefined,
      secret ? client.ClientSecretPost(secret) : client.None(),
      // Tokens travel in the clear to nobody but this machine itself.
      { timeout: PROVIDER_TIMEOUT_SECONDS, execute: isLocal ? [client.allowInsecureRequests] : [] },
    )
  }

  /** Of the dashboard, without a slash at its end. */
  private get adminUrl(): string {
    return this.services.urls().admin
  }

  private callbackUrl(): string {
    return `${this.adminUrl}${PREFIX}/callback`
  }

  private get isSecure(): boolean {
    return this.adminUrl.startsWith('https:')
  }

  private get cookieName(): string {
    return this.isSecure ? HOST_PREFIX + COOKIE : COOKIE
  }

  /** Lax: the way back from the provider begins at another site. */
  private cookie(value: string, maxAgeSeconds: number): string {
    const [path, secure] = this.isSecure ? ['/', '; Secure'] : [PREFIX, '']
    return `${this.cookieName}=${value}; Path=${path}; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${secure}`
  }
}

function problemOf(error: unknown): ProviderProblem {
  if (error instanceof TenancyError && error.code === 'tenant_suspended') return error.code
  if (error instanceof ProviderSignInError) return error.code
  return error instanceof DomainError && error.code === 'rate_limited' ? 'rate_limited' : 'internal_error'
}

function redirect(location: string, cookie?: string): Reply {
  return plain(302, '', { Location: location, ...(cookie ? { 'Set-Cookie': cookie } : {}) })
}
