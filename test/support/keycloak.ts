/**
 * A simulated realm of Keycloak that asks its authentication channel, written from Keycloak's source (`HttpAuthenticationChannelProvider`,
 * `BackchannelAuthenticationCallbackEndpoint`, `CIBAAuthenticationRequest`): the token, the body, the status that it wants, and what it does
 * with a callback.
 */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { exportJWK, jwtVerify, SignJWT } from 'jose'
import { rsaKey } from './rsa-keys.js'

/** State of a request, as Keycloak's store of device codes has it. `forgotten` is the end of a request that was reported twice. */
type State = 'pending' | 'approved' | 'denied' | 'forgotten'

export interface AskOptions {
  user?: { id: string; name: string }
  client?: string
  message?: string | null
  acrValues?: string
  consent?: boolean
  /** Claims that differ from those that Keycloak writes. */
  claims?: Record<string, unknown>
  /** Token instead of one of the realm's own. */
  token?: string
}

const CALLBACK = '/protocol/openid-connect/ext/ciba/auth/callback'
/** Time within which Keycloak's HTTP client wants the answer. */
const PATIENCE_MS = 5000
/** Lifetime of a request by default (`CibaConfig.DEFAULT_CIBA_POLICY_EXPIRES_IN`). */
const LIFETIME_SECONDS = 120

export class Keycloak {
  /** Address of the channel, which the operator sets for the whole server. */
  channel = ''
  /** Results that arrived, in order: the bearer's `jti` and the status. */
  readonly callbacks: Array<{ id: string; status: string; answer: number }> = []
  /** Status with which the server fails instead of taking a result, or `hang` to take it and not answer. */
  failing: number | 'hang' | null = null
  private readonly states = new Map<string, State>()

  private constructor(
    private server: Server,
    readonly port: number,
    private readonly keys: ReturnType<typeof rsaKey>,
    private readonly now: () => number,
    readonly name: string,
  ) {}

  static async start(now: () => number, name = 'bank'): Promise<Keycloak> {
    const keys = rsaKey()
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const keycloak = new Keycloak(server, (server.address() as AddressInfo).port, keys, now, name)
    server.on('request', (request, response) => void keycloak.answer(request, response))
    return keycloak
  }

  get issuer(): string {
    return `http://127.0.0.1:${this.port}/realms/${this.name}`
  }

  state(id: string): State | undefined {
    return this.states.get(id)
  }

  /** A client of the realm fetches its tokens, after which a further result changes nothing. @returns whether it gets them */
  fetchTokens(id: string): boolean {
    const isApproved = this.states.get(id) === 'approved'
    if (isApproved) this.states.delete(id)
    return isApproved
  }

  async token(id: string, claims: Record<string, unknown> = {}): Promise<string> {
    const seconds = Math.floor(this.now() / 1000)
    return new SignJWT({
      ...{ iss: this.issuer, aud: this.issuer, typ: 'Bearer', jti: id, sub: randomUUID(), azp: 'shop' },
      ...{ iat: seconds, exp: seconds + LIFETIME_SECONDS },
      ...claims,
    })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: 'realm-key' })
      .sign(this.keys.privateKey)
  }

  /** Asks the channel for a person, as for a client's request at `/ext/ciba/auth`. @returns the HTTP status and the id of the request */
  async ask(options: AskOptions = {}): Promise<{ id: string; status: number; token: string; body: string }> {
    const { user = { id: 'ada+match', name: 'ada' }, client = 'shop', message = 'TXN-4417' } = options
    const id = randomUUID()
    const token = options.token ?? (await this.token(id, { sub: user.id, azp: client, ...options.claims }))
    const response = await fetch(this.channel, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
      body: JSON.stringify({
        ...(message === null ? {} : { binding_message: message }),
        login_hint: user.name,
        is_consent_required: options.consent ?? false,
        ...(options.acrValues === undefined ? {} : { acr_values: options.acrValues }),
        scope: 'openid profile email',
      }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    // Keycloak notes a request only when the channel has taken it.
    if (response.status === 201) this.states.set(id, 'pending')
    return { id, status: response.status, token, body: await response.text() }
  }

  /** Stops listening, as a server that is restarted. @returns listens again at the same port */
  async goDown(): Promise<() => Promise<void>> {
    await this.close()
    return async () => {
      this.server = createServer((request, response) => void this.answer(request, response))
      await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve))
    }
  }

  async close(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((resolve) => this.server.close(resolve))
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.slice(`/realms/${this.name}`.length)
    if (path === '/protocol/openid-connect/certs') {
      const key = { ...(await exportJWK(this.keys.publicKey)), kid: 'realm-key', alg: 'RS256', use: 'sig' }
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ keys: [key] }))
      return
    }
    if (request.method !== 'POST' || path !== CALLBACK) return void response.writeHead(404).end()
    const { status } = JSON.parse(await text(request)) as { status: string }
    const [, token = ''] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? []
    if (typeof this.failing === 'number') return void response.writeHead(this.failing).end()
    const { id, answer } = await this.take(token, status)
    this.callbacks.push({ id, status, answer })
    if (this.failing === 'hang') return
    response.writeHead(answer, { 'Content-Type': 'application/json' }).end()
  }

  /** `processAuthenticationChannelResult` and `verifyAuthenticationRequest`. */
  private async take(token: string, status: string): Promise<{ id: string; answer: number }> {
    let id: string
    try {
      const { payload } = await jwtVerify(token, this.keys.publicKey, {
        ...{ issuer: this.issuer, audience: this.issuer, currentDate: new Date(this.now()) },
      })
      id = payload.jti!
    } catch {
      return { id: '', answer: 403 }
    }
    if (this.states.get(id) !== 'pending') {
      // `cancelRequest`: a second result takes the first one back.
      if (this.states.has(id)) this.states.set(id, 'forgotten')
      return { id, answer: 403 }
    }
    if (!['SUCCEED', 'UNAUTHORIZED', 'CANCELLED'].includes(status)) return { id, answer: 400 }
    this.states.set(id, status === 'SUCCEED' ? 'approved' : 'denied')
    return { id, answer: 200 }
  }
}
