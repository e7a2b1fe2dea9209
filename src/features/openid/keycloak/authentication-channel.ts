/**
 * The HTTP authentication channel of Keycloak (CIBA): Keycloak asks for a person, the tenant's backend gets the link to a capture session
 * by webhook, and `CallbackSender` reports the result. The answer is the same for a person who is not enrolled: nobody is asked then.
 */
import type { Environment } from '../../../config/config.js'
import type { Events } from '../../../events/events.js'
import { json, plain, reply } from '../../../http/admin/replies.js'
import type { IncomingRequest, Reply } from '../../../http/listeners/listener.js'
import { isoTime } from '../../../lib/clock.js'
import { type AskedAcr, askedAcr, captureFields } from '../asked-acr.js'
import type { OpenIdClient } from '../openid-clients.js'
import { type CallbackRecord, callbackReader } from '../openid-tables.js'
import { type RefusalCode, RefusedRequest } from '../refusals.js'
import { callAs, refusalBy, type SignInParts } from '../sign-in.js'
import { CallbackBook } from './callback-book.js'
import { actionFor, type ChannelRequest, parseChannelRequest } from './channel-request.js'
import type { KeycloakRealm } from './keycloak-realm.js'
import { issuerNamedBy, type RealmRequest, RealmTokens } from './realm-token.js'

export interface AuthenticationChannelParts extends SignInParts {
  events: Events
}

/** A realm that was checked, and the application of the OpenID provider that stands for it. */
interface Known {
  client: OpenIdClient
  realm: KeycloakRealm
  token: string
  request: RealmRequest
}

interface Asked extends Known {
  userId: string
  action: unknown
  message: string | null
  asked: AskedAcr
}

/** Path of the page that the person sees at the end. */
const DONE_PATH = '/keycloak/done'
const LINK_EVENT = 'openid.link_ready'

const CHANNEL = /^\/keycloak\/(oic_[0-9a-f]{32})$/
/** Requests of one person that may be open at the same time: more would wear the person down until one is confirmed. */
const MAX_OPEN = 3
const TASK_MS = 10_000
const MAX_BODY_BYTES = 16_384

/**
 * Statuses, which Keycloak takes for a failure: it takes only 201 for success. Codes that have to do with the person have none: then the
 * answer is that for a person who is asked.
 */
const STATUS_OF_REFUSAL: Partial<Record<RefusalCode, number>> = {
  request_not_valid: 400,
  action_not_valid: 400,
  token_not_valid: 401,
  client_unknown: 404,
  token_used: 409,
  acr_not_reached: 422,
  consent_required: 422,
  link_not_deliverable: 422,
  rate_limited: 503,
  key_not_valid: 503,
  realm_unreachable: 503,
  unavailable: 503,
}

export class AuthenticationChannel {
  private readonly book: CallbackBook
  private readonly tokens: RealmTokens

  constructor(
    private readonly parts: AuthenticationChannelParts,
    private readonly environment: Environment,
    /** URL of the issuer, known once the listener is open. */
    private readonly issuer: () => string,
  ) {
    this.book = new CallbackBook(parts.keys, parts.vault)
    this.tokens = new RealmTokens(parts.clock)
  }

  /** Whether this channel answers at the path, which is relative to the issuer. */
  static handles(path: string): boolean {
    return path === DONE_PATH || CHANNEL.test(path)
  }

  async handle(request: IncomingRequest, path: string): Promise<Reply> {
    if (path === DONE_PATH) return plain(200, 'Done. You can close this page and go on where you began.\n')
    if (request.method !== 'POST') return json({ error: 'method_not_allowed' }, 405, { Allow: 'POST' })
    const body = await request.body(performance.now() + TASK_MS, MAX_BODY_BYTES)
    const [, clientId] = CHANNEL.exec(path)!
    const noted: { userId?: string } = {}
    try {
      await this.take(clientId!, request, body, noted)
      return reply(201, 'application/json; charset=utf-8', '')
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error
      const { code, detail } = error
      await this.parts.refusals.record({ code, environment: this.environment, clientId, detail, ...noted })
      return json({ error: code }, STATUS_OF_REFUSAL[code] ?? 400)
    }
  }

  private async take(
    clientId: string,
    request: IncomingRequest,
    body: Buffer,
    noted: { userId?: string },
  ): Promise<void> {
    const known = await this.authenticated(clientId, request.headers.authorization)
    const fields = parseChannelRequest(body)
    if (!fields) throw new RefusedRequest('request_not_valid', 'the body is no request of Keycloak')
    const asked = askedFor(known, fields)
    noted.userId = asked.userId
    const captures = captureFields(asked.asked, known.client.acr)
    if (!captures) throw new RefusedRequest('acr_not_reached')
    await this.assertLinkDeliverable(known.client)
    const reserved = await this.reserved(known)
    const answer = await callAs(this.parts.calls, known.client, request, {
      method: 'POST',
      path: '/v1/capture-sessions',
      fields: {
        user_id: asked.userId,
        action: asked.action,
        return_url: `${this.issuer()}${DONE_PATH}`,
        // The link goes to the person's own device, and Keycloak asks on another.
        browser: 'any',
        // The browser at the client is not known: the page names the client, and since when.
        began: {},
        ...captures,
      },
    })
    const isMade = answer.status === 201
    if (isMade && (await this.sendLink(reserved, asked, answer.body as unknown as Link))) return
    const { code, detail } = isMade ? TOO_MANY_OPEN : refusalBy(answer)
    // A realm must not learn by the answer that this person is enrolled.
    if (!isMade && code in STATUS_OF_REFUSAL) throw new RefusedRequest(code, detail)
    // Keycloak waits in vain, as for a person who does not open the link. Only the operator learns why.
    const { userId } = asked
    const refusal = { code, detail, clientId: known.client.record.id, userId }
    await this.parts.refusals.record({ ...refusal, environment: this.environment })
  }

  /** Finds the realm whose token this is. Every realm of one server posts to one address, so the realm may be another of the same tenant. */
  private async authenticated(clientId: string, authorization: string | undefined): Promise<Known> {
    const { clients, store } = this.parts
    const named = await clients.find(store.read, clientId)
    if (named?.record.environment !== this.environment) throw new RefusedRequest('client_unknown')
    const [, token] = /^bearer ([\w.-]+)$/i.exec(authorization ?? '') ?? []
    if (!token) throw new RefusedRequest('token_not_valid', 'the request has no bearer token')
    const issuer = issuerNamedBy(token)
    const client = [named, ...(await clients.of(store.read, named.record.tenantId))].find(
      ({ keycloak, record }) => keycloak?.issuer === issuer && record.environment === this.environment,
    )
    if (!client?.keycloak) throw new RefusedRequest('token_not_valid', 'no application has this realm')
    const request = await this.tokens.check(token, client.keycloak)
    return { client, realm: client.keycloak, token, request }
  }

  /** The check comes before anything that depends on the person. */
  private async assertLinkDeliverable({ record }: OpenIdClient): Promise<void> {
    const { store, events } = this.parts
    const audience = await events.audienceOf(store.read, record.tenantId)
    if (!audience.hears({ environment: record.environment, type: LINK_EVENT }))
      throw new RefusedRequest('link_not_deliverable')
  }

  private async reserved({ client, realm, request }: Known): Promise<CallbackRecord> {
    const { tenantId } = client.record
    const reserved = await this.parts.store.transaction({ tenantId, serializationKey: request.id }, (tx) =>
      this.book.reserve(tx, tenantId, realm.issuer, request),
    )
    if (!reserved) throw new RefusedRequest('token_used')
    return reserved
  }

  /**
   * Queues the link for the tenant's backend and the callback in one transaction: Keycloak gets its 201 only after that.
   * @returns false where the person has too many open requests: then nobody gets the link
   */
  private sendLink(reserved: CallbackRecord, asked: Asked, link: Link): Promise<boolean> {
    const { store, clock, events, vault } = this.parts
    const { client, request, token, userId, action } = asked
    const { id: clientId, tenantId, environment } = client.record
    const { expiresAt } = request
    const requestedBy = request.client
    const callback = { clientId, token, userId, requestedBy, action, asked: asked.asked, expiresAt }
    const blindIndex = vault.blindIndex(tenantId, environment, userId)
    return store.transaction({ tenantId }, async (tx) => {
      if ((await tx.statements(callbackReader).countOpen(blindIndex, clock.now())) >= MAX_OPEN) return false
      const user = await tx.subjectWithoutReference(blindIndex)
      // The person was erased meanwhile, and the session with the person: Keycloak waits in vain.
      if (!user && environment === 'production') return true
      const dataKey = user ? vault.dataKey(user) : null
      const owner = { sessionId: link.session_id, blindIndex, dataKey }
      await this.book.enqueue(tx, reserved, owner, callback, clock.now())
      await events.put(tx, {
        tenantId,
        environment,
        type: LINK_EVENT,
        data: {
          user_id: userId,
          session_id: link.session_id,
          url: link.url,
          application: client.name,
          requested_by: requestedBy,
          message: asked.message,
          expires_at: isoTime(Math.min(expiresAt, Date.parse(link.expires_at))),
        },
        ...(user && dataKey ? { subject: { blindIndex, id: user.id, dataKey } } : {}),
      })
      return true
    })
  }
}

const TOO_MANY_OPEN = {
  code: 'rate_limited',
  detail: `the person has ${MAX_OPEN} open requests`,
} as const

interface Link {
  session_id: string
  url: string
  expires_at: string
}

/** @throws RefusedRequest */
function askedFor(known: Known, fields: ChannelRequest): Asked {
  if (fields.isConsentRequired) throw new RefusedRequest('consent_required')
  if (fields.bindingMessage === null && !known.realm.isMessageOptional)
    throw new RefusedRequest('action_not_valid', 'the request has no binding_message')
  const action = actionFor(known.request, fields)
  if (action === null)
    throw new RefusedRequest('action_not_valid', 'the page cannot show the client or its message')
  return {
    ...known,
    userId: known.realm.user === 'sub' ? known.request.subject : fields.loginHint,
    action,
    message: fields.bindingMessage,
    asked: askedAcr(fields.acrValues ?? undefined, undefined, known.client.acr),
  }
}
