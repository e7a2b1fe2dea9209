/** Leads a person from the relying party's request to the hosted capture page and back, and turns the verdict into the provider's answer. */
import { decodeJwt } from 'jose'
import { CAPTURE_LANGUAGES } from '../config/capture-languages.js'
import type { Environment } from '../config/config.js'
import type { InternalAnswer, InternalApi, InternalCustomer } from '../http/internal-api.js'
import type { IncomingRequest } from '../http/listeners/listener.js'
import type { OpenIdClient, OpenIdClients } from '../tenants/openid-clients.js'
import { askedAcr, captureFields, namedAcr, satisfies } from './asked-acr.js'
import { actionOf } from './authorization-details.js'
import type { OpenIdProviderParts, VerdictFacts } from './openid-provider.js'
import { StateAdapter } from './state-adapter.js'

/** The part of an interaction of the provider that is read here. */
export interface Interaction {
  uid: string
  params: Record<string, unknown>
  /** Seconds since the Unix epoch. */
  exp: number
}

/** A result for `Provider.interactionFinished`, or the address to which the browser goes first. */
export type Step =
  | { redirect: string }
  | { result: { error: string; error_description: string } }
  | {
      result: {
        login: { accountId: string; acr: string; amr: string[]; ts: number; remember: false }
        facts: VerdictFacts
      }
    }

export interface SignInParts extends OpenIdProviderParts {
  clients: OpenIdClients
  calls: InternalApi
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
/** Codes by which the API says that the requested checks cannot be made for any person. */
const UNREACHABLE = [
  'liveness_unavailable',
  'passkeys_unavailable',
  'policy_not_met',
  'passkey_origin_not_allowed',
]

interface Kept {
  sessionId: string
  url: string
}

type Visitor = Pick<IncomingRequest, 'remoteAddress' | 'encrypted' | 'signal'>

export class SignIn {
  constructor(
    private readonly parts: SignInParts,
    private readonly environment: Environment,
    private readonly issuer: string,
  ) {}

  /** Begins at the capture page. A second tab, or a person who went back, gets the same session. */
  async begin(interaction: Interaction, visitor: Visitor): Promise<Step> {
    const kept = await this.kept(interaction)
    if (kept) return { redirect: kept.url }
    const client = await this.clientOf(interaction)
    const hint = interaction.params.login_hint
    if (!client || typeof hint !== 'string' || hint === '') return { result: NOT_CONFIRMED }
    const asked = this.askedBy(interaction, client)
    const fields = captureFields(asked, client.acr)
    if (fields === null) return { result: UNMET }
    const answer = await this.parts.calls.send(customerOf(client), visitor, {
      method: 'POST',
      path: '/v1/capture-sessions',
      fields: {
        user_id: hint,
        action: actionOf(interaction.params.authorization_details, client.name),
        return_url: `${this.issuer}/interaction/${interaction.uid}/done`,
        ...fields,
        ...localeOf(interaction.params.ui_locales),
      },
    })
    if (answer.status !== 201) return { result: refusalFor(answer) }
    const { session_id: sessionId, url } = answer.body as { session_id: string; url: string }
    const seconds = Math.max(1, interaction.exp - Math.floor(this.parts.clock.now() / 1000))
    await this.sessions().upsert(interaction.uid, { sessionId, url } as never, seconds)
    return { redirect: url }
  }

  /** Reads the verdict when the person is back. */
  async finish(interaction: Interaction, visitor: Visitor): Promise<Step> {
    const kept = await this.kept(interaction)
    const client = await this.clientOf(interaction)
    if (!kept || !client) return { result: NOT_CONFIRMED }
    const { status, body } = await this.parts.calls.send(customerOf(client), visitor, {
      method: 'GET',
      path: `/v1/capture-sessions/${kept.sessionId}`,
    })
    if (status !== 200) return { result: refusalFor({ status, body }) }
    if (body.status === 'open' || body.status === 'in_progress') return { redirect: kept.url }
    const verdict = verdictIn(body.result)
    if (verdict?.verdict !== 'approved' || verdict.user_id !== interaction.params.login_hint)
      return { result: NOT_CONFIRMED }
    const { acr, amr, iat } = decodeJwt<{ acr: string; amr: string[] }>(verdict.jwt_public)
    const asked = this.askedBy(interaction, client)
    if (!satisfies(acr, asked, client.acr)) return { result: UNMET }
    return {
      result: {
        login: { accountId: verdict.user_id, acr: namedAcr(acr, asked), amr, ts: iat!, remember: false },
        facts: { verdict: verdict.jwt_public },
      },
    }
  }

  private askedBy({ params }: Interaction, { acr }: OpenIdClient) {
    return askedAcr(params.acr_values, params.claims, acr)
  }

  private async kept({ uid }: Interaction): Promise<Kept | undefined> {
    return (await this.sessions().find(uid)) as Kept | undefined
  }

  private async clientOf({ params }: Interaction): Promise<OpenIdClient | null> {
    const client = await this.parts.clients.find(this.parts.store.read, String(params.client_id))
    return client?.record.environment === this.environment ? client : null
  }

  private sessions(): StateAdapter {
    return new StateAdapter(this.parts, `${this.environment} CaptureSession`)
  }
}

function customerOf({ record }: OpenIdClient): InternalCustomer {
  const { tenantId, keyId, environment } = record
  return { tenantId, keyId, environment }
}

function refusalFor({ status, body }: InternalAnswer) {
  if (UNREACHABLE.includes(String(body.code))) return UNMET
  return status >= 500 || status === 429 ? UNAVAILABLE : NOT_CONFIRMED
}

function verdictIn(result: unknown): { verdict: string; user_id: string; jwt_public: string } | null {
  const { status, body } = (result ?? {}) as { status?: number; body?: unknown }
  return status === 200 ? (body as { verdict: string; user_id: string; jwt_public: string }) : null
}

/** The first of the languages that the relying party names in which the page is written. */
function localeOf(uiLocales: unknown): { locale?: string } {
  if (typeof uiLocales !== 'string') return {}
  const named = uiLocales.split(' ').map((tag) => tag.split('-')[0]!.toLowerCase())
  const locale = named.find((language) => (CAPTURE_LANGUAGES as readonly string[]).includes(language))
  return locale === undefined ? {} : { locale }
}
