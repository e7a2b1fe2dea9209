/** What an endpoint is: its description, from which validation and the OpenAPI document are made, and its handler. */

import type { TSchema } from 'typebox'
import type { AuditEventName } from '../audit/audit-events.js'
import type { DomainError } from '../lib/domain-error.js'
import type { ErrorCode } from '../lib/error-codes.js'
import type { StoreTransaction } from '../storage/store.js'
import type { Scope } from '../tenants/key-scopes.js'
import type { Call, UserCall } from '../verification/call.js'
import type { Reason } from '../verification/reasons.js'

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

/** The answer to a request, successful or not, until `ReplySigner` serializes and signs it. */
export interface Outcome {
  status: number
  /** Sent as JSON. A string is sent as it is: a document, or the body of a kept response, which must stay the same to the byte. */
  body: Record<string, unknown> | string
  headers?: Record<string, string>
  /** Error code of a refusal. */
  code?: ErrorCode
  /** Body that is kept for replays instead of `body`: a secret is never kept. */
  keptBody?: Record<string, unknown>
  /** Subject whose data key seals the kept response. By default the service's own key seals it. Either way it is erased with the user. */
  sealedFor?: { id: string; dataKey: Buffer } | null
  observed?: Observed
  /** Tokens of the rate limit that the request cost in addition to its first one. Default 0. */
  furtherTokens?: number
  /** Facts for the audit log in addition to request id, actor and status. */
  audit?: AuditFacts
}

/** Facts of an audit entry. */
export type AuditFacts = Record<string, unknown> & {
  /** Pseudonym of the user. */
  subject?: string
  verification_id?: string
}

/**
 * A refusal that keeps what its transaction wrote, such as a counted attempt or a used challenge. An error that is thrown rolls
 * the transaction back instead. `EndpointRunner` makes the outcome of both.
 */
export interface Refusal extends Pick<Outcome, 'observed' | 'audit'> {
  refused: DomainError
}

/**
 * Effect of a handler's work. It runs inside the transaction that also keeps the response and writes the audit entry, and may
 * await nothing but `tx`.
 */
export type Commit = (tx: StoreTransaction) => Promise<Outcome | Refusal>

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
  /**
   * Whether the request is about the user whom the input names as `user_id`. If so, `call.user` is that user: the transaction is
   * serialized with the user's other transactions, the kept response is erased with the user, and a refusal is recorded under
   * the user's pseudonym.
   */
  aboutUser: boolean
  /**
   * Asked before a kept response is looked up, so that a replay needs the same right as a first call.
   * @throws DomainError
   */
  assertPermitted?(call: Pick<Call<unknown>, 'tenant' | 'environment'>): Promise<void>
  /**
   * The refusal that a replay gets instead of a kept success.
   * @param keptBody as this version or an earlier one kept it
   */
  refuseReplay?(keptBody: Record<string, unknown>): DomainError
  /**
   * Does the slow work. Resolves with the commit, or with the outcome itself where nothing is written.
   * @throws DomainError
   */
  handle(call: Call<Input>): Promise<Commit | Outcome>
}

/** An endpoint about one user. */
export interface UserEndpoint<Input extends { user_id: string }> extends Endpoint<Input> {
  aboutUser: true
  handle(call: UserCall<Input>): Promise<Commit | Outcome>
}
