/** The request that an endpoint answers: authenticated, validated, and handed down unchanged as far as the engine. */
import type { SchedulingClass } from '../biometrics/types.js'
import type { Environment } from '../config/config.js'
import type { LivenessRequirement } from '../config/liveness-requirement.js'
import type { ErrorCode } from '../contract/error-codes.js'
import type { Reason } from '../contract/verdict.js'
import type { TenantRecord } from '../storage/records.js'
import type { StoreTransaction } from '../storage/store.js'
import type { Scope } from '../tenants/key-scopes.js'
import type { ActiveSecrets } from '../tenants/signing-secrets.js'
import type { AgreedText, Subject } from '../users/template-vault.js'
import type { ReportedCapture } from './capture/capture-integrity.js'
import type { Timings } from './stages.js'

/** The user whom a request names. */
export interface CalledUser {
  /** The caller's own identifier of the user. Production never writes it down; the sandbox writes it down sealed. */
  id: string
  /** Keyed pseudonym under which the database finds the user. */
  blindIndex: Buffer
}

/**
 * Facts that parts of a call find again later: kept with a challenge for the verify that uses it, or given by the hosted page. Each part
 * keeps its own under one name, so that the facts of two parts cannot mix.
 */
export type Note = Readonly<Record<string, unknown>>

/** Whether the browser that gets the result must be the one that captured. */
export type CaptureBinding = 'same' | 'any'

/** The session of the hosted page that makes a call. */
export interface CapturedBy {
  id: string
  binding: CaptureBinding
  /** The session's own consent text that the person has agreed to, which an enrollment keeps; undefined where it showed a text for all. */
  ownConsent?: AgreedText | undefined
}

/** The part of a call that only a page of the service sets, which makes the call for a person. */
export interface PageFacts {
  /** The hosted page's capture session that took the images. */
  readonly captureSession?: CapturedBy | undefined
  /** Facts that the page gives to parts of the call. */
  readonly note?: Note | undefined
  /**
   * Whether the person must not learn whether the user exists: no call is refused before the capture because the user is not enrolled or
   * is locked out.
   */
  readonly isDiscreet?: boolean | undefined
  /** Whether the page may not hand the capture over to a phone. */
  readonly keepsDevice?: boolean | undefined
}

export interface Call<Input> extends PageFacts {
  /** The body, query and path parameters, checked against the endpoint's schema. */
  readonly input: Input
  readonly environment: Environment
  readonly tenant: TenantRecord
  /**
   * The user whom the request is about; null where the endpoint is about no user. The user chooses the transaction's lock, owns
   * the kept response, and is named by the audit entry of a refusal.
   */
  readonly user: CalledUser | null
  /** Id of the API key. */
  readonly keyId: string
  /** Scopes of the API key; null for a key that may do everything. */
  readonly scopes: readonly Scope[] | null
  /** IP address of the caller; null for a request of the hosted capture page. */
  readonly address: string | null
  /** The tenant's signing secrets that are valid now. */
  readonly secrets: ActiveSecrets
  /** Id of the signing secret that the caller says it holds (header `X-Svc-Signing-Key-Id`). */
  readonly signingKeyId: string | undefined
  readonly requestId: string
  /** Address of the page that explains error codes; undefined for none. */
  readonly errorsUrl: string | undefined
  /**
   * Finds the body of an earlier answer to the very same request about this user, in the transaction that would answer it again; null for
   * none. Undefined in the sandbox, and for a caller without an idempotency key, for whom nothing is kept.
   */
  readonly earlierAnswer?:
    | ((tx: StoreTransaction, subject: Subject, since: number) => Promise<string | null>)
    | undefined
  /** Time on the axis of `performance.now()`, in milliseconds, after which nobody waits for the answer. */
  readonly deadlineMs: number
  /** Aborted when the caller hangs up. */
  readonly signal: AbortSignal
  /** The scheduling class of the caller at the engine. */
  readonly schedulingClass: SchedulingClass
  /** Milliseconds that each stage took: every stage adds its own. */
  readonly timings: Timings
  /** Work to be done once the answer is out, in this order. It must not throw, and nobody waits for it. */
  readonly afterAnswer: AfterAnswer[]
}

/** The outcome of a request. */
export interface AnsweredCall {
  /** Error code of a refusal. */
  code?: ErrorCode | undefined
  verdict?: 'approved' | 'rejected'
  /** Reason of a rejection; null for an approval. */
  reason?: Reason | null
  /** Score of the comparison; null where no images were compared. */
  score?: number | null
}

export type AfterAnswer = (answer: AnsweredCall) => void

/** A request about one user. */
export interface UserCall<Input> extends Call<Input> {
  readonly user: CalledUser
}

/** Fields of a request that brings images of a user. */
export type CaptureInput = ReportedCapture & { user_id: string; require_liveness?: LivenessRequirement }
