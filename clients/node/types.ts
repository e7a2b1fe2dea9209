/** Requests, answers, claims and webhooks, by their wire names. `wire-types.ts` is generated; this file adds what the document cannot say. */
import type { Action, ActionLike, ImageInput } from '../../src/contract/inputs.js'
import type { DisplayLocale } from '../../src/contract/locales.js'
import type {
  ChallengeAnswer,
  DeleteResult,
  EnrollFields,
  Environment,
  FmrBasis,
  ModelGrade,
  RejectionReason,
  VerifyFacts,
  VerifyFields,
} from '../../src/contract/wire-types.js'

export type * from '../../src/contract/inputs.js'
export type * from '../../src/contract/wire-types.js'

/**
 * One photo, 1 to 5 photos of the same person, or the frames of a challenge. Three photos are best to enroll with. `Image` is the
 * type of a photo: base64 on the wire.
 */
export type Photos<Image = ImageInput> =
  | { image: Image; images?: undefined; challenge?: undefined }
  | { images: Image[]; image?: undefined; challenge?: undefined }
  | { challenge: ChallengeAnswer<Image>; image?: undefined; images?: undefined }

/** Body of `POST /v1/enroll`. */
export type EnrollRequest<Image = ImageInput> = EnrollFields & Photos<Image>

/** Body of `POST /v1/verify`. */
export type VerifyRequest<Image = ImageInput, A extends ActionLike = Action> = VerifyFields<A> & Photos<Image>

/** Answer of `POST /v1/verify`. `verdict` discriminates the union. */
export type VerifyResult = ApprovedResult | RejectedResult

/** The answer for a person who was recognized. */
export interface ApprovedResult extends VerifyFacts {
  verdict: 'approved'
  reason: null
  /** Similarity of the faces, higher is more alike: at least `threshold`. */
  score: number
}

/** The answer for a capture that does not show the enrolled person, or must not be relied on. */
export interface RejectedResult extends VerifyFacts {
  verdict: 'rejected'
  reason: RejectionReason
  /** Similarity of the faces, or null when they were not compared. */
  score: number | null
}

/** Query of `GET /v1/verifications/{verification_id}`: what the caller knows about the verification. */
export interface VerificationRequest {
  /** The user who was verified. A verification of another user is not found. */
  user_id?: string
  /** The action: `action_matches` of the answer says whether the user was verified for it. It needs `user_id`. */
  action?: ActionLike
  /** Hash of a text, as in the claim `display_hash`: `display_matches` of the answer says whether the person was shown it. It needs `user_id`. */
  display_hash?: string
}

/** Query of `GET /v1/audit`. */
export interface AuditListRequest {
  /** A `next_cursor`. Default: the start of the log, or its end with the order `desc`. */
  after?: string
  /** `asc`: oldest first, the default. `desc`: newest first. */
  order?: 'asc' | 'desc'
  /** Most entries of a page, 1 to 200. Default 50. */
  limit?: number
  /** Name of the only event to list. */
  event?: string
}

/** `same`: a session of the hosted page gives its result only to the browser that captured. `any`: to any. */
export type CaptureBinding = 'same' | 'any'

interface ClaimFacts<A extends ActionLike> {
  /** Base URL of the service. */
  iss: string
  /** Id of the tenant. */
  aud: string
  /** The `user_id`. */
  sub: string
  /** When the verdict was signed, in unix seconds. */
  iat: number
  /** From when on the verdict is valid, in unix seconds. */
  nbf: number
  /** When the verdict expires, in unix seconds. */
  exp: number
  /** The `verification_id`. */
  jti: string
  /** Id of the request. */
  txn: string
  env: Environment
  /** False match rate of the threshold, 0 to 1. */
  fmr: number
  fmr_basis: FmrBasis
  action: A
  /** SHA-256 of the action in RFC 8785 canonical form, in lower-case hex: see `actionHash`. */
  action_hash: string
  /** SHA-256 of the text that the person was shown for a typed action: see `displayHash`. Absent where the service wrote none. */
  display_hash?: string
  /** Language of that text. */
  display_locale?: DisplayLocale
  /** Version of its template. */
  display_version?: string
  /** `challenge`: your own page was given the text with the challenge. Absent where the hosted page showed it. */
  display_source?: 'challenge'
  nonce?: string
  /** Id of the session of the hosted page that made the verification. Absent for any other verification: only the service writes this claim. */
  capture_session?: string
  /** `same`: the session gave its result only to the browser that captured. Absent without `capture_session`. */
  capture_binding?: CaptureBinding
  /** Authentication methods of RFC 8176: `face`, and for an approval with a passkey `hwk` or `swk`. */
  amr: string[]
  /** Which checks an approval rests on: one of `ACR_VALUES`, or `0` for a rejection. */
  acr: string
  /** When the person was verified, in unix seconds. */
  auth_time: number
  model: string
  model_grade: ModelGrade
  /** The methods by which liveness was checked. The verdict claims nothing beyond them. A rejection has no score. */
  liveness: { checked: boolean; passed: boolean | null; methods: string[]; score?: number | null }
  /** Id of the challenge whose frames were judged. */
  challenge_id?: string
  /** Id of the passkey that has signed for this action. */
  passkey_id?: string
  replay: { suspected: boolean }
  /** SHA-256 of the tenant's policy that was in force; absent where the tenant has none. */
  policy_hash?: string
  /** Name of the rule of the policy that decided about the action. */
  policy_rule?: string
  /** Id of the other user's verdict that this approval has used up, where the policy asks for a second person. */
  approval_id?: string
}

/** The claims of an approval, as `verifyVerdict` resolves with them. */
export interface ApprovedClaims<A extends ActionLike = Action> extends ClaimFacts<A> {
  verdict: 'approved'
  reason?: undefined
  score: number
}

/** The claims of a rejection. It has no scores, since a JWT can be read by everybody who gets it: the answer of `verify` has them. */
export interface RejectedClaims<A extends ActionLike = Action> extends ClaimFacts<A> {
  verdict: 'rejected'
  reason: RejectionReason
  score?: undefined
}

/** The claims of a verdict JWT. `verdict` discriminates the union. */
export type VerdictClaims<A extends ActionLike = Action> = ApprovedClaims<A> | RejectedClaims<A>

interface WebhookFacts {
  /** Id of the event: the same at every try and every redelivery, so that repeats can be recognized. */
  id: string
  created_at: string
  environment: Environment
  tenant_id: string
}

/** A session of the hosted capture page that has ended. */
interface EndedCaptureSession {
  session_id: string
  purpose: 'verify' | 'enroll'
  /** Number of captures that were judged, 0 to 3. */
  attempts: number
}

/** The body of a webhook. `type` discriminates the union; later versions of the service may send further types. */
export type WebhookEvent = WebhookFacts &
  (
    | {
        type: 'user.enrolled'
        data: {
          user_id: string
          reference_id: string
          model: string
          views: number
          /** Whether the enrollment replaced another one. */
          replaced: boolean
          /** Number of photos that were added to the reference; 0 for one that is new. */
          added: number
        }
      }
    | { type: 'user.locked_out'; data: { user_id: string; rejections: number; ends_at: string } }
    | { type: 'user.disabled'; data: { user_id: string; rejections: number } }
    | { type: 'user.unlocked'; data: { user_id: string } }
    | { type: 'user.erasure_scheduled'; data: { user_id: string; erase_at: string } }
    | {
        type: 'user.passkey_registered'
        data: {
          user_id: string
          passkey_id: string
          name: string | null
          synced: boolean
          /** Whether a recovery took the place of an earlier passkey. */
          recovered: boolean
        }
      }
    | {
        type: 'user.passkey_revoked' | 'user.passkey_counter_reversed'
        data: { user_id: string; passkey_id: string }
      }
    | {
        type: 'user.passkey_recovery_begun'
        /** Another passkey can be registered from `ready_at` to `expires_at`, unless the recovery is cancelled. Tell the person. */
        data: { user_id: string; verification_id: string; ready_at: string; expires_at: string }
      }
    | { type: 'user.passkey_recovery_cancelled'; data: { user_id: string; verification_id: string } }
    | { type: 'user.erased'; data: DeleteResult }
    | {
        type: 'capture_session.completed'
        data: EndedCaptureSession & {
          /** Result of the last capture, or null where none was judged. It proves nothing: get the session, and check the JWT of its verdict. */
          result: {
            /** HTTP status of the call of verify or enroll. */
            status: number
            verdict: 'approved' | 'rejected' | null
            reason: string | null
            /** Code of the error, or null where the capture was not refused with one. */
            code: string | null
          } | null
        }
      }
    | {
        type: 'openid.link_ready'
        /** A link for a person whom an identity provider asks for. Send the link to that person only. */
        data: {
          user_id: string
          session_id: string
          /** Opens in one browser, once. */
          url: string
          /** Name of the application of the OpenID provider. */
          application: string
          /** Client of the identity provider that asks. */
          requested_by: string
          /** Text that the person also sees where they began, or null for none. */
          message: string | null
          expires_at: string
        }
      }
    | {
        type: 'openid.request_disowned'
        /** The person said that a request of an identity provider was begun by somebody else. */
        data: { user_id: string; session_id: string; application: string; requested_by: string }
      }
    | {
        type: 'capture_session.cancelled'
        data: EndedCaptureSession & {
          /** Whether the person said that somebody else had begun. */
          disowned: boolean
        }
      }
    | { type: 'capture_session.expired'; data: EndedCaptureSession }
    | { type: 'webhook.test'; data: Record<string, never> }
  )
