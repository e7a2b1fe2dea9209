/**
 * The external authentication method of Entra ID: an issuer of its own next to the general one, with the same keys, sign-in and refusals.
 * The endpoint is ours, because `oidc-provider` cannot answer such a request: it accepts as `id_token_hint` only its own ID tokens, gives
 * as `sub` the account instead of the hint's pairwise name, and would have to offer the implicit flow in the metadata of everybody.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { importJWK, SignJWT } from 'jose'
import type { Logger } from 'pino'
import type { Environment } from '../../../config/config.js'
import type { IncomingRequest, Reply } from '../../../http/listeners/listener.js'
import { MINUTE_MS, SECOND_MS } from '../../../lib/clock.js'
import type { OpenIdClient } from '../openid-clients.js'
import type { OpenIdKeys } from '../openid-keys.js'
import { type RefusalCode, RefusedRequest } from '../refusals.js'
import { elsewherePage } from '../refused-page.js'
import { refusedHere, seeOther } from '../replies.js'
import { type Interaction, SignIn, type SignInParts } from '../sign-in.js'
import { signedDigest } from '../signed-requests.js'
import { StateAdapter } from '../state-adapter.js'
import { MAX_HINT_AGE_MS, readHint } from './entra-hint.js'
import type { EntraKeys } from './entra-keys.js'
import { formPost, metadata } from './entra-replies.js'
import { type EntraRequest, FACE_AMR, formOf, readRequest, redirectUriIn } from './entra-request.js'
import { GUID } from './entra-tenant.js'

interface EntraMethodParts extends SignInParts {
  openIdKeys: OpenIdKeys
  entraKeys: EntraKeys
  log: Logger
}

/** Entra ID forgets a sign-in about 10 minutes after it has sent the person here. */
const PATIENCE_MS = 10 * MINUTE_MS
/** How long a sign-in and the use of a hint are remembered: longer than a hint counts, clocks that differ included. */
const REMEMBERED_SECONDS = (2 * MAX_HINT_AGE_MS) / SECOND_MS
const ID_TOKEN_SECONDS = 300
const DONE = /^\/interaction\/([\w-]{1,64})\/done$/

/** The facts of a sign-in that are kept between the request and the person's return. */
interface EntraSignIn {
  uid: string
  clientId: string
  userId: string
  subject: string
  nonce: string
  state: string | undefined
  acr: string
  redirectUri: string
  /** Digest of the secret in the cookie of the browser that began, in base64url. */
  browser: string
  /** Milliseconds since the Unix epoch. */
  endsAt: number
}

export class EntraMethod {
  private readonly signIn: SignIn
  private readonly signIns: StateAdapter
  private readonly hints: StateAdapter

  /** @param base URL of the general issuer of the environment */
  constructor(
    private readonly parts: EntraMethodParts,
    private readonly environment: Environment,
    private readonly base: string,
  ) {
    this.signIn = new SignIn(parts, environment, this.issuer)
    this.signIns = new StateAdapter(parts, `${environment} EntraSignIn`)
    this.hints = new StateAdapter(parts, `${environment} EntraHint`)
  }

  /** @param path path below the issuer */
  async handle(request: IncomingRequest, path: string, body: Buffer): Promise<Reply> {
    const { method } = request
    if (path === '/.well-known/openid-configuration' && method === 'GET')
      return metadata(this.issuer, `${this.base}/jwks`)
    if (path === '/authorize')
      return method === 'POST'
        ? this.authorize(request, body)
        : refusedHere(405, 'invalid_request', 'Entra ID posts its request.')
    const [, uid] = DONE.exec(path) ?? []
    if (uid !== undefined && method === 'GET') return this.finish(request, uid)
    return refusedHere(404, 'not_found', 'There is no such page.')
  }

  private get issuer(): string {
    return `${this.base}/entra`
  }

  private async authorize(request: IncomingRequest, body: Buffer): Promise<Reply> {
    let clientId: string | undefined
    let client: OpenIdClient
    let form: ReadonlyMap<string, string>
    try {
      form = formOf(body)
      clientId = form.get('client_id')
      client = await this.clientOf(clientId)
      if (redirectUriIn(form) !== client.redirectUris[0])
        throw new RefusedRequest('redirect_uri_not_registered', 'redirect_uri')
    } catch (error) {
      await this.record(error, clientId)
      return refusedHere(400, 'invalid_request', 'Client id or redirect address are not those of Entra ID.')
    }
    const requestId = form.get('client-request-id') ?? ''
    const facts = GUID.test(requestId) ? { client_request_id: requestId.toLowerCase() } : {}
    try {
      return await this.begin(request, client, readRequest(form), facts)
    } catch (error) {
      const code = await this.record(error, clientId, facts)
      const known = code === 'unavailable' ? 'temporarily_unavailable' : 'access_denied'
      return this.failed({ redirectUri: client.redirectUris[0]!, state: form.get('state') }, known)
    }
  }

  /** Leads the person to the capture page. @throws RefusedRequest */
  private async begin(
    request: IncomingRequest,
    client: OpenIdClient,
    asked: EntraRequest,
    facts: Record<string, string>,
  ): Promise<Reply> {
    const { clock, entraKeys: keys, log } = this.parts
    const { subject, userId } = await readHint(asked.hint, client.entra!, { keys, clock })
    const { nonce, state, acr } = asked
    const secret = randomBytes(32).toString('base64url')
    const made: EntraSignIn = {
      uid: randomBytes(16).toString('base64url'),
      clientId: client.record.id,
      redirectUri: client.redirectUris[0]!,
      ...{ userId, subject, nonce, state, acr },
      browser: digestOf(secret),
      endsAt: clock.now() + PATIENCE_MS,
    }
    const earlier = await this.hints.claim(
      signedDigest(asked.hint),
      { uid: made.uid } as never,
      REMEMBERED_SECONDS,
    )
    const signIn = earlier ? await this.again(request, earlier.uid!, made) : made
    const named = { ...made, accountId: userId }
    if (!earlier) await this.signIns.upsert(made.uid, named as never, REMEMBERED_SECONDS)
    const step = await this.signIn.begin(this.interactionOf(signIn), request)
    if (!('redirect' in step)) return this.failed(signIn, step.result.error)
    log.info({ client: client.record.id, ...facts }, 'began a sign-in for Entra ID')
    return { ...seeOther(step.redirect), cookies: earlier ? [] : [this.cookie(made.uid, secret)] }
  }

  /** The sign-in that the same browser began with the same request: a second tab, or a way back. @throws RefusedRequest hint_used */
  private async again(request: IncomingRequest, uid: string, asked: EntraSignIn): Promise<EntraSignIn> {
    const known = await this.signInOf(uid)
    const isSame =
      known !== null &&
      this.isBrowserOf(known, request) &&
      known.state === asked.state &&
      known.nonce === asked.nonce &&
      known.acr === asked.acr
    if (!isSame) throw new RefusedRequest('hint_used', 'id_token_hint')
    return known
  }

  /** Answers Entra ID when the person is back from the capture page. */
  private async finish(request: IncomingRequest, uid: string): Promise<Reply> {
    const signIn = await this.signInOf(uid)
    if (!signIn) return this.refuseHere('interaction_over', undefined)
    if (!this.isBrowserOf(signIn, request)) return this.refuseHere('opened_elsewhere', signIn.clientId)
    if (signIn.endsAt <= this.parts.clock.now()) {
      await this.signIns.useOnce(uid)
      await this.record(new RefusedRequest('user_gave_up', 'Entra ID waits no longer'), signIn.clientId)
      return this.failed(signIn, 'access_denied')
    }
    const step = await this.signIn.finish(this.interactionOf(signIn), request, request.query)
    if ('isElsewhere' in step) return elsewherePage(request.headers['accept-language'] ?? '')
    if ('redirect' in step) return seeOther(step.redirect)
    if (!(await this.signIns.useOnce(uid))) return this.refuseHere('interaction_over', signIn.clientId)
    if ('error' in step.result) return this.failed(signIn, step.result.error)
    const token = await this.idToken(signIn, step.result.login.ts)
    return formPost(signIn.redirectUri, { id_token: token, state: signIn.state })
  }

  /** One `acr`, one `amr`, and the subject of the hint, as Microsoft's reference asks. */
  private async idToken({ clientId, subject, nonce, acr }: EntraSignIn, verdictAt: number): Promise<string> {
    const [jwk] = await this.parts.openIdKeys.of(this.environment)
    const issuedAt = Math.floor(this.parts.clock.now() / SECOND_MS)
    return new SignJWT({ nonce, acr, amr: [FACE_AMR], auth_time: verdictAt })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: jwk!.kid })
      .setIssuer(this.issuer)
      .setAudience(clientId)
      .setSubject(subject)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + ID_TOKEN_SECONDS)
      .sign(await importJWK(jwk!, 'RS256'))
  }

  /** Microsoft's reference names two errors. */
  private failed({ redirectUri, state }: Pick<EntraSignIn, 'redirectUri' | 'state'>, error: string): Reply {
    const known = error === 'temporarily_unavailable' ? error : 'access_denied'
    return formPost(redirectUri, { error: known, state })
  }

  private async refuseHere(code: 'interaction_over' | 'opened_elsewhere', clientId: string | undefined) {
    await this.record(new RefusedRequest(code, 'interaction'), clientId)
    const text = 'This page was opened in another browser, or its time is over. Sign in to Microsoft again.'
    return refusedHere(400, 'invalid_request', text)
  }

  /** @throws the error where it is no refusal */
  private async record(
    error: unknown,
    clientId: string | undefined,
    facts: Record<string, string> = {},
  ): Promise<RefusalCode> {
    if (!(error instanceof RefusedRequest)) throw error
    const { code, detail, cause } = error
    if (cause) this.parts.log.warn({ err: cause }, 'the keys of Entra ID cannot be read')
    await this.parts.refusals.record({ code, detail, clientId, facts, environment: this.environment })
    return code
  }

  /** @throws RefusedRequest client_unknown */
  private async clientOf(id: string | undefined): Promise<OpenIdClient> {
    const client = await this.parts.clients.find(this.parts.store.read, id ?? '')
    if (!client?.entra || client.record.environment !== this.environment)
      throw new RefusedRequest('client_unknown', 'client_id')
    return client
  }

  private async signInOf(uid: string): Promise<EntraSignIn | null> {
    const known = await this.signIns.find(uid)
    return known && known.consumed === undefined ? (known as unknown as EntraSignIn) : null
  }

  private interactionOf({ uid, clientId, userId }: EntraSignIn): Interaction {
    const exp = Math.floor(this.parts.clock.now() / SECOND_MS) + REMEMBERED_SECONDS
    return { uid, exp, params: { client_id: clientId, login_hint: userId } }
  }

  private isBrowserOf({ uid, browser }: EntraSignIn, { headers }: IncomingRequest): boolean {
    const prefix = `${this.cookieName(uid)}=`
    const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim())
    const secret = pairs.find((pair) => pair.startsWith(prefix))?.slice(prefix.length) ?? ''
    return timingSafeEqual(Buffer.from(digestOf(secret)), Buffer.from(browser))
  }

  /** Entra ID leads here by a post from another site, with which browsers send only cookies of `SameSite=None`. */
  private cookie(uid: string, secret: string): string {
    const site = this.isSecure ? 'Secure; SameSite=None' : 'SameSite=Lax'
    return `${this.cookieName(uid)}=${secret}; Path=/; Max-Age=${REMEMBERED_SECONDS}; HttpOnly; ${site}`
  }

  private cookieName(uid: string): string {
    return `${this.isSecure ? '__Host-' : ''}entra_${uid}`
  }

  private get isSecure(): boolean {
    return this.base.startsWith('https:')
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
