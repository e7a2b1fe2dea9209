/**
 * The dashboard's API as its pages and its routes both see it: types, and constants that are data of the contract. The pages
 * are built from this file too, so it imports nothing that runs.
 */

import type { Static } from 'typebox'
import type { PackGrade } from '../../models/pack/grades.js'
import type { ExportUser } from '../admin/export-user.js'
import type { MigrationView, ProgressView } from '../admin/model-views.js'
import type { erasureSchema } from '../api/endpoints/delete.js'
import type { userSchema } from '../api/endpoints/get-user.js'
import type { rotationSchema } from '../api/endpoints/rotate-signing.js'
import type { Environment } from '../config/config.js'
import type { LivenessRequirement } from '../config/liveness-requirement.js'
import type { CapturePageRoutes } from '../features/capture-sessions/console-routes.js'
import type { InsightRoutes } from '../features/insight/console-routes.js'
import type { RequestRoutes } from '../features/insight/requests/request-routes.js'
import type { TrafficView, TrafficWindow } from '../features/insight/traffic/traffic-view.js'
import type { OpenIdClientRoutes } from '../features/openid/console/console-routes.js'
import type { PasskeyRoutes } from '../features/passkeys/console/console-routes.js'
import type { PolicyRoutes } from '../features/policies/console-routes.js'
import type { Scope } from '../tenants/key-scopes.js'
import type * as bodies from './bodies.js'
import type { AuditEntry, AuditPageQuery, AuditQuery } from './lib/audit-contract.js'
import type { Secret, Urls } from './lib/route.js'

export type { CapturePageView } from '../features/capture-sessions/console-routes.js'
export type { DriftList, TrafficQuery } from '../features/insight/console-routes.js'
export type { RequestPage, RequestQuery, RequestView } from '../features/insight/requests/request-routes.js'
export type { Percentiles } from '../features/insight/traffic/latency-counts.js'
export type { TrafficSlot } from '../features/insight/traffic/traffic-view.js'
export type {
  NewOpenIdClientSecret,
  OpenIdClientList,
  OpenIdClientView,
} from '../features/openid/console/console-routes.js'
export type { PasskeySettingsView, PasskeyView } from '../features/passkeys/console/console-routes.js'
export type {
  CheckedPolicy,
  PolicyChangeView,
  PolicyHashes,
  PolicyVersionQuery,
  PolicyVersionView,
  PolicyView,
} from '../features/policies/console-routes.js'
export {
  AUDIT_OUTCOMES,
  type AuditEntry,
  type AuditOutcome,
  type AuditPageQuery,
  type AuditQuery,
} from './lib/audit-contract.js'
export type { AnswerOf, InputOf, QueryOf, Secret, Urls } from './lib/route.js'
export type { Environment, TrafficView, TrafficWindow }

/** The routes of `/api/session`. */
export interface SessionRoutes {
  'GET /session': { answer: SessionView }
  'POST /session': { body: typeof bodies.credentials; answer: SessionView }
  'DELETE /session': { answer: SignedOut }
}

/** The operator's routes, without the prefix `/api`. */
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
  /** Makes a secret, which takes effect once the person has confirmed a code. */
  'POST /second-factor': { answer: { secret: Secret; uri: Secret } }
  'POST /second-factor/confirm': {
    body: typeof bodies.secondFactorCode
    answer: { recovery_codes: Secret[] }
  }
  'POST /second-factor/remove': {
    body: typeof bodies.secondFactorCode
    answer: { removed: boolean }
  }
  'POST /operators/second-factor/remove': { body: typeof bodies.namedOperator; answer: { removed: boolean } }
  /** Chooses the person's own password; the person's other sessions end. */
  'POST /password': { body: typeof bodies.chosenPassword; answer: { chosen: true } }
  'POST /session/confirm': { body: typeof bodies.confirmation; answer: { fresh_until: string } }
  'GET /system': { answer: SystemView }
  'GET /models': { answer: ModelsView }
  'POST /models/begin': { body: typeof bodies.modelChange; answer: MigrationView }
  /** Sets when the decision moves automatically. */
  'POST /models/plan': { body: typeof bodies.modelPlan; answer: MigrationView }
  'POST /models/decide': { body: typeof bodies.modelDecision; answer: MovedDecisions }
  'POST /models/back': { body: typeof bodies.modelDecision; answer: MovedDecisions }
  /** Begins to delete the templates of one model. The service deletes them within two minutes. */
  'POST /models/finish': { body: typeof bodies.modelFinish; answer: MigrationView }
  'POST /verdict-keys/rotate': {
    body: typeof bodies.verdictKeyRotation
    answer: Pick<SystemView, 'verdict_keys'>
  }
}

/** A tenant's routes, without the prefix `/api/tenants/<id>`. `GET /` stands for the prefix itself. */
export interface TenantRoutes
  extends OwnTenantRoutes,
    CapturePageRoutes,
    InsightRoutes,
    OpenIdClientRoutes,
    PasskeyRoutes,
    PolicyRoutes,
    RequestRoutes {}

/** The routes of a tenant that belong to the core. */
export interface OwnTenantRoutes {
  'GET /': { answer: TenantOverview }
  'PATCH /': { body: typeof bodies.tenantContract; answer: TenantView }
  'DELETE /': { body: typeof bodies.tenantDeletion; answer: TenantErasureView }
  'POST /suspend': { answer: TenantView }
  'POST /resume': { answer: TenantView }
  'POST /login-link': { answer: { login_link: Secret } }
  'GET /sessions': { answer: SessionList }
  'POST /sessions/end': { body: typeof bodies.sessionChoice; answer: ListedSession }
  /** Ends every session of the tenant, and its login links that nobody has used. */
  'POST /sign-out': { answer: { sessions: number; links: number } }
  'GET /people': { answer: PersonList }
  'POST /people': { body: typeof bodies.newOperator; answer: InvitedPerson }
  'POST /people/role': { body: typeof bodies.operatorRole; answer: PersonView }
  /** Ends password and sessions, and makes a new link. */
  'POST /people/reset': { body: typeof bodies.namedOperator; answer: InvitedPerson }
  'POST /people/second-factor/remove': { body: typeof bodies.namedOperator; answer: { removed: boolean } }
  'POST /people/sign-out': { body: typeof bodies.namedOperator; answer: { sessions: number } }
  'POST /people/remove': { body: typeof bodies.namedOperator; answer: PersonView }
  'POST /keys/reveal': { body: typeof bodies.keyReveal; answer: RevealedProduction }
  'POST /keys/reissue': { body: typeof bodies.keyReissue; answer: RevealedKey }
  'POST /keys/revoke': { body: typeof bodies.keyRevocation; answer: { revoked: number } }
  /** A further key, with scopes and networks of its own. */
  'POST /keys': { body: typeof bodies.newKey; answer: RevealedKey }
  'POST /keys/named/reissue': { body: typeof bodies.namedKeyReissue; answer: RevealedKey }
  'POST /keys/named/revoke': { body: typeof bodies.namedKey; answer: { revoked: string } }
  'POST /rotate-signing': { body: typeof bodies.rotation; answer: RotationView }
  /** The user id comes in a body, so that no address holds it. */
  'POST /users/find': { body: typeof bodies.userQuestion; answer: { user: UserView | null } }
  /** Everything that is kept about the user, apart from the templates. The audit log records the export. */
  'POST /users/export': { body: typeof bodies.userQuestion; answer: ExportedUser }
  'POST /users/unlock': { body: typeof bodies.unlocking; answer: { rejections: number } }
  'POST /erase': { body: typeof bodies.erasure; answer: ErasureView }
  'GET /webhooks': { answer: WebhookList }
  'POST /webhooks': { body: typeof bodies.newWebhook; answer: { id: string } }
  'POST /webhooks/remove': { body: typeof bodies.webhookChoice; answer: { removed: string } }
  'POST /webhooks/test': { body: typeof bodies.webhookChoice; answer: { delivery: string } }
  'GET /webhooks/deliveries': { query: DeliveryQuery; answer: DeliveryPage }
  'POST /webhooks/redeliver': { body: typeof bodies.deliveryChoice; answer: { event_id: string } }
  'GET /verification': { query: VerificationQuery; answer: { facts: Record<string, unknown> | null } }
  'GET /audit': { query: AuditPageQuery; answer: AuditPage }
  'POST /audit/subject': { body: typeof bodies.subjectQuestion; answer: { subject: string | null } }
  'GET /audit/chain': { answer: AuditChain }
  /** Answers with a file instead of JSON. */
  'GET /audit/export': { query: AuditExportQuery }
  'POST /try/inspect': { body: typeof bodies.inspection; answer: Inspection }
  /** Takes the body of the API call unchanged, under the API's own rules for bodies. The key stands in the header TRIED_KEY_HEADER. */
  'POST /try/call': { query: TriedCallQuery; answer: TriedCall }
}

export const TRIED_KEY_HEADER = 'X-Tried-Key'

/** Marks a request that a page repeats automatically. Such a request does not extend the session. */
export const BACKGROUND_HEADER = 'X-Background'

/** Prefix under which the admin listener serves the sandbox's API for the API reference; `/v1/…` follows it. */
export const SANDBOX_PATH = '/sandbox'

export interface TriedCallQuery {
  operation: 'challenge' | 'enroll' | 'guidance' | 'verify'
}

export const PERSON_ROLES = ['admin', 'viewer'] as const
export type PersonRole = (typeof PERSON_ROLES)[number]

/**
 * The page to which a failed sign-in by the provider leads: `#/<PROVIDER_SIGN_IN>/<problem>/<request id>`. The problem is a word of the
 * list below, so that nobody can put their own text on the page by a link.
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
  'too_many_sign_ins',
  'internal_error',
] as const
export type ProviderProblem = (typeof PROVIDER_PROBLEMS)[number]

export interface SessionView {
  role: 'operator' | 'tenant'
  /** The name is `operator` or `tenant` for a person without a name. */
  person: { name: string; role: PersonRole }
  /** Id of the person's tenant, or null for an operator. */
  tenant_id: string | null
  csrf_token: string
  /** Time at which the session ends unless it is used before. */
  expires_at: string
  /** How the session began, which is also how the person confirms their identity. */
  method: 'link' | 'password' | 'oidc'
  /** `required` when the person must set up a second factor before any other request. Null where the provider is responsible for it, and where nobody has a name. */
  second_factor: 'enrolled' | 'none' | 'required' | null
  /**
   * `required` when the person opened an invitation and must choose a password before any other request. Null for a person without a
   * password.
   */
  password: 'required' | 'own' | null
}

/** An entry in a list of dashboard sessions. */
export interface ListedSession {
  id: string
  /** Name of the operator, `operator` when the operator has no name, or null for a tenant's session. */
  operator: string | null
  /** Name of the tenant, or null for an operator's session. */
  tenant: string | null
  tenant_id: string | null
  /** Name of the tenant's person, or null for an operator's session and for one that a login link began. */
  person: string | null
  /** How the session began. An earlier version did not record it, nor the times, address and browser: all are null then. */
  method: 'link' | 'password' | 'oidc' | null
  created_at: string | null
  last_used_at: string | null
  /** Time at which the session ends unless it is used before. */
  ends_at: string
  address: string | null
  browser: string | null
  /** Whether this is the session that made the request. */
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
  /** Greatest age of the verdict that must allow the replacement of a reference; null when none is required. */
  replace_verdict_minutes: number | null
  production_key: 'not issued' | 'issued, not revealed yet' | 'revealed'
  status: 'active' | 'suspended' | 'deleted'
  suspended_at: string | null
  deleted_at: string | null
}

export interface TenantList {
  tenants: TenantView[]
}

/** A new tenant with its secrets, which are shown only once. */
export interface NewTenant {
  tenant: TenantView
  sandbox_key: Secret
  signing_secret: { id: string; secret: Secret }
  login_link: Secret
}

export interface TenantOverview extends TenantView {
  now: string
  fmr_in_force: number
  threshold: number
  model: string
  urls: Urls
  keys: KeyView[]
  signing_secrets: SigningSecretView[]
  /** How many users have a reference. */
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
  erased: { users: number } & ErasureView['erased']
}

export interface OperatorView {
  name: string
  role: PersonRole
  created_at: string
  /** Time of the last sign-in, or null before the first. */
  last_sign_in_at: string | null
  last_sign_in_by: 'password' | 'oidc' | null
}

export interface OperatorList {
  /** The operators with names. A person who only has the operator's password is not listed. */
  operators: Array<OperatorView & { second_factor: boolean }>
  /** The OpenID provider by which operators may also sign in. Its claim holds the operator's name. */
  provider: { issuer: string; claim: string } | null
}

/** A person who signs in for a tenant. */
export interface PersonView extends OperatorView {
  /** `invited` before the person has chosen a password; `provider` for a person whom only the provider's groups admit. */
  state: 'invited' | 'active' | 'provider'
}

export interface PersonList {
  people: Array<PersonView & { second_factor: boolean }>
  /** The OpenID provider by which people may also sign in. */
  provider: { issuer: string; claim: string } | null
}

/** An invited person, with the link that is shown only once. */
export interface InvitedPerson {
  person: PersonView
  sign_in_link: Secret
}

/** A new password of an operator, which is shown only once. */ export interface NewOperatorPassword {
  operator: OperatorView
  password: Secret
}

export interface KeyView {
  id: string
  type: Environment
  /** Name of the key, or null for the first key of the environment and its successors. */
  name: string | null
  hint: string
  /** Scopes of the key, or null for all. */
  scopes: Scope[] | null
  /** Networks from which the key may be used, or null for any. */
  networks: string[] | null
  /** Client certificate that the key requires, or null for none. */
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

/** A key, which is shown only once. */ export interface RevealedKey {
  key: Secret
}

export interface RevealedProduction extends RevealedKey {
  /** The new signing secret, when one was asked for. */
  signing_secret?: { id: string; secret: Secret }
}

/** The answers of the API's own endpoints, whose schemas describe them. */
export type RotationView = Omit<Static<typeof rotationSchema>, 'overlap_seconds'> & {
  signing_secret: { secret: Secret }
}
export type UserView = Static<typeof userSchema> & {
  /** Absent in a service without passkeys. */
  passkeys?: number
}
export type ErasureView = Static<typeof erasureSchema>
export type ExportedUser = Awaited<ReturnType<ExportUser['run']>>

export interface WebhookList {
  webhooks: WebhookView[]
  /** Types of event to choose from. */
  event_types: readonly string[]
  max_webhooks: number
  /** Whether the tenant is suspended, so that deliveries wait. */
  is_held: boolean
}

export interface WebhookView {
  id: string
  environment: Environment
  /** Address without the values of its query, which may be tokens. */
  url: string
  /** Types of event that are sent; empty for all. */
  events: string[]
  created_at: string
  waiting: number
  /** How many events were dropped because too many were waiting. */
  dropped: number
  /** `failing` from a failed delivery until the next successful one. */
  health: 'untried' | 'working' | 'failing'
  /** Failed attempts since the last successful one. */
  failures: number
  last_success_at: string | null
  last_failure_at: string | null
  /** HTTP status of the last failed attempt, or the reason why there was none. */
  last_failure: string | null
}

export const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'erased'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

export interface DeliveryQuery {
  /** Status of the deliveries; empty or missing for all. `failed` includes deliveries that wait for another attempt. */
  status?: DeliveryState | ''
  /** Cursor at which the page begins. */
  before?: string
}

export interface DeliveryPage {
  /** Newest first. */
  deliveries: DeliveryView[]
  next_before: string | null
  /** Number of attempts after which a delivery is given up. */
  max_attempts: number
}

export interface DeliveryView {
  id: string
  event_id: string
  webhook: string
  type: string
  status: DeliveryState
  attempts: number
  /** HTTP status of the last attempt, or the reason why there was none. */
  last_outcome: string | null
  created_at: string
  next_attempt_at: string | null
  finished_at: string | null
  replayable: boolean
}

export const TRAFFIC_WINDOWS = ['quarter', 'hour', 'day', 'week'] as const satisfies readonly TrafficWindow[]

/** The endpoints in the request log. Guidance is left out: it is so frequent that it would hide the others. */
export const LOGGED_ENDPOINTS = [
  'enroll',
  'verify',
  'delete',
  'get_user',
  'get_verification',
  'create_challenge',
  'create_capture_session',
  'get_capture_session',
  'list_audit',
  'rotate_signing',
  'health',
  'unknown',
] as const

export interface VerificationQuery {
  environment: Environment
  /** Verification id. */
  id: string
}

export interface AuditExportQuery extends AuditQuery {
  format: 'csv' | 'jsonl'
}

export interface AuditPage {
  /** Newest first. The list may be empty although older entries match, since a page searches a bounded part of the log. */
  entries: AuditEntry[]
  next_before: number | null
}

export interface AuditChain {
  entries: number
  /** First sequence that does not fit the chain or is missing, or null. */
  broken_at: number | null
}

/** The engine's findings on a photo. */
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

/** The API's answer to a call that the page made. */
export interface TriedCall {
  environment: Environment
  status: number
  headers: Record<string, string>
  body: Record<string, unknown>
  signature_valid: boolean
  jwt?: { valid: boolean; kid: string | undefined; claims: unknown }
}

/** The model packs that the service has loaded, and the change from one to another. */
export interface ModelsView {
  /** The service's own pack is the first. */
  packs: LoadedPackView[]
  /** The change that is under way; null for none. */
  migration: MigrationView | null
  tenants: TenantModelView[]
}

export interface LoadedPackView {
  model: string
  description: string
  grade: PackGrade
  /** False match rate and threshold that decide for a contract without a rate. */
  fmr_in_force: number
  threshold: number
  /** The rate between the installation's own users; null where nobody measured it. */
  own_rate: OwnRateView | null
}

export interface OwnRateView {
  /** Day of the measurement. */
  date: string
  people: number
  pairs: number
  likely_duplicates: number
  points: Array<{
    fmr: number
    threshold: number
    /** Both ends of the 95 % interval of the rate at this threshold. */
    interval: readonly [number, number]
    basis: 'measured' | 'extrapolated'
  }>
}

export interface TenantModelView {
  tenant_id: string
  name: string
  /** Model that decides for the tenant. */
  deciding: string
  /** How far the change is; null while none is under way. */
  progress: Omit<ProgressView, 'tenant_id' | 'name' | 'deciding'> | null
}

export interface MovedDecisions {
  /** Names of the tenants whose decision has moved. */
  moved: string[]
}

export interface SystemView {
  version: string
  /** Commit from which the service was built, or `unknown`. */
  commit: string
  node: string
  now: string
  started_at: string
  urls: Urls
  /** Whether this listener serves the metrics; false when they have their own listener. */
  has_metrics: boolean
  engine: {
    status: 'ok' | 'degraded'
    workers: { ready: number; configured: number }
    queue: { waiting: number; running: number; limit: number }
    provider: { active: string; fallbacks: Array<{ provider: string; reason: string }> }
  }
  memory_bytes: number
  upkeep: {
    /** Free space in bytes, or null when it cannot be read. */
    disk_free_bytes: number | null
    /** Time of the last backup: null before the first, absent when the service makes none. */
    last_backup?: string | null
    /** Expiry of the certificates by group of listeners; null for a group without certificate. */
    certificates: Array<{ listeners: string; expires_at: string | null }>
  }
  database: {
    status: 'ok' | 'degraded'
    bytes: number
    /** Size of the log in bytes, or null when other databases share it. */
    log_bytes: number | null
    counts: { tenants: number; references: Record<Environment, number>; auditEntries: number }
  }
  pack: {
    id: string
    description: string
    grade: PackGrade
    /** False match rate of the calibration's row that decides for a contract without a rate. */
    fmr_in_force: number
    /** Reasons why the pack is not fit for production, one clause each. */
    reasons: string[]
    networks: Array<{ file: string; licence: string }>
    calibration: Array<{ fmr: number; threshold: number; measured: boolean }>
  }
  /** Keys of public verdicts that are published now, in the order in which they begin to sign. */
  verdict_keys: Array<{
    kid: string
    environment: Environment
    state: 'published' | 'signing' | 'retired'
    published_at: string
    signs_from: string
    /** Null for the newest key. */
    published_until: string | null
  }>
  packs: Array<{ id: string; active: boolean; problem: string | null }>
  /** All services on the database, including this one; empty when no other can share it. */
  nodes: Array<{
    name: string
    version: string
    commit: string
    /** Schema version that the node's code knows, or null when the node does not report it. */
    schema: number | null
    since: string
    is_serving: boolean
    lease_ms: number
    /** Reasons why the node is not ready; empty when it is. */
    not_ready: string[]
  }>
  /** Names of the settings that differ between the nodes. */
  differing_settings: string[]
}
