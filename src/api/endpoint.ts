/** What an endpoint is: its description, from which validation and the OpenAPI document are made, and its handler. */

import type { TSchema } from 'typebox'
import type { AuditEventName } from '../audit/audit-events.js'
import type { ResponseOwner } from '../idempotency/idempotency.js'
import type { DomainError } from '../lib/domain-error.js'
import type { ErrorCode } from '../lib/error-codes.js'
import type { StoreTransaction } from '../storage/store.js'
import type { Scope } from '../tenants/key-scopes.js'
import type { Reason } from '../verification/reasons.js'
import type { VerificationCall } from '../verification/verification-call.js'

export interface CalledUser {
  /** As the caller names the user. It is never written down in production, and only sealed in the sandbox. */
  id: string
  blindIndex: Buffer
}

/** An authenticated, validated request on its way through an endpoint. */
export interface Call<Input> extends VerificationCall<Input> {
  /** Id of the API key. */
  keyId: string
  /** Scopes of the API key; null for a key that may do everything. */
  scopes: readonly Scope[] | null
  /** IP address of the caller; null for a request of the hosted capture page. */
  address: string | null
  /** Address of the page that explains error codes. */
  errorsUrl: string
  /** Id of the capture session of the hosted page, where one took the images. */
  captureSession?: string | undefined
  /** The user that the request is about. Endpoints set it as soon as it is known, so that a refusal finds its way to the user's log. */
  user?: CalledUser
}

/** For an endpoint that carries no images: far more than its few short fields need. */
export const SMALL_BODY_BYTES = 16_384

/** What an execution changed, for metrics. */
export type Effect = 'locked_out' | 'reference_disabled' | 'rotated' | 'erased'

/** What came about, stated once, by the endpoint: log, metrics, traces and charts read this and never the body. */
export interface Observed {
  verdict?: 'approved' | 'rejected'
  /** Of a rejection. */
  reason?: Reason | null
  /** Of a verdict for which images were compared. */
  score?: number | null
  effect?: Effect | undefined
}

/** The answer of an executed request, successful or not. */
export interface Outcome {
  status: number
  body: Record<string, unknown>
  headers?: Record<string, string>
  /** Of a refusal. */
  code?: ErrorCode
  /** Body that is kept for replays, where it must not be the body of the response: a secret is never kept. */
  keptBody?: Record<string, unknown>
  observed?: Observed
  /** Tokens of the rate that the request cost beside its first one; none where it is left out. */
  furtherTokens?: number
  /** What the audit log records beside request id, actor and status. */
  audit?: Record<string, unknown> & { subject?: string }
  /** The user the kept response belongs to: sealed under the user's data key, erased with the user. */
  owner?: ResponseOwner
}

/**
 * The handler did its work; `commit` makes it true. It runs inside the transaction that also keeps the response and
 * writes the audit entry, and may await nothing but `tx`.
 */
export type Commit = (tx: StoreTransaction) => Promise<Outcome>

export interface Parameter {
  schema: TSchema
  description: string
}

export interface EndpointDescription {
  /** operationId in the OpenAPI document, name in logs and metrics. */
  id:
    | 'enroll'
    | 'verify'
    | 'delete'
    | 'health'
    | 'rotate_signing'
    | 'get_user'
    | 'list_audit'
    | 'create_challenge'
    | 'guide'
    | 'create_capture_session'
    | 'get_capture_session'
  method: 'GET' | 'POST' | 'DELETE'
  /** A segment in braces is a parameter: `/v1/users/{user_id}`. */
  path: string
  summary: string
  description: string
  /** Schema of the JSON body; absent for none. */
  body?: TSchema
  /** The body may be left out. */
  bodyOptional?: boolean
  /** Of the parameters in the path, by their names there: fields of the input. */
  pathParameters?: Record<string, Parameter>
  /** Fields of the input that may stand in the query: strings, or whole numbers where the schema says so. */
  query?: Record<string, Parameter>
  success: { status: number; description: string; schema: TSchema }
  /** A second documented answer, such as a degraded health report or a dry run. */
  alternative?: { status: number; description: string; schema: TSchema }
  /** Error codes of its own, beside those that every endpoint shares. */
  errors: ErrorCode[]
  /** Needs the engine: refused at its head while the engine has no place for its caller. */
  usesEngine: boolean
  /** Largest body, in bytes, where it is less than the service's own limit: for all that carry no images. */
  maxBodyBytes?: number
  /** Its answers hold a signing secret: given only over TLS, loopback, or with TLS that ends in front. */
  answersWithSecret: boolean
  /** Honours X-Svc-Idempotency-Key. What changes nothing is safe to send again without it: the key is then taken and ignored. */
  idempotent: boolean
  /** Counts towards a rate limit of its own, as large as the tenant's: however often it is called, no verify is refused for it. */
  ownRateLimit?: boolean
  /** Of the entry that it writes to the audit log in production; null where it writes none. */
  auditEvent: AuditEventName | null
  /** Still answers callers of before, signed, when the database is gone. */
  answersWithoutStore: boolean
  /** A key needs one of these; none for what every key may do. */
  scopes: readonly Scope[]
}

export interface Endpoint<Input = never> extends EndpointDescription {
  /** Asked before a kept response is looked for, so that a replay needs the same right as a first call. @throws DomainError */
  assertPermitted?(call: Pick<Call<unknown>, 'tenant' | 'environment'>): Promise<void>
  /** The refusal that a replay gets in place of a kept success. @param keptBody as it was kept, or as an earlier version kept it */
  refuseReplay?(keptBody: Record<string, unknown>): DomainError
  /** Resolves with the commit, or with the outcome itself where nothing is written. @throws DomainError */
  handle(call: Call<Input>): Promise<Commit | Outcome>
}
