/**
 * The listener of the OpenID provider. `oidc-provider` is an application of node:http, and the listener has bounds, TLS and two transports
 * of its own: `light-my-request` hands each request over to the application in memory.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { inject } from 'light-my-request'
import type Provider from 'oidc-provider'
import type { Logger } from 'pino'
import { errorHeaders, statusOf } from '../../api/error-response.js'
import type { Environment } from '../../config/config.js'
import { largeHeadPage } from '../../http/listeners/large-head-page.js'
import type { IncomingRequest, Reply } from '../../http/listeners/listener.js'
import type { VisitorLimit } from '../../http/listeners/visitor-limit.js'
import { toDomainError } from '../../http/to-domain-error.js'
import { EntraKeys } from './entra/entra-keys.js'
import { EntraMethod } from './entra/entra-method.js'
import { AuthenticationChannel, type AuthenticationChannelParts } from './keycloak/authentication-channel.js'
import { libraryRefusals } from './library-refusals.js'
import type { OpenIdKeys } from './openid-keys.js'
import { createOpenIdProvider } from './openid-provider.js'
import { elsewherePage, refusedPage } from './refused-page.js'
import { refusedHere, seeOther } from './replies.js'
import { type Interaction, SignIn, type Step } from './sign-in.js'
import { SignedRequests } from './signed-requests.js'

interface OpenIdServerParts extends AuthenticationChannelParts {
  openIdKeys: OpenIdKeys
  /** Public origin of the listener. */
  origin: () => string
  visitors: VisitorLimit
  log: Logger
}

/** Time for the body of a request: forms are small. */
const BODY_MS = 10_000
const MAX_BODY_BYTES = 65_536
const INTERACTION = /^\/interaction\/([\w-]{1,64})(\/done)?$/
/** Where a sign-in goes on after the person's part. */
const RESUMED = /^\/auth\/([\w-]{1,64})$/
const SANDBOX_PATH = '/sandbox'
/** The issuer for Entra ID lies below that of its environment. */
const ENTRA_PATH = '/entra'
const AUTHORIZATION_PATH = '/auth'
/** Paths that succeed only with the credentials of an application. */
const WITH_CREDENTIALS = /^(?:\/sandbox)?\/(?:request|token|me|keycloak\/oic_[0-9a-f]{32})$/

interface Issuer {
  environment: Environment
  /** Ids of the keys, the one that signs first. */
  kids: string
  provider: Provider
  /** Requests that the library has refused. */
  refused: ReturnType<typeof libraryRefusals>
  signedRequests: SignedRequests
  signIn: SignIn
  entra: EntraMethod
}

export class OpenIdServer {
  private readonly issuers = new Map<Environment, Issuer>()
  private readonly entraKeys: EntraKeys

  private readonly channels: Record<Environment, AuthenticationChannel>

  constructor(private readonly parts: OpenIdServerParts) {
    const channel = (environment: Environment) =>
      new AuthenticationChannel(parts, environment, () => this.issuerUrl(environment))
    this.channels = { production: channel('production'), sandbox: channel('sandbox') }
    this.entraKeys = new EntraKeys(parts.clock)
  }

  /** Answers a request. Never rejects. */
  async handle(request: IncomingRequest): Promise<Reply> {
    const page = largeHeadPage(request)
    if (page) return page
    try {
      if (request.malformed) throw request.malformed
      const takeBack = await this.parts.visitors.take(request)
      const answer = await this.answer(request)
      const isVouchedFor = request.method !== 'OPTIONS' && WITH_CREDENTIALS.test(request.path)
      if (isVouchedFor && answer.status < 300) takeBack()
      return answer
    } catch (error) {
      const refusal = toDomainError(error)
      const status = statusOf(refusal)
      if (status >= 500) this.parts.log.error({ err: refusal.cause ?? refusal }, 'the OpenID provider failed')
      const answer = refusedHere(status, refusal.code, refusal.message, errorHeaders(refusal))
      return { ...answer, close: refusal.code === 'body_too_large' }
    }
  }

  private async answer(request: IncomingRequest): Promise<Reply> {
    const isSandbox = request.path === SANDBOX_PATH || request.path.startsWith(`${SANDBOX_PATH}/`)
    const path = isSandbox ? request.path.slice(SANDBOX_PATH.length) : request.path
    const environment = isSandbox ? 'sandbox' : 'production'
    if (AuthenticationChannel.handles(path)) return this.channels[environment].handle(request, path)
    const issuer = await this.issuer(environment)
    const { provider, signIn } = issuer
    const body = await request.body(performance.now() + BODY_MS, MAX_BODY_BYTES)
    if (path.startsWith(`${ENTRA_PATH}/`))
      return issuer.entra.handle(request, path.slice(ENTRA_PATH.length), body)
    // The provider must take a request by GET and by POST (OpenID Connect Core, section 3.1.2.1). The library would want cookies for POST
    // that every site may send along. A pushed request is short enough for an address.
    if (path === AUTHORIZATION_PATH && request.method === 'POST')
      return seeOther(`${request.path}?${new URLSearchParams(body.toString())}`)
    const again = path === AUTHORIZATION_PATH && (await this.usedBefore(issuer, request.query))
    if (again) return again
    const [, uid, done] = INTERACTION.exec(path) ?? []
    const query = request.query === '' ? '' : `?${request.query}`
    const application = provider.callback()
    const interact = async (message: IncomingMessage, response: ServerResponse): Promise<Reply> => {
      const interaction = (await provider.interactionDetails(message, response)) as unknown as Interaction
      const step: Step = done
        ? await signIn.finish(interaction, request, request.query)
        : await signIn.begin(interaction, request)
      const { ui_locales: asked } = interaction.params
      const languages = `${asked ?? ''} ${request.headers['accept-language'] ?? ''}`
      if ('isElsewhere' in step) return elsewherePage(languages)
      if ('redirect' in step) return seeOther(step.redirect)
      const location = await provider.interactionResult(message, response, step.result as never, {
        mergeWithLastSubmission: false,
      })
      const helpUrl = 'helpUrl' in step ? step.helpUrl : undefined
      return helpUrl === undefined ? seeOther(location) : refusedPage(languages, helpUrl, location)
    }
    let failure: unknown
    let asked: IncomingMessage | undefined
    const dispatch = (message: IncomingMessage, response: ServerResponse) => {
      asked = message
      // The provider reads from it the path under which it is mounted.
      Object.assign(message, { originalUrl: request.path + query })
      if (uid === undefined) return void application(message, response)
      interact(message, response)
        .then(({ status, headers, body }) => response.writeHead(status, headers).end(body))
        .catch((error) => {
          failure = error
          response.writeHead(500).end()
        })
    }
    const origin = new URL(this.parts.origin())
    const answer = await inject(dispatch as never, {
      method: request.method as 'GET',
      url: `${path === '' ? '/' : path}${query}`,
      headers: {
        ...(request.headers as Record<string, string>),
        cookie: withoutSession(request.headers.cookie ?? '', provider),
        host: origin.host,
        'x-forwarded-host': origin.host,
        'x-forwarded-proto': origin.protocol.slice(0, -1),
      },
      remoteAddress: request.remoteAddress,
      ...(body.length > 0 ? { payload: body } : {}),
    })
    if (failure) return this.refused(failure, issuer, uid!)
    await this.record(issuer, asked!, path)
    const headers: Record<string, string> = {}
    for (const [name, value] of Object.entries(answer.headers))
      if (name !== 'set-cookie' && !HOP_BY_HOP.includes(name)) headers[name] = String(value)
    return {
      status: answer.statusCode,
      headers,
      cookies: [answer.headers['set-cookie'] ?? []]
        .flat()
        .filter((line) => !line.startsWith(provider.cookieName('session'))),
      body: answer.rawPayload,
    }
  }

  /**
   * Leads a signed request that was used before to its interaction: a second tab of the browser that began goes on there, and no other
   * browser does.
   */
  private async usedBefore({ environment, signedRequests }: Issuer, query: string): Promise<Reply | null> {
    const signed = new URLSearchParams(query).get('request')
    const uid = signed && (await signedRequests.interactionOf(signed))
    return uid ? seeOther(`${this.issuerUrl(environment)}/interaction/${uid}`) : null
  }

  /** Records that the library has refused a request. */
  private async record(
    { environment, provider, refused }: Issuer,
    message: IncomingMessage,
    path: string,
  ): Promise<void> {
    const refusal = refused.get(message)
    if (!refusal) return
    const [, uid] = RESUMED.exec(path) ?? []
    if (uid === undefined || refusal.clientId !== undefined)
      return this.parts.refusals.record({ environment, ...refusal })
    await this.recordElsewhere(environment, provider, uid)
  }

  private async recordElsewhere(environment: Environment, provider: Provider, uid: string): Promise<void> {
    const interaction = await provider.Interaction.find(uid)
    const clientId = interaction?.params.client_id as string | undefined
    const code = interaction ? 'opened_elsewhere' : 'interaction_over'
    await this.parts.refusals.record({ environment, code, clientId })
  }

  /** An interaction that this browser has not begun, or that is over. */
  private async refused(error: unknown, { environment, provider }: Issuer, uid: string): Promise<Reply> {
    const { error: code, statusCode } = error as { error?: string; statusCode?: number }
    if (statusCode === undefined || statusCode >= 500) throw error
    await this.recordElsewhere(environment, provider, uid)
    const text =
      'This page was opened in another browser, or its time is over. Begin again at the site that sent you here.'
    return refusedHere(statusCode, code!, text)
  }

  private issuerUrl(environment: Environment): string {
    return this.parts.origin() + (environment === 'sandbox' ? SANDBOX_PATH : '')
  }

  /** Makes the provider again when its keys have changed, or when the next one begins to sign. It keeps no state in memory. */
  private async issuer(environment: Environment): Promise<Issuer> {
    const jwks = await this.parts.openIdKeys.of(environment)
    const kids = jwks.map(({ kid }) => kid).join(' ')
    const known = this.issuers.get(environment)
    if (known?.kids === kids) return known
    const url = this.issuerUrl(environment)
    const provider = createOpenIdProvider(this.parts, environment, url, jwks)
    const issuer = {
      environment,
      kids,
      provider,
      refused: libraryRefusals(provider),
      signedRequests: new SignedRequests(this.parts, environment),
      signIn: new SignIn(this.parts, environment, url),
      entra: new EntraMethod({ ...this.parts, entraKeys: this.entraKeys }, environment, url),
    }
    this.issuers.set(environment, issuer)
    return issuer
  }
}

/** Headers about the connection, which the listener writes. */
const HOP_BY_HOP = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding']

/**
 * The browser's cookies without the library's session. There are no sessions: one that another sign-in has left would stop the library
 * where two tabs of a browser confirm two persons.
 */
function withoutSession(cookies: string, provider: Provider): string {
  const name = provider.cookieName('session')
  const kept = cookies.split(/; */).filter((pair) => !pair.startsWith(name))
  return kept.join('; ')
}
