/** Signs in operators and tenants' people by an OpenID provider: authorization code flow with PKCE (RFC 7636), through openid-client. */
import { readFileSync } from 'node:fs'
import type { Configuration } from 'openid-client'
import { accountsIn } from '../../admin/accounts/account-statements.js'
import { PersonError } from '../../admin/people-operations.js'
import { json, plain } from '../../http/admin/replies.js'
import type { IncomingRequest, Reply } from '../../http/listeners/listener.js'
import { MINUTE_MS, SECOND_MS } from '../../lib/clock.js'
import { DomainError } from '../../lib/domain-error.js'
import { TenancyError } from '../../tenants/tenancy-error.js'
import { PROVIDER_SIGN_IN, type ProviderProblem } from '../constants.js'
import { DashboardError } from '../dashboard-error.js'
import type { DashboardServices } from '../dashboard-services.js'
import { ProviderSignInError } from './provider-sign-in-error.js'
import { type Guest, HOST_PREFIX, type Session } from './sessions.js'

const PREFIX = '/api/oidc'
const COOKIE = 'countersign_oidc'
/** Query of the address that leads to the provider when the person must confirm their identity there. */
const FRESH = 'fresh'
/** Time in which the person must have signed in at the provider. */
const SIGN_IN_SECONDS = 600
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
        // Pages first ask whether there is a session: a refused request for it would appear in the browser's console as an error.
        signed_in: await this.services.sessions.find(request).then(
          () => true,
          () => false,
        ),
      })
    if (isEnabled && route === 'GET /login')
      return this.showingRefusal(guest, () => this.begin(request.query === FRESH))
    if (isEnabled && route === 'GET /callback')
      return this.showingRefusal(guest, () => this.finish(request, guest))
    throw new DomainError('unknown_endpoint', { message: 'There is no such address.' })
  }

  /** Shows a refusal on the sign-in page, since a browser comes here without a page of ours that could show it. */
  private async showingRefusal(guest: Guest, step: () => Promise<Reply>): Promise<Reply> {
    try {
      return await step()
    } catch (error) {
      const { log, core, countRefusal } = this.services
      const isRefused = error instanceof ProviderSignInError
      const err = isRefused ? await core.operations.signIns.refused(error, guest.requestId) : error
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
      // Both ask for a new sign-in (OpenID Connect Core 1.0, 3.1.2.1). `max_age` also makes the provider report its time.
      ...(isFresh ? { prompt: 'login', max_age: '0' } : {}),
    })
    const kept = `${state}.${nonce}.${verifier}${isFresh ? `.${FRESH}` : ''}`
    return redirect(url.href, this.cookie(kept, SIGN_IN_SECONDS))
  }

  private async finish(request: IncomingRequest, guest: Guest): Promise<Reply> {
    const { sessions, signIn } = this.services
    // The rate limit comes first: each made-up code would cost a request to the provider with our secret.
    await signIn.assertNotGuessing(guest)
    return redirect('/', sessions.cookie(await this.signedIn(request, guest)))
  }

  private async signedIn(request: IncomingRequest, guest: Guest): Promise<Session> {
    const kept = new RegExp(
      `(?:^|;\\s*)${this.cookieName}=([\\w-]+)\\.([\\w-]+)\\.([\\w-]+)(?:\\.(${FRESH}))?(?:;|$)`,
    )
    const [, state, nonce, verifier, fresh] = kept.exec(request.headers.cookie ?? '') ?? []
    // A browser that brings the answer meant for another one does not have this cookie.
    if (!state || !nonce || !verifier)
      throw new ProviderSignInError('not_begun_here', 'This sign-in was not begun here, or too long ago.')
    const { config } = this.services
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
      // An absent claim means not verified: a person could enter an operator's address as their own. Some providers send it as text.
      const isDoubtful = config.oidcClaim === 'email' && String(claims.email_verified) !== 'true'
      name = isDoubtful ? null : claims[config.oidcClaim]
      groups = claims[config.oidcGroupsClaim]
      authenticatedAt = this.authenticatedAt(claims.auth_time)
    } catch (cause) {
      // The provider's message goes only to the log, since anyone may have written it.
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
    return this.services.signIn.byProvider(name, authenticatedAt, guest)
  }

  /**
   * Gives a person who is no operator the tenant and the role of their groups at the provider. No group makes or changes an operator.
   * @throws ProviderSignInError unknown_person, tenant_suspended
   */
  private async followGroups(name: string, claimed: unknown, { requestId }: Guest): Promise<void> {
    const { config, core } = this.services
    const known = await accountsIn(core.store.read).personByName(name)
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

  /** Limits the provider's time to the present, in case its clock runs ahead. @returns null when the provider does not report the time */
  private authenticatedAt(authTime: unknown): number | null {
    if (typeof authTime !== 'number') return null
    return Math.min(authTime * SECOND_MS, this.services.clock.now())
  }

  /**
   * Asks the provider for its configuration on the first use, and again after a failure, so that the service starts without the provider.
   */
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
      // Tokens may travel unencrypted only within this machine.
      { timeout: PROVIDER_TIMEOUT_SECONDS, execute: isLocal ? [client.allowInsecureRequests] : [] },
    )
  }

  /** The address of the dashboard, without a final slash. */
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

  /** `SameSite=Lax`, since the way back from the provider begins at another site. */
  private cookie(value: string, maxAgeSeconds: number): string {
    const [path, secure] = this.isSecure ? ['/', '; Secure'] : [PREFIX, '']
    return `${this.cookieName}=${value}; Path=${path}; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${secure}`
  }
}

function problemOf(error: unknown): ProviderProblem {
  if (error instanceof TenancyError && error.code === 'tenant_suspended') return error.code
  if (error instanceof ProviderSignInError) return error.code
  return error instanceof DashboardError && error.code === 'too_many_sign_ins' ? error.code : 'internal_error'
}

function redirect(location: string, cookie?: string): Reply {
  return plain(302, '', { Location: location, ...(cookie ? { 'Set-Cookie': cookie } : {}) })
}
