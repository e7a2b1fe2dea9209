/**
 * A simulated post-login flow of Auth0, written from its documentation of redirects with Actions: an Action that sends the person away is
 * suspended, the address gets a `state`, and `/continue` goes on in the same Action with that state.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { createRequire } from 'node:module'

interface Handlers {
  onExecutePostLogin(event: unknown, api: unknown): Promise<void>
  onContinuePostLogin(event: unknown, api: unknown): Promise<void>
}

export interface Login {
  /** Why the sign-in was refused; null where it was not. */
  denied: string | null
  /** Where the browser is sent; null where the sign-in goes on. */
  redirect: URL | null
  /** Custom methods that were recorded. */
  methods: string[]
}

export class Auth0 {
  readonly hostname = 'bank.eu.auth0.com'
  private readonly handlers: Handlers

  constructor(
    action: string,
    private readonly secrets: Record<string, string>,
  ) {
    this.handlers = createRequire(import.meta.url)(action)
  }

  /** The person has passed the first factor. */
  login(userId: string): Promise<Login> {
    return this.run('onExecutePostLogin', userId, new URLSearchParams())
  }

  /** The browser comes to `/continue`. @param userId the person whose sign-in has this state */
  continue(userId: string, { searchParams }: URL): Promise<Login> {
    return this.run('onContinuePostLogin', userId, searchParams)
  }

  private async run(handler: keyof Handlers, userId: string, query: URLSearchParams): Promise<Login> {
    const login: Login = { denied: null, redirect: null, methods: [] }
    const event = {
      client: { client_id: 'abc', name: 'Online Bank' },
      request: { hostname: this.hostname, query: Object.fromEntries(query) },
      secrets: this.secrets,
      user: { user_id: userId },
    }
    const api = {
      access: {
        deny: (reason: string) => {
          login.denied = reason
        },
      },
      authentication: { recordMethod: (url: string) => void login.methods.push(url) },
      redirect: {
        encodeToken: (options: { secret: string; expiresInSeconds?: number; payload: object }) =>
          encode({ sub: userId, iss: this.hostname, ...options.payload }, options),
        validateToken: (options: { secret: string; tokenParameterName?: string }) =>
          validate(options, event.request.query),
        sendUserTo: (address: string, { query: more = {} }: { query?: Record<string, string> } = {}) => {
          login.redirect = new URL(address)
          const parameters = { ...more, state: randomBytes(16).toString('hex') }
          for (const [name, value] of Object.entries(parameters)) login.redirect.searchParams.set(name, value)
        },
      },
    }
    try {
      await this.handlers[handler](event, api)
    } catch (error) {
      // Auth0 ends a sign-in whose Action throws.
      login.denied = (error as Error).message
    }
    return login
  }
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const macOf = (text: string, secret: string) => createHmac('sha256', secret).update(text).digest()

function encode(
  claims: object,
  { secret, expiresInSeconds = 900 }: { secret: string; expiresInSeconds?: number },
) {
  const iat = Math.floor(Date.now() / 1000)
  const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ ...claims, iat, exp: iat + expiresInSeconds })}`
  return `${text}.${macOf(text, secret).toString('base64url')}`
}

/** The token's signature and end hold, and its `state` is that of the address. */
function validate(
  { secret, tokenParameterName = 'session_token' }: { secret: string; tokenParameterName?: string },
  query: Record<string, string>,
): Record<string, unknown> {
  const [header = '', payload = '', signature = ''] = (query[tokenParameterName] ?? '').split('.')
  const given = Buffer.from(signature, 'base64url')
  const expected = macOf(`${header}.${payload}`, secret)
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    throw new Error('The session token is invalid: signature')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
  if (claims.exp <= Date.now() / 1000) throw new Error('The session token is invalid: expired')
  if (claims.state === undefined || claims.state !== query.state)
    throw new Error('The session token is invalid: state')
  return claims
}
