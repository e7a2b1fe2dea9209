/** Leads a person from the relying party's request to the hosted capture page and back, and turns the verdict into the provider's answer. */
import { isIP } from 'node:net'
import { decodeJwt } from 'jose'
import { statusOf } from '../../api/error-response.js'
import type { Environment } from '../../config/config.js'
import { firstLocale } from '../../contract/locales.js'
import type { InternalAnswer, InternalApi, InternalRequest } from '../../http/internal-api.js'
import type { ClientAddresses } from '../../http/listeners/client-address.js'
import type { IncomingRequest } from '../../http/listeners/listener.js'
import { DomainError } from '../../lib/domain-error.js'
import { type AskedAcr, askedAcr, captureFields, namedAcr, satisfies } from './asked-acr.js'
import { actionOf } from './authorization-details.js'
import { namedPerson } from './named-person.js'
import type { OpenIdClient } from './openid-clients.js'
import type { OpenIdProviderParts, VerdictFacts } from './openid-provider.js'
import type { RefusalCode, Refusals, Refused } from './refusals.js'
import { StateAdapter } from './state-adapter.js'

/** The part of an interaction of the provider that is read here. */
export interface Interaction {
  uid: string
  params: Record<string, unknown>
  /** Seconds since the Unix epoch. */
  exp: number
}

/** The address to which the browser goes first. */
type Redirect = { redirect: string }
/** `helpUrl` is shown to the person before the application gets its answer. */
type NotConfirmed = { result: typeof NOT_CONFIRMED; helpUrl?: string | undefined }
/** The next step: a `result` is for `Provider.interactionFinished`. */
export type Step =
  | Redirect
  | NotConfirmed
  /** This browser is not the one in which the person confirmed: it gets no answer, and nothing is over. */
  | { isElsewhere: true }
  | {
      result: {
        login: { accountId: string; acr: string; amr: string[]; ts: number; remember: false }
        facts: VerdictFacts
      }
    }

export interface SignInParts extends OpenIdProviderParts {
  calls: InternalApi
  refusals: Refusals
  addresses: ClientAddresses
}

/** One answer for every person who is not confirmed: it does not tell a stranger from one who is not enrolled or is locked out. */
const NOT_CONFIRMED = { error: 'access_denied', error_description: 'The person was not confirmed.' }
const UNMET = {
  error: 'unmet_authentication_requirements',
  error_description: 'The requested acr cannot be reached.',
}
const UNAVAILABLE = {
  error: 'temporarily_unavailable',
  error_description: 'The person cannot be confirmed now.',
}
const ANSWERS: Partial<Record<RefusalCode, typeof NOT_CONFIRMED>> = {
  acr_not_reached: UNMET,
  rate_limited: UNAVAILABLE,
  key_not_valid: UNAVAILABLE,
  unavailable: UNAVAILABLE,
}
/** Codes of the API. The first ones say that the requested checks cannot be made for any person. */
const CODE_OF_API: Record<string, RefusalCode> = {
  liveness_unavailable: 'acr_not_reached',
  passkeys_unavailable: 'acr_not_reached',
  policy_not_met: 'acr_not_reached',
  passkey_origin_not_allowed: 'acr_not_reached',
  passkey_not_found: 'passkey_missing',
  reference_not_found: 'user_unknown',
  reference_model_mismatch: 'user_unknown',
  locked_out: 'user_locked_out',
  rate_limited: 'rate_limited',
}

interface Kept {
  sessionId: string
  url: string
}

type Visitor = Pick<IncomingRequest, 'remoteAddress' | 'encrypted' | 'signal'>

export class SignIn {
  private readonly sessions: StateAdapter

  constructor(
    private readonly parts: SignInParts,
    private readonly environment: Environment,
    private readonly issuer: string,
  ) {
    this.sessions = new StateAdapter(parts, `${environment} CaptureSession`)
  }

  /** Begins at the capture page. A second tab, or a person who went back, gets the same session. */
  async begin(
    interaction: Interaction,
    visitor: Visitor & Pick<IncomingRequest, 'headers'>,
  ): Promise<Redirect | NotConfirmed> {
    const kept = await this.kept(interaction)
    if (kept) return { redirect: kept.url }
    const client = await this.clientOf(interaction)
    if (!client) return this.refuse(interaction, null, { code: 'client_unknown' })
    const named = namedPerson(interaction.params, this.parts.clock.now())
    if ('code' in named) return this.refuse(interaction, client, named)
    const asked = this.askedBy(interaction, client)
    const fields = captureFields(asked, client.acr)
    if (fields === null)
      return this.refuse(interaction, client, {
        code: 'acr_not_reached',
        detail: 'no asked-for acr is known',
      })
    const answer = await callAs(this.parts.calls, client, visitor, {
      method: 'POST',
      path: '/v1/capture-sessions',
      isDiscreet: true,
      keepsDevice: client.handOver !== 'number',
      fields: {
        user_id: named.userId,
        action: actionOf(interaction.params.authorization_details, client.name),
        return_url: `${this.issuer}/interaction/${interaction.uid}/done`,
        browser: 'same',
        began: beganBy(visitor, this.parts.addresses),
        ...fields,
        ...localeOf(interaction.params.ui_locales),
      },
    })
    if (answer.status !== 201) return this.refuse(interaction, client, refusalBy(answer))
    const { session_id: sessionId, url } = answer.body as { session_id: string; url: string }
    const seconds = Math.max(1, interaction.exp - Math.floor(this.parts.clock.now() / 1000))
    const made = { sessionId, url, accountId: named.userId, clientId: client.record.id }
    await this.sessions.upsert(interaction.uid, made as never, seconds)
    return { redirect: url }
  }

  /** Reads the verdict when the person is back. @param query of the address with which they came back */
  async finish(interaction: Interaction, visitor: Visitor, query: string): Promise<Step> {
    const kept = await this.kept(interaction)
    const client = await this.clientOf(interaction)
    if (!client) return this.refuse(interaction, null, { code: 'client_unknown' })
    if (!kept)
      return this.refuse(interaction, client, { code: 'user_gave_up', detail: 'the page was never opened' })
    const { status, body } = await callAs(this.parts.calls, client, visitor, {
      method: 'GET',
      path: `/v1/capture-sessions/${kept.sessionId}`,
      query: proofIn(query, kept.sessionId),
    })
    const facts = { capture_session: kept.sessionId }
    if (body.code === 'capture_proof_invalid' || body.result_withheld === 'proof_required') {
      await this.record(interaction, { code: 'confirmed_elsewhere', facts })
      return { isElsewhere: true }
    }
    if (status !== 200) return this.refuse(interaction, client, refusalBy({ status, body }))
    if (body.status === 'open' || body.status === 'in_progress') return { redirect: kept.url }
    const asked = this.askedBy(interaction, client)
    const approval = approvalIn(body, userNamed(interaction), asked, client.acr)
    if ('code' in approval) return this.refuse(interaction, client, { ...approval, facts })
    const { jwt: verdict, sub: accountId, acr, amr, iat: ts } = approval
    return {
      result: {
        login: { accountId, acr: namedAcr(acr, asked), amr, ts, remember: false },
        facts: { verdict },
      },
    }
  }

  /** Records a refusal. @returns the answer to the relying party, which says less than the record */
  private async refuse(
    interaction: Interaction,
    client: OpenIdClient | null,
    refusal: Refused,
  ): Promise<NotConfirmed> {
    await this.record(interaction, refusal)
    const result = ANSWERS[refusal.code] ?? NOT_CONFIRMED
    return result === NOT_CONFIRMED ? { result, helpUrl: client?.helpUrl } : { result }
  }

  private record(interaction: Interaction, refusal: Refused): Promise<void> {
    const clientId = String(interaction.params.client_id)
    const named = { environment: this.environment, clientId, userId: userNamed(interaction) }
    return this.parts.refusals.record({ ...refusal, ...named })
  }

  private askedBy({ params }: Interaction, { acr }: OpenIdClient) {
    return askedAcr(params.acr_values, params.claims, acr)
  }

  private async kept({ uid }: Interaction): Promise<Kept | undefined> {
    return (await this.sessions.find(uid)) as Kept | undefined
  }

  private async clientOf({ params }: Interaction): Promise<OpenIdClient | null> {
    const client = await this.parts.clients.find(this.parts.store.read, String(params.client_id))
    return client?.record.environment === this.environment ? client : null
  }
}

function userNamed({ params }: Interaction): string | undefined {
  const named = namedPerson(params)
  return 'userId' in named ? named.userId : undefined
}

/** The query of the API's call: the proof for this session in the address with which the person came back. */
function proofIn(query: string, sessionId: string): string | undefined {
  const back = new URLSearchParams(query)
  const proof = back.get('capture_proof') ?? ''
  return back.get('capture_session') === sessionId && /^[\w-]{43}$/.test(proof) ? `proof=${proof}` : undefined
}

/** Calls the API in the name of an application. @returns the API's refusal, too, where the key of the application is no longer valid */
export async function callAs(
  calls: InternalApi,
  { record }: OpenIdClient,
  visitor: Visitor,
  request: InternalRequest,
): Promise<InternalAnswer> {
  const { tenantId, keyId, environment } = record
  try {
    return await calls.send({ tenantId, keyId, environment }, visitor, request)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return { status: statusOf(error), body: { code: error.code } }
  }
}

/** The refusal by an answer of the API that is no success. */
export function refusalBy({ status, body }: InternalAnswer): Refused {
  const detail = String(body.code)
  const code = CODE_OF_API[detail]
  if (code) return { code, detail }
  if (status === 401 || status === 403) return { code: 'key_not_valid', detail }
  return { code: status >= 500 ? 'unavailable' : 'api_refused', detail }
}

/** An approval: the claims of a verdict, and the verdict as a JWT that anyone can check. */
interface Approval {
  jwt: string
  sub: string
  acr: string
  amr: string[]
  iat: number
  action: unknown
}

/**
 * @param session a capture session that is over, as the API answers it
 * @param userId of the person whom the request named
 * @returns the approval of this person; else the refusal
 */
export function approvalIn(
  { disowned, result }: Record<string, unknown>,
  userId: string | undefined,
  asked: AskedAcr,
  least: string,
): Approval | Refused {
  if (disowned) return { code: 'user_disowned' }
  const { status, body } = (result ?? {}) as { status?: number; body?: Record<string, unknown> }
  if (status === undefined || !body) return { code: 'user_gave_up' }
  if (status !== 200) return refusalBy({ status, body })
  const { verdict, user_id: confirmed, reason } = body
  if (verdict !== 'approved')
    return { code: reason === 'locked_out' ? 'user_locked_out' : 'user_rejected', detail: String(reason) }
  const jwt = String(body.jwt_public)
  const claims = decodeJwt<Omit<Approval, 'jwt'>>(jwt)
  if (confirmed !== userId || claims.sub !== userId) return { code: 'user_differs' }
  if (!satisfies(claims.acr, asked, least)) return { code: 'acr_not_reached', detail: claims.acr }
  return { ...claims, jwt }
}

/** Returns the facts about the visitor who begins, for the page. A header that the API would refuse counts as none. */
function beganBy(visitor: Pick<IncomingRequest, 'remoteAddress' | 'headers'>, addresses: ClientAddresses) {
  const ip = addresses.of(visitor)
  const userAgent = visitor.headers['user-agent'] ?? ''
  return {
    ...(isIP(ip) === 0 ? {} : { ip }),
    ...(/^[ -~]{1,1024}$/.test(userAgent) ? { user_agent: userAgent } : {}),
  }
}

/** The first of the languages that the relying party names in which the page is written. */
function localeOf(uiLocales: unknown): { locale?: string } {
  if (typeof uiLocales !== 'string') return {}
  const locale = firstLocale(uiLocales)
  return locale === undefined ? {} : { locale }
}
