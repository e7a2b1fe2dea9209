/** Requests, answers, claims and webhooks, by their wire names. `wire-types.ts` is generated; this file adds what the document cannot say. */
import type { Action, ActionLike, ImageInput } from '../../src/contract/inputs.js'
import type {
  ChallengeAnswer,
  ClaimFacts,
  EnrollFields,
  RejectionReason,
  VerifyFacts,
  VerifyFields,
  WebhookData,
  WebhookFacts,
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

/** The body of a webhook. `type` discriminates the union; later versions of the service may send further types. */
export type WebhookEvent = {
  [Type in keyof WebhookData]: WebhookFacts & { type: Type; data: WebhookData[Type] }
}[keyof WebhookData]
