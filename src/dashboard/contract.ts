/**
 * The dashboard's API as its pages and its routes both see it: types, and constants that are data of the contract. The pages
 * are built from this file too, so it imports nothing that runs.
 */
import type { Static, TSchema } from 'typebox'
import type { erasureSchema } from '../api/delete.js'
import type { userSchema } from '../api/get-user.js'
import type { rotationSchema } from '../api/rotate-signing.js'
import type { AuditEventName } from '../audit/audit-events.js'
import type { Environment } from '../config/config.js'
import type { LivenessRequirement } from '../config/liveness-requirement.js'
import type { Scope } from '../tenants/key-scopes.js'
import type * as bodies from './bodies.js'

export type { Environment }

/** `/api/session`. */
export interface SessionRoutes {
  'GET /session': { answer: SessionView }
  'POST /session': { body: typeof bodies.credentials; answer: SessionView }
  'DELETE /session': { answer: SignedOut }
}

/** The operator's: what follows `/api`. */
export interface OperatorRoutes {
  'GET /tenants': { answer: TenantList }
  'POST /tenants': { body: typeof bodies.newTenant; answer: NewTenant }
  'GET /operators': { answer: OperatorList }
  'POST /operators': { body: typeof bodies.newOperator; answer: NewOperatorPassword }
  'POST /operators/role': { body: typeof bodies.operatorRole; answer: OperatorView }
  'POST /operators/password': { body: typeof bodies.namedOperator; answer: NewOperatorPassword }
  'POST /operators/remove': { body: typeof bodies.namedOperator; answer: OperatorView }
  'POST /operators/sign-out': { body: typeof bodies.namedOperator; answer: { sessions: number } }
  'GET /sessions': { answer: SessionList }
  'POST /sessions/end': { body: typeof bodies.sessionChoice; answer: ListedSession }
  /** Makes a secret, in force once a code of it was confirmed. */
  'POST /second-factor': { answer: { secret: string; uri: string } }
  'POST /second-factor/confirm': {
    body: typeof bodies.secondFactorCode
    answer: { recovery_codes: string[] }
  }
  'POST /second-factor/remove': { answer: { removed: boolean } }
  'POST /operators/second-factor/remove': { body: typeof bodies.namedOperator; answer: { removed: boolean } }
  /** Chooses the person's own password; the person's other sessions end. */
  'POST /password': { body: typeof bodies.chosenPassword; answer: { chosen: true } }
  'POST /session/confirm': { body: typeof bodies.confirmation; answer: { fresh_until: string } }
  'GET /system': { answer: SystemView }
}

/** A tenant's: what follows `/api/tenants/<id>`, where the slash that stands alone is left out. */
export interface TenantRoutes {
  'GET /': { answer: TenantOverview }
  'PATCH /': { body: typeof bodies.tenantContract; answer: TenantView }
  'DELETE /': { body: typeof bodies.tenantDeletion; answer: TenantErasureView }
  'POST /suspend': { answer: TenantView }
  'POST /resume': { answer: TenantView }
  'POST /login-link': { answer: { login_link: string } }
  'GET /sessions': { answer: SessionList }
  'POST /sessions/end': { body: typeof bodies.sessionChoice; answer: ListedSession }
  /** Ends every session of the tenant, and its login links that nobody has used. */
  'POST /sign-out': { answer: { sessions: number; links: number } }
  'GET /capture-page': { answer: CapturePageView }
  'POST /capture-page': { body: typeof bodies.capturePage; answer: CapturePageView }
  'GET /people': { answer: PersonList }
  'POST /people': { body: typeof bodies.newOperator; answer: InvitedPerson }
  'POST /people/role': { body: typeof bodies.operatorRole; answer: PersonView }
  /** Ends password and sessions, and makes a new link. */
  'POST /people/reset': { body: typeof bodies.namedOperator; answer: InvitedPerson }
  'POST /people/second-factor/remove': { body: typeof bodies.namedOperator; answer: { removed: boolean } }
  'POST /people/sign-out': { body: typeof bodies.namedOperator; answer: { sessions: number } }
  'POST /people/remove': { body: typeof bodies.namedOperator; answer: PersonView }
  'GET /traffic': { query: TrafficQuery; answer: TrafficView }
  'POST /keys/reveal': { body: typeof bodies.keyReveal; answer: RevealedProduction }
  'POST /keys/reissue': { body: typeof bodies.keyReissue; answer: RevealedKey }
  'POST /keys/revoke': { body: typeof bodies.keyRevocation; answer: { revoked: number } }
  /** A further key, with scopes and networks of its own. */
  'POST /keys': { body: typeof bodies.newKey; answer: RevealedKey }
  'POST /keys/named/reissue': { body: typeof bodies.namedKeyReissue; answer: RevealedKey }
  'POST /keys/named/revoke': { body: typeof bodies.namedKey; answer: { revoked: string } }
  'POST /rotate-signing': { body: typeof bodies.rotation; answer: RotationView }
  /** In a body, so that no address holds a user id. */
  'POST /users/find': { body: typeof bodies.userQuestion; answer: { user: UserView | null } }
  'POST /users/unlock': { body: typeof bodies.unlocking; answer: { rejections: number } }
  'POST /erase': { body: typeof bodies.erasure; answer: ErasureView }
  'GET /webhooks': { answer: WebhookList }
  'POST /webhooks': { body: typeof bodies.newWebhook; answer: { id: string } }
  'POST /webhooks/remove': { body: typeof bodies.webhookChoice; answer: { removed: string } }
  'POST /webhooks/test': { body: typeof bodies.webhookChoice; answer: { delivery: string } }
  'GET /webhooks/deliveries': { query: DeliveryQuery; answer: DeliveryPage }
  'POST /webhooks/redeliver': { body: typeof bodies.deliveryChoice; answer: { event_id: string } }
  'GET /requests': { query: RequestQuery; answer: RequestPage }
  /** A question as well: in a body, so that no address holds a user id. */
  'POST /requests/subject': { body: typeof bodies.userQuestion; answer: { subject: string | null } }
  'GET /audit': { query: AuditPageQuery; answer: AuditPage }
  'POST /audit/subject': { body: typeof bodies.subjectQuestion; answer: { subject: string | null } }
  'GET /audit/chain': { answer: AuditChain }
  'GET /audit/consent-text': { query: ConsentTextQuery; answer: { texts: ConsentTextView[] } }
  /** A file, not JSON. */
  'GET /audit/export': { query: AuditExportQuery }
  'POST /try/inspect': { body: typeof bodies.inspection; answer: Inspection }
  /** Its body is the API's, as it is: the API's own rules for bodies hold. The key stands in the header TRIED_KEY_HEADER. */
  'POST /try/call': { query: TriedCallQuery; answer: TriedCall }
}

export type InputOf<Route> = Route extends { body: infer Body extends TSchema } ? Static<Body> : undefined
export type AnswerOf<Route> = Route extends { answer: infer Answer } ? Answer : never
export type QueryOf<Route> = Route extends { query: infer Query } ? Query : Record<never, never>

export const TRIED_KEY_HEADER = 'X-Tried-Key'

/** By this header a page says that it asks again by itself: that is no use of the session. */
export const BACKGROUND_HEADER = 'X-Background'

/** Where the admin listener has the sandbox's API, for the API reference: `/v1/…` follows. */
export const SANDBOX_PATH = '/sandbox'

export interface TriedCallQuery {
  operation: 'challenge' | 'enroll' | 'guidance' | 'verify'
}

export const PERSON_ROLES = ['admin', 'viewer'] as const
export type PersonRole = (typeof PERSON_ROLES)[number]

/**
 * Why a sign-in by the provider failed. The browser is led to `#/<PROVIDER_SIGN_IN>/<problem>/<request id>`: a word of this
 * list, so that nobody can put a text of their own on the page by a link.
 */
export const PROVIDER_SIGN_IN = 'sign-in-failed'
export const PROVIDER_PROBLEMS = [
  'not_begun_here',
  'provider_unreachable',
  'provider_refused',
  'invalid_answer',
  'nameless',
  'unknown_person',
  'tenant_suspended',
  'not_fresh',
  'rate_limited',
  'internal_error',
] as const
export type ProviderProblem = (typeof PROVIDER_PROBLEMS)[number]

export interface SessionView {
  role: 'operator' | 'tenant'
  /** The name is `operator` or `tenant` for a person without one. */
  person: { name: string; role: PersonRole }
  /** Null for an operator. */
  tenant_id: string | null
  csrf_token: string
  /** Unless it is used before. */
  expires_at: string
  /** How it began, and so how its person shows again who they are. */
  method: 'link' | 'password' | 'oidc'
  /** `required`: there is none, and nothing else is answered before. Null for a session that no password began. */
  second_factor: 'enrolled' | 'none' | 'required' | null
  /** `required`: an invitation was opened, and nothing else is answered before. Null for a person who has none of their own. */
  password: 'required' | 'own' | null
}

/** A session of the dashboard, in a list of them. */
export interface ListedSession {
  id: string
  /** Name of the operator, `operator` for the one without a name; null for a tenant's. */
  operator: string | null
  /** Name of the tenant; null for an operator's. */
  tenant: string | null
  tenant_id: string | null
  /** Name of the tenant's person; null for an operator's, and for one that a login link began. */
  person: string | null
  /** Null, as are the times, address and browser, for a session that an earlier version began. */
  method: 'link' | 'password' | 'oidc' | null
  created_at: string | null
  last_used_at: string | null
  /** Unless it is used before. */
  ends_at: string
  address: string | null
  browser: string | null
  /** The one that asks. */
  is_own: boolean
}

export interface SessionList {
  sessions: ListedSession[]
}

export interface SignedOut {
  signed_in: false
}

export interface TenantView {
  id: string
  name: string
  created_at: string
  rate_per_second: number
  burst: number
  fmr: number | null
  require_liveness: LivenessRequirement | null
  /** Age of the verdict without which no reference is replaced; null where none is needed. */
  replace_verdict_minutes: number | null
  production_key: 'not issued' | 'issued, not revealed yet' | 'revealed'
  status: 'active' | 'suspended' | 'deleted'
  suspended_at: string | null
  deleted_at: string | null
}

export interface TenantList {
  tenants: TenantView[]
}

/** Of a tenant that was just made: what is shown only then. */
export interface NewTenant {
  tenant: TenantView
  sandbox_key: string
  signing_secret: { id: string; secret: string }
  login_link: string
}

export interface TenantOverview extends TenantView {
  now: string
  fmr_in_force: number
  threshold: number
  model: string
  urls: Urls
  keys: KeyView[]
  signing_secrets: SigningSecretView[]
  /** Users who have one. */
  references: Record<Environment, number>
  audit_entries: number
}

/** Receipt of a tenant that was deleted. */
export interface TenantErasureView {
  tenant_id: string
  name: string
  status: 'deleted'
  erasure_id: string
  erased_at: string
  erased: { users: number; references: number; captures: number; idempotency_records: number }
}

export interface OperatorView {
  name: string
  role: PersonRole
  created_at: string
  /** Null before the first one; so is how. */
  last_sign_in_at: string | null
  last_sign_in_by: 'password' | 'oidc' | null
}

export interface OperatorList {
  /** Those who have a name; whoever has the operator's password is none of them. */
  operators: Array<OperatorView & { second_factor: boolean }>
  /** The OpenID provider by which they may sign in, too: its claim is an operator's name. */
  provider: { issuer: string; claim: string } | null
}

/** A tenant's settings of the hosted capture page. */
export interface CapturePageView {
  tenant_name: string
  /** Null for the tenant's name. */
  company: string | null
  /** Where the page may lead back to; no session can be made while there is none. */
  return_origins: string[]
  /** Whose pages may show it in a frame. */
  frame_ancestors: string[]
  /** Null for the page's own text. */
  consent: { version: string; text: string } | null
  /** #rrggbb; null for the page's own. */
  color: string | null
  /** The PNG that the page shows, as base64; null for none. */
  logo: string | null
}

/** Somebody who signs in for a tenant. */
export interface PersonView extends OperatorView {
  /** `invited` before a password was chosen; `provider` for one whom only the provider's groups let in. */
  state: 'invited' | 'active' | 'provider'
}

export interface PersonList {
  people: Array<PersonView & { second_factor: boolean }>
  /** The OpenID provider by which they may sign in, too. */
  provider: { issuer: string; claim: string } | null
}

/** The link is shown only once. */
export interface InvitedPerson {
  person: PersonView
  sign_in_link: string
}

/** Shown only once. */
export interface NewOperatorPassword {
  operator: OperatorView
  password: string
}

export type Urls = Record<Environment | 'admin', string>

export interface KeyView {
  id: string
  type: Environment
  /** Null for the first key of the environment and its successors. */
  name: string | null
  hint: string
  /** Null for all. */
  scopes: Scope[] | null
  /** Null for any. */
  networks: string[] | null
  /** Client certificate that it needs; null for none. */
  certificate: string | null
  state: 'active' | 'grace' | 'expired' | 'revoked'
  created_at: string
  valid_until: string | null
  revoked_at: string | null
  rate: { per_second: number; burst: number; remaining: number }
}

export interface SigningSecretView {
  id: string
  created_at: string
  valid_until: string | null
}

/** Shown only once. */
export interface RevealedKey {
  key: string
}

export interface RevealedProduction extends RevealedKey {
  /** Where a new one was asked for. */
  signing_secret?: { id: string; secret: string }
}

/** The answers of the API's own endpoints, whose schemas describe them. */
export type RotationView = Omit<Static<typeof rotationSchema>, 'overlap_seconds'>
export type UserView = Static<typeof userSchema>
export type ErasureView = Static<typeof erasureSchema>

export interface WebhookList {
  webhooks: WebhookView[]
  /** Types of event to choose from. */
  event_types: readonly string[]
  most_webhooks: number
  /** The tenant is suspended: what is to be sent waits. */
  is_held: boolean
}

export interface WebhookView {
  id: string
  environment: Environment
  /** Without what may be a token: the values of its query. */
  url: string
  /** Empty for all. */
  events: string[]
  created_at: string
  waiting: number
  /** Events that found too many waiting. */
  dropped: number
  /** `failing` from a try that was not taken until one that is. */
  health: 'untried' | 'working' | 'failing'
  /** Tries since the last one that was taken. */
  failures: number
  last_success_at: string | null
  last_failure_at: string | null
  /** HTTP status of that try, or why there was none. */
  last_failure: string | null
}

export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'erased'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

export interface DeliveryQuery {
  /** All where it is empty or missing; `failed` includes those that wait for another try after one that was not taken. */
  status?: DeliveryState | ''
  /** A cursor to go on from. */
  before?: string
}

export interface DeliveryPage {
  /** Newest first. */
  deliveries: DeliveryView[]
  next_before: string | null
  /** After which one is given up. */
  most_attempts: number
}

export interface DeliveryView {
  id: string
  event_id: string
  webhook: string
  type: string
  status: DeliveryState
  attempts: number
  /** HTTP status of the last try, or why there was none. */
  last_outcome: string | null
  created_at: string
  next_attempt_at: string | null
  finished_at: string | null
  replayable: boolean
}

export const TRAFFIC_WINDOWS = ['quarter', 'hour', 'day', 'week'] as const
export type TrafficWindow = (typeof TRAFFIC_WINDOWS)[number]

export interface TrafficQuery {
  /** An hour where it is not named. */
  window?: TrafficWindow
}

export interface TrafficView {
  window: TrafficWindow
  /** Milliseconds since the epoch. */
  now: number
  step_ms: number
  span_ms: number
  score_bins: number
  /** Totals of the whole window. */
  environments: Record<Environment, TrafficTotal>
  /** Oldest first; steps without a request are left out. */
  slots: TrafficSlot[]
}

/** The requests of one environment within a window. */
export interface TrafficTotal {
  latencies: LatencyView
  /** Errors by their code. */
  codes: Record<string, number>
  /** Rejections by their reason. */
  reasons: Record<string, number>
}

/** One step of a window. */
export interface TrafficSlot extends Record<Environment, TrafficCount> {
  /** Start, in milliseconds since the epoch. */
  at: number
  /** Requests by the secret that the caller said it holds; `unnamed` for those that named none. */
  signingKeys: Record<string, number>
}

/** The requests of one environment within one step. */
export interface TrafficCount {
  requests: number
  /** Answered with a status of 400 or more. */
  errors: number
  /** Of the errors, those with status 429. */
  limited: number
  approved: number
  rejected: number
  latencies: LatencyView
  /** Verdicts by score: bin i counts scores from i / score_bins. Production only: the sandbox invents its scores. */
  scores: number[]
}

/** By kind of call (`CALL_KINDS`), then by stage; `total` is the whole request. */
export type LatencyView = Record<string, Record<string, Percentiles>>

/** `[p50, p95, p99]` in milliseconds. */
export type Percentiles = [number, number, number]

/** Of a verify its verdict; of everything else whether it was `done` or `failed`. */
export const AUDIT_OUTCOMES = ['approved', 'rejected', 'done', 'failed'] as const
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number]

/** Endpoints that the request log has: guidance comes too often, and would hide the others. */
export const LOGGED_ENDPOINTS = [
  'enroll',
  'verify',
  'delete',
  'get_user',
  'create_challenge',
  'create_capture_session',
  'get_capture_session',
  'list_audit',
  'rotate_signing',
  'health',
  'unknown',
] as const

/** An empty or missing field filters nothing. */
export interface RequestQuery {
  /** Production where it is missing. */
  environment?: Environment
  /** Request id, client request id or verification id, in either environment: all else is then ignored. */
  id?: string
  /** As `POST /requests/subject` answers it. */
  subject?: string
  /** Error code, or reason of a rejection. */
  code?: string
  endpoint?: string
  outcome?: string
  /** ISO 8601, the first moment within. */
  from?: string
  /** ISO 8601, the first moment beyond. */
  until?: string
  /** A request id to go on from. */
  before?: string
}

export interface RequestPage {
  /** Newest first. It may be empty though older ones match: a page looks through a bounded part of the log. */
  requests: RequestView[]
  next_before: string | null
  /** For how long, and how many of each kind. */
  kept: { days: number; entries: number }
}

export interface RequestView {
  request_id: string
  at: string
  environment: Environment
  endpoint: string
  status: number
  /** Error code, or reason of a rejection. */
  code: string | null
  verdict: 'approved' | 'rejected' | null
  /** The answer was kept from an earlier request. */
  is_replay: boolean
  duration_ms: number
  key_id: string | null
  address: string | null
  client_request_id: string | null
  verification_id: string | null
  /** Pseudonym of the user. */
  subject: string | null
  /** In the sandbox only. */
  user_id: string | null
  /** The general meaning of the request's error code, and its page; null where the request was not refused. */
  error: { message: string; remedy: string; doc_url: string } | null
}

/** An empty or missing field filters nothing. */
export interface AuditQuery {
  event?: AuditEventName | ''
  /** Request id or verification id: it says when, so that from and until are ignored. */
  id?: string
  /** Pseudonym of a user. */
  subject?: string
  outcome?: AuditOutcome | ''
  /** ISO 8601, the first moment within. */
  from?: string
  /** ISO 8601, the first moment beyond. */
  until?: string
}

export interface AuditPageQuery extends AuditQuery {
  /** A sequence to go on from. */
  before?: string
}

export interface AuditExportQuery extends AuditQuery {
  format: 'csv' | 'jsonl'
}

export interface AuditPage {
  /** Newest first. It may be empty though older ones match: a page looks through a bounded part of the log. */
  entries: AuditEntry[]
  next_before: number | null
}

export interface AuditEntry {
  sequence: number
  at: string
  event: AuditEventName
  actor: string
  status?: number
  code?: string
  /** Pseudonym of a user. */
  subject?: string
  verdict?: string
  /** Of a rejection. */
  reason?: string | null
  score?: number
  /** Chain value, in hex. */
  hash: string
  [fact: string]: unknown
}

export interface AuditChain {
  entries: number
  /** The first sequence that does not fit or is missing. */
  broken_at: number | null
}

export interface ConsentTextQuery {
  /** `consent_sha256` of an entry. */
  sha256: string
}

/** A text that people have agreed to on the hosted capture page. */
export interface ConsentTextView {
  version: string
  /** Language of the page that showed the text first. */
  language: string
  first_agreed_at: string
  text: string
}

/** What the engine sees in a photo. */
export interface Inspection {
  box: { x: number; y: number; width: number; height: number }
  landmarks: Array<[number, number]> | null
  quality: {
    score: number
    face_width_px: number
    detection: number
    sharpness: number
    brightness: number
    contrast: number
  }
  liveness: { checked: boolean; score: number | null; passed: boolean | null }
  timings_ms: Record<string, number>
}

/** What the API answered to a call that the page made. */
export interface TriedCall {
  environment: Environment
  status: number
  headers: Record<string, string>
  body: Record<string, unknown>
  signature_valid: boolean
  jwt?: { valid: boolean; kid: string | undefined; claims: unknown }
}

export interface SystemView {
  version: string
  /** The commit that the service was built from; `unknown` where the build did not say. */
  commit: string
  node: string
  now: string
  started_at: string
  urls: Urls
  /** False where metrics have a listener of their own. */
  has_metrics: boolean
  engine: {
    status: 'ok' | 'degraded'
    workers: { ready: number; configured: number }
    queue: { waiting: number; running: number; limit: number }
    provider: { active: string; fallbacks: Array<{ provider: string; reason: string }> }
  }
  memory_bytes: number
  upkeep: {
    /** Null where it cannot be read. */
    disk_free_bytes: number | null
    /** Null for never; left out where the service makes no backups. */
    last_backup?: string | null
    /** By group of listeners; null where they show none. */
    certificates: Array<{ listeners: string; expires_at: string | null }>
  }
  database: {
    status: 'ok' | 'degraded'
    bytes: number
    /** Null where the log is shared with other databases. */
    log_bytes: number | null
    counts: { tenants: number; references: Record<Environment, number>; auditEntries: number }
  }
  pack: {
    id: string
    description: string
    grade: 'production' | 'evaluation'
    /** The row of the calibration that decides where a contract names no rate. */
    fmr_in_force: number
    /** What the pack lacks for production, a clause each. */
    reasons: string[]
    networks: Array<{ file: string; licence: string }>
    calibration: Array<{ fmr: number; threshold: number; measured: boolean }>
  }
  packs: Array<{ id: string; active: boolean; problem: string | null }>
  /** All that serve from the database, this one among them; none where it is this one's alone. */
  nodes: Array<{
    name: string
    version: string
    commit: string
    /** Schema version of the database, as the node's code knows it; null for a version that does not say. */
    schema: number | null
    since: string
    is_serving: boolean
    lease_ms: number
    /** Why it is not ready; empty for one that is. */
    not_ready: string[]
  }>
  /** Which they have not all alike. */
  differing_settings: string[]
}
