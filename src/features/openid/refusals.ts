/**
 * Refusals of the OpenID provider. Each has a code, a line in the log and, where the application is known, an entry in the audit log of
 * its tenant. The code is for the operator: a person or a stranger sees only the error of the protocol, which is the same for many codes.
 */
import type { Logger } from 'pino'
import type { Environment } from '../../config/config.js'
import { HOUR_MS, SECOND_MS } from '../../lib/clock.js'
import type { StoreReader } from '../../storage/store.js'
import type { RateLimiter } from '../../tenants/rate-limiter.js'
import type { TemplateVault } from '../../users/template-vault.js'
import type { OpenIdClient, OpenIdClients } from './openid-clients.js'

/** Codes of refused requests, with the sentence that the guide shows. */
export const REFUSAL_CODES = {
  client_unknown: 'No application has this client id.',
  client_of_other_environment: 'The application belongs to the other environment.',
  client_not_authenticated: "The application's secret or signed assertion is wrong.",
  redirect_uri_not_registered: 'The redirect address is not registered, character by character.',
  request_not_pushed: "The request was in the browser's address instead of being pushed.",
  request_uri_not_valid: 'The pushed request is unknown, over, or was used.',
  pkce_missing: 'The request has no `code_challenge`, or not with `S256`.',
  pkce_verifier_wrong: 'The `code_verifier` is not that of the request.',
  code_not_valid: "The code is unknown, over, used, or another application's.",
  access_token_not_valid: 'The access token is unknown or over.',
  action_not_valid: 'The action in `authorization_details` is not valid.',
  person_needed: 'The application asked for an answer without the person (`prompt=none`).',
  hint_not_valid: 'The hint is not signed as it must be, is over, or is about somebody else.',
  hint_used: 'The signed hint was used before.',
  request_not_valid: 'The request breaks another rule, which `detail` names.',
  opened_elsewhere: 'Another browser than the one that began opened the page.',
  confirmed_elsewhere: 'The person confirmed in another browser.',
  interaction_over: 'The page belongs to a sign-in that is over.',
  user_not_named: 'The application named no person.',
  user_unknown: 'The person has no reference.',
  user_locked_out: 'The person is locked out.',
  user_rejected: 'The person was rejected.',
  user_disowned: 'The person said that somebody else had begun.',
  user_gave_up: 'The person canceled, or did not finish in time.',
  user_differs: 'The verdict is about another person.',
  passkey_missing: 'The person has no passkey that the request needs.',
  acr_not_reached: 'The asked-for `acr` cannot be had, or the verdict does not reach it.',
  token_not_valid: 'The token of the realm is not valid: `detail` says why.',
  token_used: 'The token of the realm came before.',
  realm_unreachable: 'The keys of the realm could not be read.',
  consent_required: "The realm's client wants a consent to scopes.",
  link_not_deliverable: 'The tenant has no webhook that takes `openid.link_ready`.',
  result_not_taken: 'The realm refused the result.',
  rate_limited: 'The tenant, the application or the person has asked too often.',
  key_not_valid: "The application's API key was revoked, or the tenant is suspended.",
  api_refused: 'The API refused the call, with the code in `detail`.',
  unavailable: 'The service could not answer.',
} as const

export type RefusalCode = keyof typeof REFUSAL_CODES

export interface Refusal {
  code: RefusalCode
  environment: Environment
  /** Client id as the request named it. Undefined where it named none. */
  clientId?: string | undefined
  /** User id of the person, as the application names its users. */
  userId?: string | undefined
  /** The fault in words. It never holds a secret or facts about the person. At most 200 characters are kept. */
  detail?: string | undefined
  /** Further facts for the audit entry, such as `capture_session`. */
  facts?: Record<string, string>
}

/** The part of a refusal that its reason decides. */
export type Refused = Pick<Refusal, 'code' | 'detail' | 'facts'>

/** A request that is refused before it becomes a sign-in. */
export class RefusedRequest extends Error {
  override readonly name = 'RefusedRequest'

  constructor(
    readonly code: RefusalCode,
    /** The fault in words, as in `Refusal`. */
    readonly detail?: string,
    options?: { cause?: unknown },
  ) {
    super(`${code}: ${detail}`, options)
  }
}

interface RefusalParts {
  store: { read: StoreReader }
  clients: OpenIdClients
  vault: Pick<TemplateVault, 'blindIndex' | 'find'>
  /** A limiter of its own: strangers decide how many refusals there are. */
  limiter: RateLimiter
  log: Logger
}

/** Codes of requests that anyone who knows a client id can send, because they are refused before anything of the application is checked. */
const OF_STRANGERS: ReadonlySet<RefusalCode> = new Set<RefusalCode>([
  'client_of_other_environment',
  'client_not_authenticated',
  'redirect_uri_not_registered',
  'request_not_pushed',
  'request_uri_not_valid',
  'request_not_valid',
  'hint_not_valid',
  'hint_used',
  'opened_elsewhere',
  'interaction_over',
  'token_not_valid',
  'realm_unreachable',
  'unavailable',
])
/**
 * Entries for one application and all codes of strangers: 30 at once, then one an hour. Strangers must not fill a log that cannot be cut;
 * the next entry counts those between.
 */
const ENTRIES_OF_STRANGERS = { ratePerSecond: SECOND_MS / HOUR_MS, burst: 30 }
/** Entries for one application and one code of an authenticated request. */
const ENTRIES = { ratePerSecond: 0.5, burst: 30 }
const MAX_DETAIL = 200
const MAX_COUNTED = 10_000

export class Refusals {
  /** Refusals without an entry of their own since the last one, by client and budget. */
  private readonly uncounted = new Map<string, number>()

  constructor(private readonly parts: RefusalParts) {}

  /** Writes the log line and the audit entry. Await it before the answer: no refusal goes without a trace. */
  async record(refusal: Refusal): Promise<void> {
    const { clients, store } = this.parts
    const client = refusal.clientId ? await clients.find(store.read, refusal.clientId) : null
    const code = codeFor(refusal, client)
    const { environment } = refusal
    const detail = refusal.detail?.slice(0, MAX_DETAIL)
    const facts = { code, environment, ...(detail === undefined ? {} : { detail }), ...refusal.facts }
    this.parts.log.info({ ...facts, client: client?.record.id ?? null }, 'refused an OpenID request')
    if (!client) return
    const count = await this.countFor(client, code)
    if (count === 0) return
    const subject = await this.subjectOf(client, refusal.userId)
    await this.parts.clients.refused(client, {
      ...facts,
      ...(subject ? { subject } : {}),
      ...(count > 1 ? { count } : {}),
    })
  }

  /** @returns the number of refusals for which the next entry stands; 0 where it is not yet time for one */
  private async countFor({ record }: OpenIdClient, code: RefusalCode): Promise<number> {
    const isOfStrangers = OF_STRANGERS.has(code)
    const holder = `${record.id} ${isOfStrangers ? 'strangers' : code}`
    const count = 1 + (this.uncounted.get(holder) ?? 0)
    const entries = isOfStrangers ? ENTRIES_OF_STRANGERS : ENTRIES
    const { allowed } = await this.parts.limiter.take(`openid-refusals ${holder}`, entries)
    this.uncounted.delete(holder)
    if (allowed) return count
    if (this.uncounted.size < MAX_COUNTED) this.uncounted.set(holder, count)
    return 0
  }

  /** The pseudonym of an enrolled person in the audit log. */
  private async subjectOf({ record }: OpenIdClient, userId: string | undefined): Promise<string | null> {
    if (userId === undefined) return null
    const { vault, store } = this.parts
    const index = vault.blindIndex(record.tenantId, record.environment, userId)
    return (await vault.find(store.read, index, userId))?.pseudonym ?? null
  }
}

function codeFor({ code, environment }: Refusal, client: OpenIdClient | null): RefusalCode {
  if (client && client.record.environment !== environment) return 'client_of_other_environment'
  return code
}
