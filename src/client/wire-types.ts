/** Requests and answers of the API by their wire names. Generated from docs/openapi.json: `npm run docs` writes this file. */
import type { ErrorCategory, ErrorCode } from './error-codes.js'
import type { Action, ActionLike, ImageInput } from './inputs.js'

/** Environment of an API key. */
export type Environment = 'production' | 'sandbox'

/** A kind of call that an API key may make. A key without scopes may make every call. */
export type Scope = 'verify' | 'enroll' | 'replace' | 'erase' | 'read' | 'audit' | 'rotate'

/** State of the service or of a part of it. */
export type HealthStatus = 'ok' | 'degraded'

/**
 * Grade of a model pack: `production` where its error rate was measured on everybody and in each group that the data
 * names.
 */
export type ModelGrade = 'production' | 'evaluation'

/** Basis of a false match rate: `extrapolated` where nobody has measured it and the operator accepted that. */
export type FmrBasis = 'measured' | 'extrapolated'

/** The reason for which verify rejects a capture. */
export type RejectionReason =
  | 'no_match'
  | 'liveness_failed'
  | 'replayed_capture'
  | 'locked_out'
  | 'reference_disabled'

/** The checks of liveness that a capture must have passed. */
export type LivenessRequirement = 'none' | 'passive' | 'active' | 'both'

/** Advice to a person about one frame. */
export type FrameGuidance =
  | 'no_face'
  | 'several_faces'
  | 'too_far'
  | 'too_close'
  | 'cut_off'
  | 'too_dark'
  | 'too_bright'
  | 'blurred'
  | 'not_frontal'
  | 'wrong_direction'
  | 'turn_more'
  | 'nod_more'

/** Advice to a person about the frames of a challenge. */
export type LivenessGuidance =
  | 'no_face'
  | 'several_faces'
  | 'too_far'
  | 'too_close'
  | 'cut_off'
  | 'too_dark'
  | 'too_bright'
  | 'blurred'
  | 'not_frontal'
  | 'wrong_direction'
  | 'turn_more'
  | 'nod_more'
  | 'slower'
  | 'try_again'

/** Advice to a person about a photo that was refused: a code that `<countersign-capture>` has texts for. */
export type PhotoGuidance =
  | 'no_face'
  | 'several_faces'
  | 'too_far'
  | 'too_close'
  | 'cut_off'
  | 'too_dark'
  | 'too_bright'
  | 'blurred'
  | 'not_frontal'
  | 'wrong_direction'
  | 'turn_more'
  | 'nod_more'
  | 'slower'
  | 'try_again'
  | 'eyes_closed'
  | 'file_unreadable'
  | 'wrong_format'
  | 'image_too_large'
  | 'image_too_small'
  | 'different_people'
  | 'not_live'

/** A suspicion about the frames of a challenge: for the backend, never for the person. */
export type LivenessFinding = 'flat' | 'face_changed' | 'discontinuous' | 'replayed' | 'out_of_order'

/** A measurement of light, focus, pose or eyes, as ISO/IEC 29794-5 names it. */
export type QualityComponent =
  | 'inter_eye_distance'
  | 'sharpness'
  | 'luminance_mean'
  | 'luminance_variance'
  | 'under_exposure_prevention'
  | 'over_exposure_prevention'
  | 'illumination_uniformity'
  | 'head_pose_yaw'
  | 'head_pose_pitch'
  | 'head_pose_roll'
  | 'eyes_open'

/** Range of good values, both ends included; an absent end is open. */
export interface QualityBound {
  min?: number
  max?: number
}

/** One measurement of a photo, held against its bound. */
export interface QualityFinding {
  /** As ISO/IEC 29794-5 names it. */
  component: QualityComponent
  value: number
  /** What an enrolment photo must keep to; null where every value will do. */
  bound: QualityBound | null
  passed: boolean
  /** What the person can do, to be shown to them. */
  hint: string | null
}

/** Measurements of one photo of an enrollment. */
export interface ImageQuality {
  /** Every component keeps to its bound. */
  passed: boolean
  components: Array<QualityFinding>
}

/** Measured on the face that was compared. */
export interface Quality {
  /** Overall, 0 to 1, higher is better. */
  score: number
  /** Width of the face between its outer edges, in pixels. */
  face_width_px: number
  /** Confidence of the face detector, 0 to 1. */
  detection: number
  /** Variance of the Laplacian of the aligned face. */
  sharpness: number
  /** Mean grey level of the aligned face, 0 to 255. */
  brightness: number
  /** Standard deviation of the grey level of the aligned face. */
  contrast: number
}

/** Measured on the best face. */
export interface EnrolmentQuality {
  /** Overall, 0 to 1, higher is better. */
  score: number
  /** Width of the face between its outer edges, in pixels. */
  face_width_px: number
  /** Confidence of the face detector, 0 to 1. */
  detection: number
  /** Variance of the Laplacian of the aligned face. */
  sharpness: number
  /** Mean grey level of the aligned face, 0 to 255. */
  brightness: number
  /** Standard deviation of the grey level of the aligned face. */
  contrast: number
  /** How many photos the reference holds: three miss far fewer people than one. */
  views: number
  /** One an image of the request, in their order. */
  images: Array<ImageQuality>
}

/** Presentation attack detection. */
export interface Liveness {
  /** False when nothing was checked: nothing is claimed. */
  checked: boolean
  /**
   * What was checked: `passive:<pack>` by the liveness network of that pack, `active-geometry@1` by the movements of a
   * challenge.
   */
  methods: Array<string>
  /**
   * Of the liveness network: probability of a live person, 0 to 1; null where it judged nothing, also for a face that is
   * `too_close`.
   */
  score: number | null
  /** By every method. */
  passed: boolean | null
  /** Of a capture that failed: what the person can be told. */
  guidance?: LivenessGuidance
  /** What that looks like: for the backend, never for the person. */
  findings?: Array<LivenessFinding>
}

/** A pose that a challenge asks for. `left` and `right` are the person’s own. */
export type ChallengeStep = 'frontal' | 'turn_left' | 'turn_right' | 'nod_up' | 'nod_down'

/** The frames of a person who did what a challenge asked, in the place of photos. */
export interface ChallengeResponse<Image = ImageInput> {
  id: string
  nonce: string
  /** In the order of their capture. */
  frames: Array<{
    /** Index of the step that the person was shown. 0 to 4. */
    step: number
    /** Milliseconds since the capture began. 0 to 120000. */
    t_ms: number
    /** The frame, not mirrored: a file as in `image`. */
    image: Image
  }>
}

/** Body of `POST /v1/challenges`. */
export interface ChallengeFields<A extends ActionLike = Action> {
  /**
   * The customer's own identifier of the user: 1 to 128 characters, no control characters. Nobody is enrolled under one
   * that holds format, invisible, private-use or unassigned characters of Unicode.
   */
  user_id: string
  /** The call in which the frames will be sent. Default `verify`. */
  purpose?: 'verify' | 'enroll'
  /**
   * What is to be countersigned, such as the transfer's amount and payee: an object or a string, at most 4096 bytes in
   * RFC 8785 canonical form. Integers beyond 2^53 - 1 and numbers with more digits than a double holds are refused,
   * because different readers take them for different numbers: send them as strings.
   */
  action?: A
  /**
   * How the person can move the head; default both. With one of them the statement is weaker and named so; with none,
   * `[]`, frames alone are taken.
   */
  modes?: Array<'turn' | 'nod'>
}

/** Answer of `POST /v1/challenges`. */
export interface Challenge {
  challenge_id: string
  /** To be sent back with the frames. Told this once. */
  nonce: string
  /** The customer's own identifier of the user: 1 to 128 characters, no control characters. */
  user_id: string
  /** The call in which the frames will be sent. Default `verify`. */
  purpose: 'verify' | 'enroll'
  /** How the check will be called in verdicts; null where no movement is asked for. */
  method: string | null
  /** In order. Left and right are the person’s own. */
  steps: Array<ChallengeStep>
  /** What the frames must keep to. */
  capture: {
    min_frames: number
    max_frames: number
    min_interval_ms: number
    max_interval_ms: number
    min_duration_ms: number
    max_duration_ms: number
  }
  /** Seconds in which the frames must have come. */
  expires_in: number
  /** When the challenge expires. RFC 3339. */
  expires_at: string
}

/** Body of `POST /v1/guidance`: a small frame of a person before the camera. */
export interface GuidanceRequest<Image = ImageInput> {
  /** The frame, not mirrored: a file as for verify, of at most 307,200 pixels (640 x 480). A long side of 320 is enough. */
  image: Image
  /**
   * What the person is to do: of a challenge the step that is shown. Left and right are the person’s own. Default
   * `frontal`.
   */
  step?: ChallengeStep
  /**
   * A frame of before in which the person looks ahead, from which a movement is measured. Without it nothing is said of a
   * nod.
   */
  frontal?: Image
  /** For the sandbox, whose answers go by its end. Production does not look at it. */
  user_id?: string
}

/** Answer of `POST /v1/guidance`. */
export interface Guidance {
  /** What the person is to do: of a challenge the step that is shown. */
  step: ChallengeStep
  /**
   * What the person can be told, the most urgent first. Empty where nothing is left to be done: to hold still, or of a
   * movement that it went far enough.
   */
  guidance: Array<FrameGuidance>
}

/** Recorded with the reference. */
export interface Consent {
  /** Where the customer keeps the consent. */
  id: string
  /** When the consent was given. RFC 3339. */
  at: string
}

/** Body of `POST /v1/enroll`, without the photos. */
export interface EnrollFields {
  /** The customer's own identifier of the user: 1 to 128 characters, no control characters. */
  user_id: string
  /**
   * What must have been checked of this capture: `passive` by a network, `active` by a challenge. What the installation
   * and the contract of the tenant require holds besides. Default `none`.
   */
  require_liveness?: LivenessRequirement
  /** Replace the reference of a user who is enrolled already. Default `false`. */
  replace?: boolean
  /**
   * With `replace`, where the contract asks for a verdict: an approved verify of this user for an action with the type
   * `replace_reference`, of the last minutes, which is used up by it.
   */
  verification_id?: string
  /**
   * Add the photos to the reference of a user who is enrolled already: each must match it. Not together with `replace`.
   * Default `false`.
   */
  add?: boolean
  /**
   * Assess the photos and store nothing: 200 instead of 201. Photos that an enrolment would refuse for their quality are
   * told of in `quality.images`. Whether the user is enrolled makes no difference. Default `false`.
   */
  dry_run?: boolean
  /** Recorded with the reference. */
  consent?: Consent
}

/** Answer of `POST /v1/enroll`. */
export interface EnrollResult {
  reference_id: string
  /** The customer's own identifier of the user: 1 to 128 characters, no control characters. */
  user_id: string
  /** Measured on the best face. */
  quality: EnrolmentQuality
  /** Presentation attack detection. */
  liveness: Liveness
  /** The model pack the reference was made with. */
  model: string
  status: 'enrolled'
  /** When the reference was captured. RFC 3339. */
  created_at: string
}

/** Answer of `POST /v1/enroll` with `dry_run`: the quality of the photos. Nothing is stored. */
export interface AssessResult {
  /** The customer's own identifier of the user: 1 to 128 characters, no control characters. */
  user_id: string
  /** Measured on the best face. */
  quality: EnrolmentQuality
  /** Presentation attack detection. */
  liveness: Liveness
  /** The model pack the reference was made with. */
  model: string
  status: 'assessed'
}

/** Body of `POST /v1/verify`, without the photos. */
export interface VerifyFields<A extends ActionLike = Action> {
  /** The customer's own identifier of the user: 1 to 128 characters, no control characters. */
  user_id: string
  /** What must have been checked of this capture: `passive` by a network, `active` by a challenge. */
  require_liveness?: LivenessRequirement
  /**
   * What is to be countersigned, such as the transfer's amount and payee: an object or a string, at most 4096 bytes in
   * RFC 8785 canonical form.
   */
  action: A
  /** Echoed in the JWT, so that the caller can tell its own verdict. */
  nonce?: string
}

/** Answer of `POST /v1/verify`, without the verdict. */
export interface VerifyFacts {
  /** The `jti` of the JWT. */
  verification_id: string
  /** The customer's own identifier of the user: 1 to 128 characters, no control characters. */
  user_id: string
  /** The score from which on the verdict is approved. */
  threshold: number
  /** The false match rate that the threshold has reached on calibration data; not always the one that was asked for. */
  fmr: number
  /** What stands behind `fmr`: `extrapolated` where nobody has measured it and the operator accepted that. */
  fmr_basis: FmrBasis
  /**
   * What the model pack is good for at this rate: `production` where the rate was measured on everybody and in each group
   * that the data names.
   */
  model_grade: ModelGrade
  /** Presentation attack detection. */
  liveness: Liveness
  quality: Quality | null
  /** The capture was seen before within 24 hours. */
  replay: {
    suspected: boolean
  }
  model: string
  /** When the verdict was reached. RFC 3339. */
  verified_at: string
  /** The verdict, signed with the signing secret that the caller holds. */
  jwt: string
  /** During a rotation overlap: the same claims under the new secret. */
  jwt_next?: string
  /** When the JWT expires. RFC 3339. */
  jwt_expires_at: string
  /** Sandbox only: this verify cleared and issued the production key. */
  production_key?: 'issued'
}

/** Body of `DELETE /v1/delete`. */
export interface DeleteRequest {
  /** The customer's own identifier of the user: 1 to 128 characters, no control characters. */
  user_id: string
}

/** Answer of `DELETE /v1/delete`: the receipt of an erasure. */
export interface DeleteResult {
  /** The customer's own identifier of the user: 1 to 128 characters, no control characters. */
  user_id: string
  status: 'erased'
  erasure_id: string
  /** When the user was erased. RFC 3339. */
  erased_at: string
  erased: {
    /** Biometric references. */
    references: number
    /** Remembered captures, kept for telling replays. */
    captures: number
    /** Kept responses. */
    idempotency_records: number
  }
}

/** Answer of `GET /v1/users/{user_id}`: an enrolled user. */
export interface User {
  /** The customer's own identifier of the user: 1 to 128 characters, no control characters. */
  user_id: string
  status: 'enrolled'
  /** When the user was enrolled first. RFC 3339. */
  enrolled_at: string
  reference: {
    reference_id: string
    /** When it was captured, or photos were last added to it. RFC 3339. */
    created_at: string
    /** The model pack it was made with. */
    model: string
    /**
     * Whether it was made with the model pack that serves. If not, verify answers `reference_model_mismatch` until the user
     * is enrolled anew.
     */
    comparable: boolean
    /** How many photos it holds. */
    views: number
    consent: Consent | null
  }
  lockout: {
    /** What verify would answer now. `reference_disabled` ends by a new enrolment alone. */
    status: 'none' | 'locked_out' | 'reference_disabled'
    /** When `locked_out` ends by itself. RFC 3339. */
    until: string | null
    /** Consecutive rejections so far. */
    rejections: number
  }
}

/** One entry of the audit log. */
export interface AuditEntry {
  /** 1, 2, 3, … without a gap. */
  sequence: number
  /** When it happened. RFC 3339. */
  at: string
  /**
   * What happened: enroll, verify, delete, rotate_signing, key_revealed, key_created, key_revoked, key_reissued,
   * tenant_created, contract_changed, capture_page_changed, capture_consented, capture_code_failed, user_unlocked,
   * webhook_added, webhook_removed, webhook_redelivered, database_restored, working_keys_changed, audit_break_found,
   * operator_password_reset, operator_added, operator_changed, operator_removed, operator_password_chosen, person_added,
   * person_changed, person_password_reset, person_password_chosen, person_removed, signed_in, sign_in_failed,
   * login_link_made, operator_link_made, second_factor_added, second_factor_removed, identity_confirmed, sessions_ended,
   * tenant_suspended, tenant_resumed, tenant_deleted.
   */
  event: string
  /** Who: the id of an API key, `operator` at the command line, or somebody at the dashboard. */
  actor: string
  /** The request by which it happened. */
  request_id: string | null
  /** HTTP status, of a call of the API. */
  status: number | null
  /** Error code, where it failed. */
  code: string | null
  /** Pseudonym of the user, which nobody can link to a user who is erased. */
  subject: string | null
  /** What else was recorded of this event. */
  facts: { [name: string]: unknown }
  /** Chain value, in hex: it covers every entry up to this one. */
  hash: string
}

/** Answer of `GET /v1/audit`: a page of the audit log. */
export interface AuditPage {
  /** In the order that was asked for. */
  data: Array<AuditEntry>
  /** Whether the log goes on with entries that were asked for. */
  has_more: boolean
  /** What to send as `after` for what follows: now, or later, when more has happened. */
  next_cursor: string
  /**
   * The log was changed in the database: the `sequence` of the first entry that does not fit, as the daily verification
   * found. Left out where it found none.
   */
  broken_at?: number
}

/** Answer of `GET /v1/health`. */
export interface HealthResult {
  status: HealthStatus
  environment: Environment
  version: string
  checks: {
    engine: {
      status: HealthStatus
      /** The model pack that serves. */
      model: string
      /** What the pack is good for at the configured false match rate. */
      grade: ModelGrade
      workers: {
        ready: number
        configured: number
      }
      queue: {
        waiting: number
        running: number
        limit: number
      }
      /** The ONNX Runtime provider that runs the models. */
      execution_provider: string
      /** Providers that were asked for first and could not serve, and why. */
      fallbacks: Array<{
        provider: string
        reason: string
      }>
    }
    store: {
      status: HealthStatus
    }
    http: {
      status: HealthStatus
      /** The HTTP server that answers: uWebSockets.js or node:http. */
      transport: 'uws' | 'node'
      /**
       * Why this one: `preferred` is the first choice, `configured` was asked for, `unavailable` serves because
       * uWebSockets.js does not load.
       */
      reason: 'preferred' | 'configured' | 'unavailable'
    }
  }
}

/** Body of `POST /v1/keys/rotate-signing`. */
export interface RotateSigningRequest {
  /** Rotate even in an overlap: ends the older secret at once. Default `false`. */
  force?: boolean
}

/** Answer of `POST /v1/keys/rotate-signing`. */
export interface RotateSigningResult {
  signing_secret: {
    /** The `kid` of signatures and JWTs. */
    id: string
    /** The new signing secret, shown only here: no replay and no other call gives it again. */
    secret: string
    /** When the secret was made. RFC 3339. */
    created_at: string
  }
  previous: {
    id: string
    /** End of the overlap. RFC 3339. */
    valid_until: string
  }
  overlap_seconds: number
}

/** The text that the person agrees to before the camera starts, instead of the tenant’s. */
export interface ConsentText {
  version: string
  text: string
}

/** Body of `POST /v1/capture-sessions`. */
export interface CaptureSessionFields<A extends ActionLike = Action> {
  /** The customer's own identifier of the user: 1 to 128 characters, no control characters. */
  user_id: string
  /** The call in which the frames will be sent. Default `verify`. */
  purpose?: 'verify' | 'enroll'
  /**
   * What is to be countersigned, such as the transfer's amount and payee: an object or a string, at most 4096 bytes in
   * RFC 8785 canonical form.
   */
  action?: A
  /** How the person can move the head; default both. */
  modes?: Array<'turn' | 'nod'>
  /** What must have been checked of this capture: `passive` by a network, `active` by a challenge. */
  require_liveness?: LivenessRequirement
  /** Of an enrolment: as `enroll` takes it. Default `false`. */
  replace?: boolean
  /**
   * `code`: the page first asks for `confirmation_code`. Tell it to the person by another channel than the link. `none`:
   * the link is enough for anyone who opens it first. Default: `code` for an enrolment, `none` for a verify.
   */
  confirmation?: 'code' | 'none'
  /** Of an enrolment that replaces: as `enroll` takes it. */
  verification_id?: string
  /**
   * Where the page leads when it is done, with `capture_session=<id>` added to the query. Its origin must be allowed for
   * the tenant.
   */
  return_url: string
  /** Language of the page. Default: what the browser asks for. */
  locale?: 'en' | 'de' | 'fr' | 'es' | 'ja'
  /**
   * What the person confirms, in words: shown on the page. It holds no invisible characters and none that change the
   * direction of writing.
   */
  description?: string
  /** The text that the person agrees to before the camera starts, instead of the tenant’s. */
  consent?: ConsentText
}

/** Answer of `POST /v1/capture-sessions`: the link for the person. */
export interface CaptureSessionLink {
  session_id: string
  /** Where the person is sent. It opens in one browser, once, and is told only here. */
  url: string
  /**
   * Six digits, told only here. Tell them to the person by another channel than the link: after five wrong ones the
   * session is over. Null where none is asked for.
   */
  confirmation_code: string | null
  /** The customer's own identifier of the user: 1 to 128 characters, no control characters. */
  user_id: string
  /** The call in which the frames will be sent. Default `verify`. */
  purpose: 'verify' | 'enroll'
  /** Seconds in which the capture must be done. */
  expires_in: number
  /** When the session expires. RFC 3339. */
  expires_at: string
}

/**
 * `open`: nobody has opened the link. `in_progress`: somebody has. `completed`: `result` is final. `cancelled`: the
 * person gave up. `expired`: the time was over first.
 */
export type CaptureSessionStatus = 'open' | 'in_progress' | 'completed' | 'cancelled' | 'expired'

/** Answer of `GET /v1/capture-sessions/{session_id}`, without the result. */
export interface CaptureSessionFacts {
  session_id: string
  /**
   * `open`: nobody has opened the link. `in_progress`: somebody has. `completed`: `result` is final. `cancelled`: the
   * person gave up. `expired`: the time was over first.
   */
  status: CaptureSessionStatus
  /** Captures that were judged or are being judged. */
  attempts: number
  /** The person’s consent; null before. */
  consent: {
    version: string
    /** When the person agreed. RFC 3339. */
    at: string
  } | null
  /** When the session was made. RFC 3339. */
  created_at: string
  /** When it expires. RFC 3339. */
  expires_at: string
}

/** One detail of an error of this version of the service. */
export interface DocumentedErrorDetail {
  /** The field. */
  path: string
  /** What is wrong with it. */
  issue: string
  /** Of `low_quality`: the quality component that is beyond its bound. */
  component?: QualityComponent
  /** What was measured. */
  value?: number
  /** What it had to keep to. */
  bound?: QualityBound
  /**
   * What the person can do about a photo. Each detail of a `biometric_rejected` has one; the capture component has a text
   * for it in five languages.
   */
  guidance?: PhotoGuidance
  /** What the person can do about a photo, as a sentence to be shown to them. */
  hint?: string
  /** Of `insufficient_scope`: a scope that is missing. */
  scope?: Scope
}

/** Body of an error of this version of the service. */
export interface DocumentedError {
  /** Stable category. */
  error: ErrorCategory
  /** Stable code. */
  code: ErrorCode
  /** What is wrong: a sentence for a developer or operator. It may change. */
  message: string
  /** What to do next: a sentence that may change. */
  remedy: string
  /** Address of the page, served by this installation, that explains the code. */
  doc_url: string
  /** The request in which the error arose. */
  request_id: string
  details?: Array<DocumentedErrorDetail>
}
