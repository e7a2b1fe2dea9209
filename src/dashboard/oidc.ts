/** Sign-in of named operators by an OpenID provider: authorization code flow with PKCE (RFC 7636), by openid-client. */
import { readFileSync } from 'node:fs'
import type { Configuration } from 'openid-client'
import { ApiError } from '../api-error.js'
import type { Config } from '../config.js'
import type { IncomingRequest, Reply } from '../server/listener.js'
import { DashboardError } from './dashboard-error.js'
import { json, plain } from './replies.js'
import { type Guest, HOST_PREFIX, type Session, type Sessions } from './sessions.js'

const PREFIX = '/api/oidc'
const COOKIE = 'countersign_oidc'
/** In which the operator signs in at the provider. */
const PATIENCE_SECONDS = 600
const PROVIDER_TIMEOUT_SECONDS = 10

type OidcConfig = Pick<Config, 'oidcIssuer' | 'oidcClientId' | 'oidcClientSecretFile' | 'oidcClaim'>

export class OidcSignIn {
  private provider: Promise<Configuration> | null = null

  constructor(
    private readonly config: OidcConfig,
    private readonly sessions: Sessions,
    /** Of the dashboard, without a slash at its end. */
    private readonly adminUrl: () => string,
  ) {}

  static handles(path: string): boolean {
    return path === PREFIX || path.startsWith(`${PREFIX}/`)
  }

  /** @throws DashboardError sign_in_failed; ApiError unknown_endpoint, rate_limited */
  async handle(request: IncomingRequest, guest: Guest): Promise<Reply> {
    const isEnabled = this.config.oidcIssuer !== undefined
    const route = `${request.method} ${request.path.slice(PREFIX.length)}`
    if (route === 'GET ') return json({ enabled: isEnabled })
    if (isEnabled && route === 'GET /login') return this.begin()
    if (isEnabled && route === 'GET /callback') return this.finish(request, guest)
    throw new ApiError('unknown_endpoint', { message: 'There is no such address.' })
  }

  private async begin(): Promise<Reply> {
    const client = await import('openid-client')
    const provider = await this.discovered()
    const verifier = client.randomPKCECodeVerifier()
    const [state, nonce] = [client.randomState(), client.randomNonce()]
    const url = client.buildAuthorizationUrl(provider, {
      redirect_uri: this.callbackUrl(),
      scope: 'openid profile email',
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    })
    return redirect(url.href, this.cookie(`${state}.${nonce}.${verifier}`, PATIENCE_SECONDS))
  }

  private async finish(request: IncomingRequest, guest: Guest): Promise<Reply> {
    // First: what is made up has the provider asked, with our secret.
    this.sessions.assertNotGuessing(guest)
    const session = await this.signedIn(request, guest)
    return redirect('/', this.sessions.cookie(session))
  }

  private async signedIn(request: IncomingRequest, guest: Guest): Promise<Session> {
    const kept = new RegExp(`(?:^|;\\s*)${this.cookieName}=([\\w-]+)\\.([\\w-]+)\\.([\\w-]+)(?:;|$)`)
    const [, state, nonce, verifier] = kept.exec(request.headers.cookie ?? '') ?? []
    // Whoever brings another browser's answer here has no such cookie.
    if (!state || !nonce || !verifier)
      throw new DashboardError('sign_in_failed', 'This sign-in was not begun here, or too long ago.')
    const client = await import('openid-client')
    const provider = await this.discovered()
    let name: unknown
    try {
      const tokens = await client.authorizationCodeGrant(
        provider,
        new URL(`${this.callbackUrl()}?${request.query}`),
        { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true },
      )
      const claims = tokens.claims()!
      // Not said is not verified: where people write their address themselves, they would write an operator's. Some say it as text.
      const isDoubtful = this.config.oidcClaim === 'email' && String(claims.email_verified) !== 'true'
      name = isDoubtful ? null : claims[this.config.oidcClaim]
    } catch (cause) {
      throw new DashboardError(
        'sign_in_failed',
        `The provider's answer is not valid: ${(cause as Error).message}.`,
      )
    }
    if (typeof name !== 'string')
      throw new DashboardError(
        'sign_in_failed',
        `The provider vouches for no ${this.config.oidcClaim}, by which operators are known here.`,
      )
    return this.sessions.signInNamed(name, guest)
  }

  /** Asked for once it is needed: the service starts without its provider, and asks again after a failure. */
  private async discovered(): Promise<Configuration> {
    this.provider ??= this.discover()
    try {
      return await this.provider
    } catch (cause) {
      this.provider = null
      throw new DashboardError(
        'sign_in_failed',
        `The provider cannot be reached: ${(cause as Error).message}.`,
      )
    }
  }

  private async discover(): Promise<Configuration> {
    const { oidcIssuer, oidcClientId, oidcClientSecretFile } = this.config
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

  private callbackUrl(): string {
    return `${this.adminUrl()}${PREFIX}/callback`
  }

  private get isSecure(): boolean {
    return this.adminUrl().startsWith('https:')
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

function redirect(location: string, cookie: string): Reply {
  return plain(302, '', { Location: location, 'Set-Cookie': cookie })
}
