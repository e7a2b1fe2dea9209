/**
 * The listener of the OpenID provider. `oidc-provider` is an application of node:http, and the listener has bounds, TLS and two transports
 * of its own: `light-my-request` hands each request over to the application in memory.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { inject } from 'light-my-request'
import type Provider from 'oidc-provider'
import type { Logger } from 'pino'
import { statusOf } from '../api/error-response.js'
import type { Environment } from '../config/config.js'
import type { IncomingRequest, Reply } from '../http/listeners/listener.js'
import { toDomainError } from '../http/to-domain-error.js'
import type { OpenIdKeys } from '../keys/openid-keys.js'
import { createOpenIdProvider } from './openid-provider.js'
import { type Interaction, SignIn, type SignInParts, type Step } from './sign-in.js'

export interface OpenIdServerParts extends SignInParts {
  openIdKeys: OpenIdKeys
  /** Public origin of the listener. */
  origin: () => string
  log: Logger
}

/** Time for the body of a request: forms are small. */
const BODY_MS = 10_000
const MAX_BODY_BYTES = 65_536
const INTERACTION = /^\/interaction\/([\w-]{1,64})(\/done)?$/
const SANDBOX_PATH = '/sandbox'

interface Issuer {
  provider: Provider
  signIn: SignIn
}

export class OpenIdServer {
  private readonly issuers = new Map<Environment, Promise<Issuer>>()

  constructor(private readonly parts: OpenIdServerParts) {}

  /** Answers a request. Never rejects. */
  async handle(request: IncomingRequest): Promise<Reply> {
    try {
      if (request.malformed) throw request.malformed
      return await this.answer(request)
    } catch (error) {
      const refusal = toDomainError(error)
      const status = statusOf(refusal)
      if (status >= 500) this.parts.log.error({ err: refusal.cause ?? refusal }, 'the OpenID provider failed')
      return {
        status,
        headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' },
        body: `${refusal.code}: ${refusal.message}\n`,
        close: refusal.code === 'body_too_large',
      }
    }
  }

  private async answer(request: IncomingRequest): Promise<Reply> {
    const isSandbox = request.path === SANDBOX_PATH || request.path.startsWith(`${SANDBOX_PATH}/`)
    const path = isSandbox ? request.path.slice(SANDBOX_PATH.length) : request.path
    const { provider, signIn } = await this.issuer(isSandbox ? 'sandbox' : 'production')
    const body = await request.body(performance.now() + BODY_MS, MAX_BODY_BYTES)
    const [, uid, done] = INTERACTION.exec(path) ?? []
    const application = provider.callback()
    const interact = async (message: IncomingMessage, response: ServerResponse) => {
      const interaction = (await provider.interactionDetails(message, response)) as unknown as Interaction
      const step: Step = done
        ? await signIn.finish(interaction, request)
        : await signIn.begin(interaction, request)
      const location =
        'redirect' in step
          ? step.redirect
          : await provider.interactionResult(message, response, step.result as never, {
              mergeWithLastSubmission: false,
            })
      response.writeHead(303, { Location: location, 'Cache-Control': 'no-store' }).end()
    }
    let failure: unknown
    const dispatch = (message: IncomingMessage, response: ServerResponse) => {
      // The provider reads from it the path under which it is mounted.
      Object.assign(message, {
        originalUrl: `${request.path}${request.query === '' ? '' : `?${request.query}`}`,
      })
      if (uid === undefined) return void application(message, response)
      interact(message, response).catch((error) => {
        failure = error
        response.writeHead(500).end()
      })
    }
    const origin = new URL(this.parts.origin())
    const answer = await inject(dispatch as never, {
      method: request.method as 'GET',
      url: `${path === '' ? '/' : path}${request.query === '' ? '' : `?${request.query}`}`,
      headers: {
        ...(request.headers as Record<string, string>),
        host: origin.host,
        'x-forwarded-host': origin.host,
        'x-forwarded-proto': origin.protocol.slice(0, -1),
      },
      remoteAddress: request.remoteAddress,
      ...(body.length > 0 ? { payload: body } : {}),
    })
    if (failure) return this.refused(failure)
    const headers: Record<string, string> = {}
    for (const [name, value] of Object.entries(answer.headers))
      if (name !== 'set-cookie' && !HOP_BY_HOP.includes(name)) headers[name] = String(value)
    return {
      status: answer.statusCode,
      headers,
      cookies: [answer.headers['set-cookie'] ?? []].flat(),
      body: answer.rawPayload,
    }
  }

  /** An interaction that this browser has not begun, or that is over. */
  private refused(error: unknown): Reply {
    const { error: code, statusCode } = error as { error?: string; statusCode?: number }
    if (statusCode === undefined || statusCode >= 500) throw error
    return {
      status: statusCode,
      headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' },
      body: `${code}: This page was opened in another browser, or its time is over. Begin again at the site that sent you here.\n`,
    }
  }

  private issuer(environment: Environment): Promise<Issuer> {
    let issuer = this.issuers.get(environment)
    if (!issuer) {
      issuer = this.makeIssuer(environment)
      this.issuers.set(environment, issuer)
      // A failure, as of the database, is not kept.
      issuer.catch(() => this.issuers.delete(environment))
    }
    return issuer
  }

  private async makeIssuer(environment: Environment): Promise<Issuer> {
    const url = this.parts.origin() + (environment === 'sandbox' ? SANDBOX_PATH : '')
    const jwks = await this.parts.openIdKeys.of(environment)
    return {
      provider: createOpenIdProvider(this.parts, environment, url, jwks),
      signIn: new SignIn(this.parts, environment, url),
    }
  }
}

/** Headers about the connection, which the listener writes. */
const HOP_BY_HOP = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding']
