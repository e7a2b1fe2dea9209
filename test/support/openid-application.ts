/** An application at the OpenID provider that can also do everything wrong: it speaks the protocol by `fetch`, without a library. */
import { createHash, randomBytes } from 'node:crypto'
import { SignJWT } from 'jose'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import type { Environment } from '../../src/config/config.js'
import {
  type NewOpenIdClient,
  type OpenIdClient,
  OpenIdClients,
} from '../../src/features/openid/openid-clients.js'
import { OpenIdBrowser } from './openid-browser.js'
import type { TestService, TestTenant } from './service.js'

export const REDIRECT = 'https://app.bank.example/callback'

type Fields = Record<string, string | undefined>

export interface Answer {
  status: number
  body: Record<string, unknown>
}

/** The applications, as the dashboard and commands have them. */
export const openIdClients = ({ service, clock }: TestService) =>
  new OpenIdClients({ ...service.core, clock })

/** @template Proof how it proves itself, where that is not by its own secret */
export class OpenIdApplication<Proof extends object | null = Fields> {
  readonly verifier = randomBytes(32).toString('base64url')

  constructor(
    readonly issuer: string,
    readonly client: OpenIdClient,
  ) {}

  static async register(
    running: TestService,
    tenant: Pick<TestTenant, 'id'>,
    settings: Partial<NewOpenIdClient> & { environment?: Environment } = {},
  ): Promise<OpenIdApplication> {
    const path = settings.environment === 'production' ? '' : '/sandbox'
    const issuer = `${running.service.origin('openid')}${path}`
    return new OpenIdApplication(issuer, await OpenIdApplication.add(running, tenant, settings))
  }

  /** The registration itself, for whom another program is the application. */
  static async add(
    running: TestService,
    { id }: Pick<TestTenant, 'id'>,
    { environment = 'sandbox', ...settings }: Partial<NewOpenIdClient> & { environment?: Environment } = {},
  ): Promise<OpenIdClient> {
    const tenant = await running.service.core.tenancy.find(id)
    return openIdClients(running).add(tenant, COMMAND_LINE, environment, {
      name: `portal-${randomBytes(4).toString('hex')}`,
      redirectUris: [REDIRECT],
      acr: 'urn:countersign:acr:face-active',
      jwks: null,
      ...settings,
    })
  }

  /** A browser that has not been at the provider. */
  newBrowser(): OpenIdBrowser {
    return new OpenIdBrowser(new URL(this.issuer).origin)
  }

  /** Goes from a right request over the capture page and back. @returns the address of the application */
  async signIn(loginHint: string, more: Fields = {}, browser = this.newBrowser()): Promise<URL> {
    return browser.signIn(await this.ask(loginHint, more))
  }

  /** Pushes a request. @param more parameters in addition to those of a right request; undefined leaves one out */
  push(more: Fields = {}, proof?: Proof): Promise<Answer> {
    return this.post('/request', { ...this.request(), ...more }, proof)
  }

  /** Pushes a right request. @returns the address to which the application sends the browser */
  async ask(loginHint: string, more: Fields = {}): Promise<string> {
    const { status, body } = await this.push({ login_hint: loginHint, ...more })
    if (status !== 201) throw new Error(`The request was refused: ${JSON.stringify(body)}`)
    return this.authorize({ client_id: this.client.record.id, request_uri: String(body.request_uri) })
  }

  /** The address of the authorization endpoint with these parameters. */
  authorize(parameters: Fields): string {
    return `${this.issuer}/auth?${form(parameters)}`
  }

  /** Parameters of a right request. */
  request(): Fields {
    return {
      client_id: this.client.record.id,
      response_type: 'code',
      redirect_uri: REDIRECT,
      scope: 'openid',
      state: 'state',
      nonce: 'nonce',
      code_challenge: createHash('sha256').update(this.verifier).digest('base64url'),
      code_challenge_method: 'S256',
    }
  }

  /** Signs a request as RFC 9101 says, with the client secret. It is good for five minutes, unless the parameters have another `exp`. */
  sign(parameters: Record<string, unknown>, secret = this.client.secret ?? ''): Promise<string> {
    const claims = { exp: Math.floor(Date.now() / 1000) + 300, ...parameters }
    return new SignJWT(Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined)))
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer(this.client.record.id)
      .setAudience(this.issuer)
      .sign(Buffer.from(secret))
  }

  /** The claims that the userinfo endpoint has. */
  async userinfo(accessToken: string): Promise<Answer> {
    const headers = { authorization: `Bearer ${accessToken}` }
    const response = await fetch(`${this.issuer}/me`, { headers })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  redeem(code: string | null, more: Fields = {}, proof?: Proof): Promise<Answer> {
    const fields = { grant_type: 'authorization_code', redirect_uri: REDIRECT, code_verifier: this.verifier }
    return this.post('/token', { ...fields, code: code ?? '', ...more }, proof)
  }

  protected post(path: string, fields: Fields, proof?: Proof): Promise<Answer> {
    const { id = this.client.record.id, secret = this.client.secret ?? '' } = (proof ?? {}) as Fields
    const basic = Buffer.from(`${id}:${secret}`).toString('base64')
    return this.send(path, fields, { authorization: `Basic ${basic}` })
  }

  protected async send(path: string, fields: Fields, headers = {}): Promise<Answer> {
    const response = await fetch(this.issuer + path, { method: 'POST', headers, body: form(fields) })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
}

function form(fields: Fields): URLSearchParams {
  return new URLSearchParams(
    Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}
