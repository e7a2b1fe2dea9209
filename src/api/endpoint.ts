/** An endpoint: its description, from which validation and the OpenAPI document are made, and its handler. */

import type { TSchema } from 'typebox'
import type { AuditEventName } from '../audit/audit-events.js'
import type { ErrorCode } from '../contract/error-codes.js'
import type { DomainError } from '../lib/domain-error.js'
import type { StoreTransaction } from '../storage/store.js'
import type { Scope } from '../tenants/key-scopes.js'
import type { AnsweredCall, Call, UserCall } from '../verification/call.js'
import type { CaptureSignal } from '../verification/capture/capture-integrity.js'

/** A topic under which documents list endpoints. A feature has one of its own, or uses one of these. */
export interface Topic {
  /** One word in lower case. */
  name: string
  /** A sentence. */
  about: string
  /** How the sandbox scripts it, in Markdown, for the introduction of documents. */
  inSandbox?: string
}

export const ENROLLMENT: Topic = { name: 'enrollment', about: 'Enroll users and look them up.' }
export const VERIFICATION: Topic = {
  name: 'verification',
  about: 'Ask at a risky action whether it is the enrolled person, and look verdicts up.',
}
export const ERASURE: Topic = { name: 'erasure', about: 'Erase users.' }
export const KEYS: Topic = { name: 'keys', about: 'Rotate the signing secret.' }
export const AUDIT: Topic = { name: 'audit', about: 'Read the audit log.' }
export const STATUS: Topic = { name: 'status', about: 'Status of the service.' }

/** Largest body of an endpoint without images, in bytes: far more than its few short fields need. */
export const SMALL_BODY_BYTES = 16_384

/** Change that a request brought about, as metrics count it. */
export type Effect = 'locked_out' | 'reference_disabled' | 'rotated' | 'erased'

/** Facts of an outcome for log, metrics, traces and charts, which never read the body. The endpoint states them once. */
export interface Observed extends Omit<AnsweredCall, 'code'> {
  /** Lowest score that would have been approved. */
  threshold?: number
  /** Quality of the compared image, 0 to 1; null where none was assessed. */
  quality?: number | null
  /** Id of the model pack that judged the images. */
  model?: string
  effect?: Effect | undefined
  /** Signals about the capture's integrity; absent where the request brought no report. */
  signals?: readonly CaptureSignal[]
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
  /** Whether only a caller who repeats the request with its idempotency key can read the kept response. */
  onlyForCaller?: boolean | undefined
  /** Whether this is the answer to an earlier request once more: nothing was decided, and the audit log gets no entry. */
  isRepeat?: boolean
  observed?: Observed
  /** Tokens of the rate limit that the request cost in addition to its first one and to those of its size. Default 0. */
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
 * A refusal that keeps what its transaction wrote, such as a counted attempt. An error that is thrown rolls
 * the transaction back instead. `EndpointRunner` makes the outcome of both.
 */
export interface Refusal extends Pick<Outcome, 'observed' | 'audit'> {
  refused: DomainError
}

/**
 * Effect of a handler's work. It runs inside the transaction that also keeps the response and writes the audit entry, and may
 * await nothing but `tx`. It may throw `SignatureAwaited`: then it runs again in another transaction, after the signature.
 */
export type Commit = (tx: StoreTransaction) => Promise<Outcome | Refusal>

export interface Parameter {
  schema: TSchema
  description: string
}

/** Error codes of an endpoint that takes pictures. */
export const CAPTURE_ERRORS = [
  'liveness_required',
  'liveness_unavailable',
  'image_unreadable',
  'image_too_large',
  'image_too_small',
  'face_not_found',
  'multiple_faces',
  'face_too_small',
  'face_not_upright',
  'low_quality',
] as const satisfies readonly ErrorCode[]

export interface EndpointDescription {
  /** Name of the endpoint in logs and metrics. */
  id: string
  topic: Topic
  /** Id of the endpoint before which documents show it. Default: after those of the core, in the order of features. */
  shownBefore?: string
  /** `operationId` in the OpenAPI document: a verb and its object. Default: `id`. */
  operationId?: string
  /** The method of the SDK for TypeScript. */
  sdkName: string
  /** Input that works in the sandbox after the examples before it: fields of the body, and parameters of the path. */
  example?: Record<string, unknown>
  /** Whether a call writes a record even without an idempotency key, as the limits of the sandbox count them. Default false. */
  alwaysKeeps?: boolean
  method: 'GET' | 'POST' | 'DELETE'
  /** A segment in braces is a parameter: `/v1/users/{user_id}`. */
  path: string
  summary: string
  description: string
  /** Schema of the JSON body; absent for none. */
  body?: TSchema
  /** Whether the body may be left out. Default false. */
  bodyOptional?: boolean
  /** Parameters of the path, by the names in its braces. Each is a field of the input. */
  pathParameters?: Record<string, Parameter>
  /** Fields of the input that the query may hold: strings, or whole numbers where the schema says so. */
  query?: Record<string, Parameter>
  success: { status: number; description: string; schema: TSchema }
  /** A second documented answer, such as a degraded health report or a dry run. */
  alternative?: { status: number; description: string; schema: TSchema }
  /** Error codes of this endpoint, in addition to those that every endpoint shares. */
  errors: ErrorCode[]
  /** Whether the endpoint needs the engine: if so, a request is refused before its body is read while the engine has no room for its caller. Default false. */
  usesEngine?: boolean
  /** Largest body, in bytes. Default: `SMALL_BODY_BYTES`. The limit of the service holds in any case. */
  maxBodyBytes?: number
  /** Whether answers hold a signing secret: they are then sent only over TLS, over loopback, or behind a proxy that ends TLS. Default false. */
  answersWithSecret?: boolean
  /** Whether `X-Svc-Idempotency-Key` counts. An endpoint that changes nothing accepts the header and ignores it. Default false. */
  idempotent?: boolean
  /** Whether calls count towards a rate limit of the endpoint's own, as large as the tenant's, so that they cost no verify its place. */
  ownRateLimit?: boolean
  /** Event of the audit entry that production writes. Default: none. */
  auditEvent?: AuditEventName
  /** Whether recent callers still get a signed answer while the database is gone. Default false. */
  answersWithoutStore?: boolean
  /** Scopes of which an API key needs one; empty for an endpoint that every key may call. */
  scopes: readonly Scope[]
}

export interface Endpoint<Input = never> extends EndpointDescription {
  /**
   * Whether the request is about the user whom the input names as `user_id`. If so, `call.user` is that user: the transaction is
   * serialized with the user's other transactions, the kept response is erased with the user, and a refusal is recorded under
   * the user's pseudonym. Default false.
   */
  aboutUser?: boolean
  /**
   * Checks that the caller may use the endpoint. It runs before a kept response is looked up, so that a replay needs the same right.
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

/** An endpoint with input of any shape. The router hands each only input that its own schema has passed. */
export type AnyEndpoint = Endpoint<never> | UserEndpoint<never>
