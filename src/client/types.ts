/** Requests and responses of the API, by their wire names; a test holds them to the OpenAPI document. */

/** A JPEG, PNG or WebP file: its bytes, or base64 with or without a `data:` prefix. */
export type ImageInput = Blob | ArrayBuffer | Uint8Array | string

/** What is to be countersigned: at most 4096 bytes in RFC 8785 canonical form. */
export type Action = string | { [name: string]: unknown }

/** An action of the application's own type: an interface has no index signature, so `Action` would not take it. */
export type ActionLike = string | object

/** One photo or 1 to 5 of the same person; three are best to enrol with. `Image` is what stands for a photo: base64 on the wire. */
export type Photos<Image = ImageInput> =
  | { image: Image; images?: undefined; challenge?: undefined }
  | { images: Image[]; image?: undefined; challenge?: undefined }
  | { challenge: ChallengeResponse<Image>; image?: undefined; images?: undefined }

/** The frames of a person who did what a challenge asked. */
export interface ChallengeResponse<Image = ImageInput> {
  /** `challenge_id` of the challenge. */
  id: string
  nonce: string
  /** 16 to 40, in the order of their capture, not mirrored. */
  frames: Array<{
    /** Index of the step that the person was shown. */
    step: number
    /** Milliseconds since the capture began. */
    t_ms: number
    image: Image
  }>
}

/** What must have been checked of a capture's liveness. */
export type LivenessRequirement = 'none' | 'passive' | 'active' | 'both'

export interface ChallengeFields<A extends ActionLike = Action> {
  user_id: string
  /** The call in which the frames will be sent; default verify. */
  purpose?: 'verify' | 'enroll'
  /** As verify will be sent it; required unless the purpose is to enrol. */
  action?: A
  /** How the person can move the head; default both. */
  modes?: Array<'turn' | 'nod'>
}

/** `left` and `right` are the person's own. */
export type ChallengeStep = 'frontal' | 'turn_left' | 'turn_right' | 'nod_up' | 'nod_down'

export interface Challenge {
  challenge_id: string
  /** To be sent back with the frames; told this once. */
  nonce: string
  user_id: string
  purpose: 'verify' | 'enroll'
  /** How the check will be called in verdicts; null where no movement is asked for. */
  method: string | null
  steps: ChallengeStep[]
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
  expires_at: string
}

/** A small frame of a person before the camera, who is to be told what to do better. */
export interface GuidanceRequest<Image = ImageInput> {
  /** Not mirrored, at most 307,200 pixels (640 x 480); a long side of 320 is enough. */
  image: Image
  /** What the person is to do: of a challenge the step that is shown. Default frontal. */
  step?: ChallengeStep
  /** A frame of before in which the person looks ahead, from which a movement is measured. */
  frontal?: Image
  /** For the sandbox, whose answers go by its end. */
  user_id?: string
}

export interface Guidance {
  step: ChallengeStep
  /** The most urgent first; empty where nothing is left to be done. */
  guidance: FrameGuidance[]
}

/** What a person can be told of one frame. */
export type FrameGuidance = Exclude<LivenessGuidance, 'slower' | 'try_again'>

export interface EnrollFields {
  /** 1 to 128 characters, no control characters; nobody is enrolled under one with invisible characters. */
  user_id: string
  /** Replace the reference of a user who is enrolled already. */
  replace?: boolean
  /** With `replace`, where the contract asks for a verdict: an approved verify of this user for an action with `type: 'replace_reference'`. */
  verification_id?: string
  /** Add the photos to the reference of a user who is enrolled already; each must match it. Not together with `replace`. */
  add?: boolean
  /** Assess the photos and store nothing; those that are too poor to enrol with are told of in `quality.images`. */
  dry_run?: boolean
  /** The checks that the capture must have passed, besides those that the installation requires. */
  require_liveness?: LivenessRequirement
  /** Recorded with the reference; `at` in RFC 3339. */
  consent?: { id: string; at: string }
}

export type EnrollRequest<Image = ImageInput> = EnrollFields & Photos<Image>

export interface VerifyFields<A extends ActionLike = Action> {
  user_id: string
  action: A
  /** At most 256 characters; echoed in the JWT. The SDK sends the idempotency key when none is given. */
  nonce?: string
  /** The checks that the capture must have passed, besides those that the installation requires. */
  require_liveness?: LivenessRequirement
}

export type VerifyRequest<Image = ImageInput, A extends ActionLike = Action> = VerifyFields<A> & Photos<Image>

export interface DeleteRequest {
  user_id: string
}

export interface RotateSigningRequest {
  /** Rotate even in an overlap: ends the older secret at once. */
  force?: boolean
}

/** Measured on the face that was compared. */
export interface Quality {
  /** Overall, 0 to 1. */
  score: number
  face_width_px: number
  /** Confidence of the face detector, 0 to 1. */
  detection: number
  /** Variance of the Laplacian of the aligned face. */
  sharpness: number
  /** Mean grey level, 0 to 255. */
  brightness: number
  /** Standard deviation of the grey level. */
  contrast: number
}

/** Presentation attack detection; `checked: false` claims nothing. */
export interface Liveness {
  checked: boolean
  /** What was checked: `passive:<pack>` by a network, `active-geometry@1` by the movements of a challenge. */
  methods: string[]
  /** Of the network. */
  score: number | null
  /** By every method. */
  passed: boolean | null
  /** Of a capture that failed: what the person can be told. */
  guidance?: LivenessGuidance
  /** What that looks like: for the backend, never for the person. */
  findings?: LivenessFinding[]
}

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
  | LivenessGuidance
  | 'eyes_closed'
  | 'file_unreadable'
  | 'wrong_format'
  | 'image_too_large'
  | 'image_too_small'
  | 'different_people'
  | 'not_live'

export type LivenessFinding = 'flat' | 'face_changed' | 'discontinuous' | 'replayed' | 'out_of_order'

/** What is measured of light, focus, pose and eyes, as ISO/IEC 29794-5 names it. */
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

/** Both ends are good enough; an end that is missing is open. */
export interface QualityBound {
  min?: number
  max?: number
}

export interface QualityFinding {
  component: QualityComponent
  value: number
  /** What an enrolment photo must keep to; null where every value will do. */
  bound: QualityBound | null
  passed: boolean
  /** What the person can do, to be shown to them; null where it passed. */
  hint: string | null
}

export interface ImageQuality {
  /** Every component keeps to its bound. */
  passed: boolean
  components: QualityFinding[]
}

/** Measured on the best face. */
export interface EnrolmentQuality extends Quality {
  /** How many photos the reference holds. */
  views: number
  /** One a photo of the request, in their order. */
  images: ImageQuality[]
}

export interface EnrollResult {
  reference_id: string
  user_id: string
  status: 'enrolled'
  quality: EnrolmentQuality
  liveness: Liveness
  model: string
  created_at: string
}

/** Of a dry run: what the photos are worth. */
export interface AssessResult {
  user_id: string
  status: 'assessed'
  quality: EnrolmentQuality
  liveness: Liveness
  model: string
}

export type RejectionReason =
  | 'no_match'
  | 'liveness_failed'
  | 'replayed_capture'
  | 'locked_out'
  | 'reference_disabled'

/** `extrapolated`: nobody has measured the rate, and the operator accepted that. */
export type FmrBasis = 'measured' | 'extrapolated'

/** `production`: the rate was measured on everybody and in each group that the data names. */
export type ModelGrade = 'production' | 'evaluation'

export interface VerifyFacts {
  /** The `jti` of the JWT. */
  verification_id: string
  user_id: string
  threshold: number
  /** The false match rate that the threshold has reached on calibration data; not always the one that was asked for. */
  fmr: number
  /** What stands behind `fmr`. */
  fmr_basis: FmrBasis
  /** What the model pack is good for at this rate. */
  model_grade: ModelGrade
  liveness: Liveness
  quality: Quality | null
  replay: { suspected: boolean }
  model: string
  verified_at: string
  /** The verdict. The SDK puts the token here that it can check with the configured secrets. */
  jwt: string
  /** During a rotation overlap: the same claims under the new secret. */
  jwt_next?: string
  jwt_expires_at: string
  /** Sandbox only: this verify issued the production key. */
  production_key?: 'issued'
}

/** `verdict` tells the two apart. */
export type VerifyResult = ApprovedResult | RejectedResult

export interface ApprovedResult extends VerifyFacts {
  verdict: 'approved'
  reason: null
  /** Similarity. */
  score: number
}

export interface RejectedResult extends VerifyFacts {
  verdict: 'rejected'
  reason: RejectionReason
  /** Similarity; null when the images were not compared. */
  score: number | null
}

export interface DeleteResult {
  user_id: string
  status: 'erased'
  erasure_id: string
  erased_at: string
  erased: { references: number; captures: number; idempotency_records: number }
}

/** What is known of an enrolled user. */
export interface User {
  user_id: string
  status: 'enrolled'
  /** When the user was enrolled first. */
  enrolled_at: string
  reference: {
    reference_id: string
    created_at: string
    model: string
    /** Whether it was made with the model pack that serves; if not, the user must be enrolled anew. */
    comparable: boolean
    /** How many photos it holds. */
    views: number
    consent: { id: string; at: string } | null
  }
  lockout: {
    /** `reference_disabled` ends by a new enrolment alone. */
    status: 'none' | 'locked_out' | 'reference_disabled'
    /** When `locked_out` ends by itself. */
    until: string | null
    /** Consecutive rejections so far. */
    rejections: number
  }
}

export interface AuditListRequest {
  /** A `next_cursor`; default: the start of the log, or its end with the order `desc`. */
  after?: string
  /** `asc`: oldest first, which is the default; `desc`: newest first. */
  order?: 'asc' | 'desc'
  /** At most how many entries a page; 1 to 200, default 50. */
  limit?: number
  /** Only entries of this event. */
  event?: string
}

export interface AuditPage {
  /** In the order that was asked for. */
  data: AuditEntry[]
  /** Whether the log goes on; a page may be empty all the same. */
  has_more: boolean
  /** What to send as `after` for what follows, now or later. */
  next_cursor: string
  /** The log was changed in the service's database: the first entry that does not fit. Left out where none is known. */
  broken_at?: number
}

export interface AuditEntry {
  sequence: number
  at: string
  event: string
  /** The id of an API key, `operator`, or somebody at the dashboard. */
  actor: string
  request_id: string | null
  /** HTTP status, of a call of the API. */
  status: number | null
  /** Error code, where it failed. */
  code: string | null
  /** Pseudonym of the user. */
  subject: string | null
  /** What else was recorded of this event. */
  facts: { [name: string]: unknown }
  /** Chain value, in hex. */
  hash: string
}

export type HealthStatus = 'ok' | 'degraded'

export interface HealthResult {
  status: HealthStatus
  environment: Environment
  version: string
  checks: {
    engine: {
      status: HealthStatus
      model: string
      grade: ModelGrade
      workers: { ready: number; configured: number }
      queue: { waiting: number; running: number; limit: number }
      execution_provider: string
      fallbacks: Array<{ provider: string; reason: string }>
    }
    store: { status: HealthStatus }
    /** The HTTP server that answers, and why this one: uWebSockets.js or node:http. */
    http: {
      status: HealthStatus
      transport: 'uws' | 'node'
      reason: 'preferred' | 'configured' | 'unavailable'
    }
  }
}

export interface RotateSigningResult {
  signing_secret: { id: string; secret: string; created_at: string }
  previous: { id: string; valid_until: string }
  overlap_seconds: number
}

export type Environment = 'production' | 'sandbox'

/** A kind of call that an API key may make. A key without scopes may make every call. */
export type Scope = 'verify' | 'enroll' | 'replace' | 'erase' | 'read' | 'audit' | 'rotate'

interface ClaimFacts<A extends ActionLike> {
  iss: string
  aud: string
  sub: string
  iat: number
  nbf: number
  exp: number
  jti: string
  txn: string
  env: Environment
  fmr: number
  fmr_basis: FmrBasis
  action: A
  action_hash: string
  nonce?: string
  amr: string[]
  acr: string
  auth_time: number
  model: string
  model_grade: ModelGrade
  /** By which methods liveness was checked; nothing is claimed beyond them. */
  liveness: { checked: boolean; passed: boolean | null; methods: string[]; score: number | null }
  /** Id of the challenge whose frames were judged. */
  challenge?: string
  replay: { suspected: boolean }
}

export interface ApprovedClaims<A extends ActionLike = Action> extends ClaimFacts<A> {
  verdict: 'approved'
  reason?: undefined
  score: number
}

export interface RejectedClaims<A extends ActionLike = Action> extends ClaimFacts<A> {
  verdict: 'rejected'
  reason: RejectionReason
  score: number | null
}

/** The claims of a verdict JWT; `verdict` tells the two apart. Times are unix seconds. */
export type VerdictClaims<A extends ActionLike = Action> = ApprovedClaims<A> | RejectedClaims<A>

interface WebhookFacts {
  /** The same at every try and every redelivery: by it repeats are told. */
  id: string
  created_at: string
  environment: Environment
  tenant_id: string
}

/** A session of the hosted capture page that is over. */
interface EndedCaptureSession {
  session_id: string
  purpose: 'verify' | 'enroll'
  /** Captures that were judged, 0 to 3. */
  attempts: number
}

/** What a webhook tells; `type` tells the events apart, and there may be more of them one day. */
export type WebhookEvent = WebhookFacts &
  (
    | {
        type: 'user.enrolled'
        data: {
          user_id: string
          reference_id: string
          model: string
          views: number
          /** An enrolment took the place of another one. */
          replaced?: boolean
          /** How many photos joined the reference. */
          added?: number
        }
      }
    | { type: 'user.locked_out'; data: { user_id: string; rejections: number; until: string } }
    | { type: 'user.disabled'; data: { user_id: string; rejections: number } }
    | { type: 'user.unlocked'; data: { user_id: string } }
    | { type: 'user.erased'; data: DeleteResult }
    | {
        type: 'capture_session.completed'
        data: EndedCaptureSession & {
          /** Null where no capture was judged. It proves nothing: get the session, and check the JWT of its verdict. */
          result: {
            /** HTTP status of the call of verify or enroll. */
            status: number
            verdict: 'approved' | 'rejected' | null
            reason: string | null
            /** Code of the error, where the answer is one. */
            code: string | null
          } | null
        }
      }
    | { type: 'capture_session.cancelled' | 'capture_session.expired'; data: EndedCaptureSession }
    | { type: 'webhook.test'; data: Record<string, never> }
  )
