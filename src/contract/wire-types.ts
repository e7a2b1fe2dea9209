/** Generated from docs/openapi.json and the claims by `npm run docs`: requests, answers, claims and webhooks by their wire names. */
import type { ErrorCategory, ErrorCode } from './error-codes.js'
import type { Action, ActionLike, ImageInput } from './inputs.js'

/** Environment of an API key. */
export type Environment = 'production' | 'sandbox'

/** A kind of call that an API key may make. A key without scopes may make every call. */
export type Scope = 'verify' | 'enroll' | 'replace' | 'recover' | 'erase' | 'read' | 'audit' | 'rotate'

/** State of the service or of a part of it. */
export type HealthStatus = 'ok' | 'degraded'

/**
 * Grade of a model pack: `production` where its error rate was measured on everybody and in each group of people;
 * `ungrouped` where the data name no groups; else `evaluation`.
 */
export type ModelGrade = 'production' | 'ungrouped' | 'evaluation'

/** Basis of a false match rate: `extrapolated` where nobody has measured it and the operator accepted that. */
export type FmrBasis = 'measured' | 'extrapolated'

/** The reason for which verify rejects a capture. */
export type RejectionReason =
  | 'no_match'
  | 'liveness_failed'
  | 'replayed_capture'
  | 'locked_out'
  | 'reference_disabled'
  | 'second_approval_required'
  | 'same_person'
  | 'review_required'

/** The checks of liveness that a capture must have passed. */
export type LivenessRequirement = 'none' | 'passive' | 'active' | 'both'

/** Advice to a person about one frame. */
export type FrameGuidance =
  | 'no_face'
  | 'not_upright'
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
export type LivenessGuidance = FrameGuidance | 'mirrored' | 'slower' | 'try_again'

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

/** A suspicion about the frames of a challenge: for the backend, never for the person. */
export type LivenessFinding =
  | 'flat'
  | 'face_changed'
  | 'discontinuous'
  | 'replayed'
  | 'out_of_order'
  | 'mirrored'

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

/** A component that is beyond its bound for an enrollment photo. */
export interface QualityIssue {
  /** The field of the request that holds the photo. */
  path: string
  /** Quality component, by its name in ISO/IEC 29794-5. */
  component: QualityComponent
  /** Measured value of the component. */
  value: number
  /** Range of good values, both ends included; an absent end is open. */
  bound: QualityBound
  /** Advice to the person. */
  guidance: PhotoGuidance
  /** The advice as a sentence to show to the person. */
  hint: string
}

/** One measurement of a photo, held against its bound for an enrollment photo. */
export interface QualityFinding {
  component: QualityComponent
  value: number
  bound: QualityBound | null
  /** True also where no bound is set: `bound` is then null. */
  passed: boolean
}

/** All measurements of one photo. */
export interface ImageQuality {
  path: string
  /** Whether every component keeps to its bound. */
  passed: boolean
  /** Width of the face between its outer edges, in pixels. */
  face_width_px: number
  /** Confidence of the face detector, 0 to 1. */
  detection: number
  components: Array<QualityFinding>
}

/** Quality of the photo that was compared. Verify also compares photos that an enrollment refuses. */
export interface Quality {
  /** Overall, 0 to 1, higher is better. */
  score: number
  /** Whether every component keeps to its bound for an enrollment photo. */
  passed: boolean
  /** The components that failed; empty where all passed. */
  issues: Array<QualityIssue>
  /** The photo that was compared. Only where `include` asks for `quality`. */
  images?: Array<ImageQuality>
}

/** Quality of the photos. The score is that of the best one. */
export interface EnrollmentQuality {
  /** Overall, 0 to 1, higher is better. */
  score: number
  passed: boolean
  issues: Array<QualityIssue>
  /** Number of photos that the reference was made of: with three, far fewer people are missed than with one. */
  views: number
  /** One entry for each photo of the request, in their order. Only in a dry run, and where `include` asks for `quality`. */
  images?: Array<ImageQuality>
}

/** Presentation attack detection. */
export interface Liveness {
  /** False when nothing was checked: the statement then claims nothing. */
  checked: boolean
  /**
   * Checks that were made: `passive:<pack>` by the liveness network of that pack, `active-geometry@1` by the movements of
   * a challenge.
   */
  methods: Array<string>
  /**
   * Probability of a live person, 0 to 1, by the liveness network; null where it judged nothing, also for a face that is
   * `too_close`.
   */
  score: number | null
  /** Whether the capture passed every method. */
  passed: boolean | null
  /** Advice for the person after a capture that failed, the most urgent first; empty where there is none. */
  guidance: Array<LivenessGuidance>
  /** Suspicions about a capture that failed; empty where there are none. For the backend, never for the person. */
  findings: Array<LivenessFinding>
}

/** A pose that a challenge asks for. `left` and `right` are the person’s own. */
export type ChallengeStep = 'frontal' | 'turn_left' | 'turn_right' | 'nod_up' | 'nod_down'

/** A signal about a capture that the browser reports. */
export type ClientSignal =
  | 'virtual_camera'
  | 'replaced_function'
  | 'synthetic_track'
  | 'unlisted_camera'
  | 'settings_mismatch'
  | 'frame_timing'

/**
 * The browser’s report about the integrity of the capture. With it the answer has `capture_integrity`. The hosted page
 * sends it.
 */
export interface CaptureReport {
  /** Signals that the browser saw; an empty list where it saw none. */
  signals: Array<ClientSignal>
}

/** A sign that the pictures may not come from a camera of the device. */
export interface CaptureSignal {
  /** Name of the signal. */
  code:
    | 'virtual_camera'
    | 'replaced_function'
    | 'synthetic_track'
    | 'unlisted_camera'
    | 'settings_mismatch'
    | 'frame_timing'
    | 'repeated_picture'
    | 'mixed_frames'
  /** `client`: the browser reported it. `server`: the service found it in the pictures. */
  source: 'client' | 'server'
}

/** Signs that pictures may not come from a camera of the device: hints, never proof. They change no verdict. */
export interface CaptureIntegrity {
  /** The signals; an empty list where nobody saw one. */
  signals: Array<CaptureSignal>
}

/** The frames of a person who did what a challenge asked, instead of photos. */
export interface ChallengeAnswer<Image = ImageInput> {
  challenge_id: string
  nonce: string
  /** The frames, in the order of their capture. */
  frames: Array<{
    /** Index of the step that the person was shown. 0 to 4. */
    step: number
    /** Milliseconds since the capture began. 0 to 120000. */
    t_ms: number
    /** The frame, not mirrored: a file as in `image`. */
    image: Image
  }>
}

/** A credential, for the browser. */
export interface PasskeyDescriptor {
  /** The kind of credential. */
  type: 'public-key'
  /** Id of the credential, in base64url. */
  id: string
  /** How a browser reaches it, such as `usb`. */
  transports: Array<string>
}

/** Options for `PublicKeyCredential.parseCreationOptionsFromJSON()`. Pass them on unchanged. */
export interface PasskeyCreationOptions {
  /** The bytes to sign, in base64url. */
  challenge: string
  /** The tenant’s domain and name. */
  rp: {
    id: string
    name: string
  }
  /** A handle without meaning, and the names that the device shows. */
  user: {
    id: string
    name: string
    displayName: string
  }
  /** Algorithms of COSE that are accepted. */
  pubKeyCredParams: Array<{
    /** The kind of credential. */
    type: 'public-key'
    alg: number
  }>
  /** Milliseconds that the person has. */
  timeout: number
  /** Passkeys that the user has already. */
  excludeCredentials: Array<PasskeyDescriptor>
  /** Abilities that the authenticator must have. */
  authenticatorSelection: {
    residentKey: string
    requireResidentKey: boolean
    userVerification: string
  }
  /** `none`, or `direct` where AAGUIDs are listed. */
  attestation: string
}

/** Options for `PublicKeyCredential.parseRequestOptionsFromJSON()`. Pass them on unchanged. */
export interface PasskeyRequestOptions {
  /** The bytes to sign, in base64url. */
  challenge: string
  /** The tenant’s domain. */
  rpId: string
  /** Milliseconds that the person has. */
  timeout: number
  /** The passkeys of the user. */
  allowCredentials: Array<PasskeyDescriptor>
  /** Always `required`. */
  userVerification: string
}

/** Answer of `navigator.credentials.create()`, as `toJSON()` makes it. */
export interface PasskeyRegistrationResponse {
  /** Id of the credential, in base64url. */
  id: string
  /** The same id, in base64url. */
  rawId: string
  /** The kind of credential. */
  type: 'public-key'
  /** Not read. */
  authenticatorAttachment?: string | null
  /** Not read. */
  clientExtensionResults?: { [name: string]: unknown }
  /** The answer of the authenticator. */
  response: {
    /** The browser’s statement, in base64url. */
    clientDataJSON: string
    /** The credential, as its authenticator made it, in base64url. */
    attestationObject: string
    /** How a browser reaches it, such as `usb`. */
    transports?: Array<string>
  }
}

/** Answer of `navigator.credentials.get()`, as `toJSON()` makes it. */
export interface PasskeyAuthenticationResponse {
  /** Id of the credential, in base64url. */
  id: string
  /** The same id, in base64url. */
  rawId: string
  /** The kind of credential. */
  type: 'public-key'
  /** Not read. */
  authenticatorAttachment?: string | null
  /** Not read. */
  clientExtensionResults?: { [name: string]: unknown }
  /** The answer of the authenticator. */
  response: {
    /** The browser’s statement, in base64url. */
    clientDataJSON: string
    /** The authenticator’s statement, in base64url. */
    authenticatorData: string
    /** The signature, in base64url. */
    signature: string
    /** The handle of the user. */
    userHandle?: string | null
  }
}

/**
 * The signature of a passkey of the user for this action. With photos: also the `challenge_id` and `nonce` of `POST
 * /v1/users/{user_id}/passkeys/assertion`. With `challenge`: the answer to the options in that challenge, and nothing
 * else.
 */
export interface PasskeyAssertion {
  /** Id of the options. */
  challenge_id?: string
  /** Secret of the options. */
  nonce?: string
  /** Answer of `navigator.credentials.get()`, as `toJSON()` makes it. */
  credential: PasskeyAuthenticationResponse
}

/** A passkey of a user. Its key never leaves the service. */
export interface Passkey {
  /** Id of the passkey. */
  passkey_id: string
  /** Name by which the person and the backend tell passkeys apart. */
  name: string | null
  /** Whether other devices may have a copy. */
  synced: boolean
  /** Whether a copy existed at the last use. */
  backed_up: boolean
  /** Model of the authenticator, or zeros. */
  aaguid: string
  /** How a browser reaches it, such as `usb`. */
  transports: Array<string>
  /** When it was registered. RFC 3339. */
  created_at: string
  /** When it last signed. RFC 3339. */
  last_used_at: string | null
}

/** Body of `POST /v1/users/{user_id}/passkeys/registration`. */
export interface PasskeyRegistrationRequest {
  /** Name that the device shows for the account. Default: the user id. */
  user_name?: string
  /**
   * Id of an approved verification of this user for an action with the type `register_passkey`, with a check of liveness,
   * made in the last ten minutes. Required where the tenant’s settings ask for it, which is their default. For a user who
   * has a passkey, or had one, that verify needs the `passkey_assertion` of one at least as strong; or give the
   * verification that began a recovery.
   */
  verification_id?: string
}

/** Answer of `POST /v1/users/{user_id}/passkeys/registration`: what the browser is asked for. */
export interface PasskeyRegistrationChallenge {
  /** Id of the options. */
  challenge_id: string
  /** Secret of the options. */
  nonce: string
  /** Options for `PublicKeyCredential.parseCreationOptionsFromJSON()`. Pass them on unchanged. */
  options: PasskeyCreationOptions
  /** When the options expire: the answer must have arrived by then. RFC 3339. */
  expires_at: string
}

/** Body of `POST /v1/users/{user_id}/passkeys`: what the browser answered. */
export interface PasskeyRegistration {
  /** Id of the options. */
  challenge_id: string
  /** Secret of the options. */
  nonce: string
  /** Answer of `navigator.credentials.create()`, as `toJSON()` makes it. */
  credential: PasskeyRegistrationResponse
  /** Name by which the person and the backend tell passkeys apart. */
  name?: string
  /**
   * Id of an approved verification of this user for an action with the type `register_passkey`, with a check of liveness,
   * made in the last ten minutes. Required where the tenant’s settings ask for it, which is their default. For a user who
   * has a passkey, or had one, that verify needs the `passkey_assertion` of one at least as strong; or give the
   * verification that began a recovery.
   */
  verification_id?: string
}

/** Answer of `POST /v1/users/{user_id}/passkeys`. */
export interface RegisteredPasskey {
  /**
   * The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
   * identifier that holds format, invisible, private-use or unassigned characters of Unicode.
   */
  user_id: string
  /** Id of the passkey. */
  passkey_id: string
  name: string | null
  /** Whether other devices may have a copy. */
  synced: boolean
  /** Whether a copy existed at the last use. */
  backed_up: boolean
  /** Model of the authenticator, or zeros. */
  aaguid: string
  /** How a browser reaches it, such as `usb`. */
  transports: Array<string>
  /** When it was registered. RFC 3339. */
  created_at: string
  /** When it last signed. RFC 3339. */
  last_used_at: string | null
}

/** Answer of `GET /v1/users/{user_id}/passkeys`. */
export interface PasskeyList {
  user_id: string
  /** Oldest first. */
  data: Array<Passkey>
  /** Whether more entries follow. */
  has_more: boolean
  /** A user has at most ten: they come at once. */
  next_cursor: null
}

/** Answer of `DELETE /v1/users/{user_id}/passkeys/{passkey_id}`. */
export interface RevokedPasskey {
  user_id: string
  /** Id of the passkey. */
  passkey_id: string
  status: 'revoked'
}

/** Answer of `DELETE /v1/users/{user_id}/passkeys/recovery`. */
export interface CancelledPasskeyRecovery {
  user_id: string
  status: 'cancelled'
}

/** Body of `POST /v1/users/{user_id}/passkeys/assertion`. */
export interface PasskeyAssertionRequest<A extends ActionLike = Action> {
  /**
   * The action to be countersigned, such as the transfer's amount and payee: an object or a string, at most 4096 bytes in
   * RFC 8785 canonical form. Integers beyond 2^53 - 1 and numbers with more digits than a double holds are refused,
   * because readers differ in the number that they read: send them as strings. An object whose `type` is `payment`,
   * `payment_batch`, `account_change`, `login`, `consent`, `generic` is a typed action: it must fit the schema of that
   * type.
   */
  action: A
}

/** Answer of `POST /v1/users/{user_id}/passkeys/assertion`: what the browser is asked for. */
export interface PasskeyAssertionChallenge {
  /** Id of the options. */
  challenge_id: string
  /** Secret of the options. */
  nonce: string
  /** Options for `PublicKeyCredential.parseRequestOptionsFromJSON()`. Pass them on unchanged. */
  options: PasskeyRequestOptions
  /** When the options expire: the verification must have begun by then. RFC 3339. */
  expires_at: string
}

/** The passkey that has signed for this action. Null where no `passkey_assertion` was sent. */
export interface ProvenPasskey {
  /** Id of the passkey. */
  passkey_id: string
  /**
   * The name of the proof (RFC 8176): `hwk` for a key in hardware, `swk` for one in software. An approval has it in the
   * `amr` and at the end of the `acr` of its JWT.
   */
  amr: 'hwk' | 'swk'
}

/** Body of `POST /v1/challenges`. */
export interface ChallengeFields<A extends ActionLike = Action> {
  /**
   * The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
   * identifier that holds format, invisible, private-use or unassigned characters of Unicode.
   */
  user_id: string
  /** The call in which the frames will be sent. Default `verify`. */
  purpose?: 'verify' | 'enroll'
  /**
   * The action to be countersigned, such as the transfer's amount and payee: an object or a string, at most 4096 bytes in
   * RFC 8785 canonical form. Integers beyond 2^53 - 1 and numbers with more digits than a double holds are refused,
   * because readers differ in the number that they read: send them as strings. An object whose `type` is `payment`,
   * `payment_batch`, `account_change`, `login`, `consent`, `generic` is a typed action: it must fit the schema of that
   * type.
   */
  action?: A
  /**
   * Movements of the head that the person can make; default both. With only one of them the liveness statement is weaker,
   * and its name says so. With none, `[]`, the frames show no movement.
   */
  modes?: Array<'turn' | 'nod'>
  /**
   * Only for a typed action: the language in which your page shows it. The answer then has the text in `display`, and the
   * verdict names it.
   */
  locale?: 'en' | 'de' | 'fr' | 'es' | 'ja'
  /**
   * Only with `locale`, for an action of type `payment_batch`, and required there: the list of payments as text, in RFC
   * 8785 canonical form. The action holds the SHA-256 of this text, and number and sum of the payments.
   */
  payees?: string
  /**
   * How the capture uses a passkey. For a verification: `required` for a passkey that signs for the action, `preferred`
   * for one where the user has any. For an enrollment: `register` for a passkey that is made together with the reference.
   * Default: no passkey.
   */
  passkey?: 'required' | 'preferred' | 'register'
}

/** Answer of `POST /v1/challenges`. */
export interface Challenge {
  challenge_id: string
  /** Send it back with the frames. No other call returns it. */
  nonce: string
  user_id: string
  purpose: 'verify' | 'enroll'
  /** Name of the check in verdicts; null where no movement is asked for. */
  method: string | null
  /** Movements, in order. Left and right are the person’s own. */
  steps: Array<ChallengeStep>
  /** Limits that the frames must keep to. */
  capture: {
    min_frames: number
    max_frames: number
    min_interval_ms: number
    max_interval_ms: number
    /** One gap between two frames may be as long as this, where a camera stops for a moment. */
    max_gap_ms: number
    min_duration_ms: number
    max_duration_ms: number
  }
  /** Seconds until the challenge expires: the frames must have arrived by then. */
  expires_in: number
  /** When the challenge expires. RFC 3339. */
  expires_at: string
  /** The text of the action. Show all of it, and nothing else in its place. Only where `locale` was sent. */
  display?: {
    /** The `display_hash` of the verdict. */
    hash: string
    /** Version of the template. */
    version: string
    /** Language of the text. */
    locale: 'en' | 'de' | 'fr' | 'es' | 'ja'
    /** Kind of action. */
    heading: string
    /** The lines, in the order in which to show them. */
    lines: Array<{
      /** Name of the fact. */
      label: string
      /** The fact. */
      value: string
      /** Names letters that pass for others. */
      note?: string
    }>
  }
  /**
   * Options for the browser, whose answer is sent with the frames. Null for a user without passkeys, where `passkey` was
   * `preferred`.
   */
  passkey?: PasskeyRequestOptions | PasskeyCreationOptions | null
}

/** Body of `POST /v1/guidance`: a small frame of a person before the camera. */
export interface GuidanceRequest<Image = ImageInput> {
  /** The frame, not mirrored: a file as for verify, of at most 307,200 pixels (640 x 480). A long side of 320 is enough. */
  image: Image
  /**
   * Movement that the person is asked to make: the step of the challenge that is shown. Left and right are the person’s
   * own. Default `frontal`.
   */
  step?: ChallengeStep
  /**
   * An earlier frame in which the person looks ahead, from which a movement is measured. Without it there is no guidance
   * about a nod.
   */
  frontal?: Image
  /** Only for the sandbox, which chooses its answer by the end of the user id. Production ignores it. */
  user_id?: string
}

/** Answer of `POST /v1/guidance`. */
export interface Guidance {
  step: ChallengeStep
  /**
   * Advice for the person, the most urgent first. Empty where nothing needs to change: the person holds still, or the
   * movement went far enough.
   */
  guidance: Array<FrameGuidance>
}

/** A person’s consent. */
export interface Consent {
  /** The customer’s own id of the consent: of its record, or of the text that was agreed to. */
  id: string
  /** When the person agreed. RFC 3339. */
  agreed_at: string
}

/** Body of `POST /v1/users/{user_id}/consent`. */
export interface RecordConsentRequest {
  /** A person’s consent. */
  consent: Consent
}

/** Answer of `POST /v1/users/{user_id}/consent`: the consent that is recorded now. */
export interface RecordedConsent {
  user_id: string
  /** The reference that the consent is for. It stays as it was. */
  reference_id: string
  /** A person’s consent. */
  consent: Consent
}

/** Body of `POST /v1/enroll`, without the photos. */
export interface EnrollFields {
  /**
   * The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
   * identifier that holds format, invisible, private-use or unassigned characters of Unicode.
   */
  user_id: string
  /**
   * The browser’s report about the integrity of the capture. With it the answer has `capture_integrity`. The hosted page
   * sends it.
   */
  capture_integrity?: CaptureReport
  /**
   * Liveness checks that this capture must have passed through: `passive` by a network, `active` by a challenge. The
   * requirements of the installation and of the tenant’s contract apply as well. Default `none`.
   */
  require_liveness?: LivenessRequirement
  /** Replace the reference of a user who is already enrolled. Default `false`. */
  replace?: boolean
  /**
   * Id, required with `replace` where the contract asks for a verdict or the user has a passkey, of an approved
   * verification of this user for an action with the type `replace_reference`, made in the last minutes. The enrollment
   * uses it up.
   */
  verification_id?: string
  /**
   * Add the photos to the reference of a user who is already enrolled: each must match it. Not together with `replace`.
   * Default `false`.
   */
  add?: boolean
  /**
   * Assess the photos and store nothing: 200 instead of 201. `quality.issues` reports what an enrollment would refuse,
   * `quality.images` every measurement. Whether the user is enrolled makes no difference. Default `false`.
   */
  dry_run?: boolean
  /** A person’s consent. */
  consent?: Consent
  /**
   * A passkey to register together with the reference: the answer to the options in `challenge`, whose frames the request
   * holds.
   */
  passkey_registration?: {
    /** Answer of `navigator.credentials.create()`, as `toJSON()` makes it. */
    credential: PasskeyRegistrationResponse
    /** Name by which the person and the backend tell passkeys apart. */
    name?: string
  }
  /** Parts of the answer that are left out otherwise. `quality`: `quality.images`, every measurement of every photo. */
  include?: Array<'quality'>
}

/** Answer of `POST /v1/enroll`. */
export interface EnrollResult {
  reference_id: string
  user_id: string
  /** Quality of the photos. The score is that of the best one. */
  quality: EnrollmentQuality
  /** Presentation attack detection. */
  liveness: Liveness
  /** Null where no report was sent. */
  capture_integrity: CaptureIntegrity | null
  /** The model pack that made the reference. */
  model: string
  status: 'enrolled'
  /** When the reference was captured. RFC 3339. */
  created_at: string
  /** The passkey that was registered with the reference; null for none. */
  passkey: Passkey | null
}

/** Answer of `POST /v1/enroll` with `dry_run`: the quality of the photos. Nothing is stored. */
export interface AssessResult {
  user_id: string
  quality: EnrollmentQuality
  /** Presentation attack detection. */
  liveness: Liveness
  /** Null where no report was sent. */
  capture_integrity: CaptureIntegrity | null
  /** The model pack that made the reference. */
  model: string
  status: 'assessed'
}

/** Body of `POST /v1/verify`, without the photos. */
export interface VerifyFields<A extends ActionLike = Action> {
  /**
   * The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
   * identifier that holds format, invisible, private-use or unassigned characters of Unicode.
   */
  user_id: string
  /**
   * The browser’s report about the integrity of the capture. With it the answer has `capture_integrity`. The hosted page
   * sends it.
   */
  capture_integrity?: CaptureReport
  /**
   * Liveness checks that this capture must have passed through: `passive` by a network, `active` by a challenge. The
   * requirements of the installation and of the tenant’s contract apply as well. Default `none`.
   */
  require_liveness?: LivenessRequirement
  /**
   * Where the policy of the tenant asks for a second person: the verification id of another user’s verdict on the same
   * action, whose reason is `second_approval_required`. The verdict uses it up.
   */
  approval_id?: string
  /**
   * Whether the call is refused without `passkey_assertion`. An assertion that is sent must be right in any case. Default
   * `false`.
   */
  require_passkey?: boolean
  /**
   * The signature of a passkey of the user for this action. With photos: also the `challenge_id` and `nonce` of `POST
   * /v1/users/{user_id}/passkeys/assertion`. With `challenge`: the answer to the options in that challenge, and nothing
   * else.
   */
  passkey_assertion?: PasskeyAssertion
  /**
   * The action to be countersigned, such as the transfer's amount and payee: an object or a string, at most 4096 bytes in
   * RFC 8785 canonical form. Integers beyond 2^53 - 1 and numbers with more digits than a double holds are refused,
   * because readers differ in the number that they read: send them as strings. An object whose `type` is `payment`,
   * `payment_batch`, `account_change`, `login`, `consent`, `generic` is a typed action: it must fit the schema of that
   * type.
   */
  action: A
  /**
   * Echoed in the JWT, so that the caller can tell its own verdict. It must not have the form of an id of this service,
   * such as `cap_…`.
   */
  nonce?: string
  /** Parts of the answer that are left out otherwise. `quality`: `quality.images`, every measurement of every photo. */
  include?: Array<'quality'>
}

/** Answer of `POST /v1/verify`, without the verdict. */
export interface VerifyFacts {
  /** The `jti` of the JWT. */
  verification_id: string
  user_id: string
  /** Lowest score that is approved. */
  threshold: number
  /** False match rate that the threshold reached on calibration data. It may differ from the configured one. */
  fmr: number
  /** Basis of `fmr`: `extrapolated` where nobody has measured the rate and the operator accepted that. */
  fmr_basis: FmrBasis
  /**
   * Grade of the model pack at this rate: `production` where the rate was measured on everybody and in each group of
   * people; `ungrouped` where the data name no groups; else `evaluation`.
   */
  model_grade: ModelGrade
  /** Presentation attack detection. */
  liveness: Liveness
  quality: Quality | null
  /** Whether the capture was seen before within 24 hours. */
  replay: {
    suspected: boolean
  }
  /** Null where no report was sent. */
  capture_integrity: CaptureIntegrity | null
  model: string
  /**
   * The text that the hosted page showed the person for a typed action, or that your own page was given with the
   * challenge. Null where there is none.
   */
  display: DisplayedText | null
  /** When the verdict was reached. RFC 3339. */
  verified_at: string
  /** The verdict, signed with the signing secret that the caller holds. */
  jwt: string
  /** During a rotation overlap: the same claims under the new secret. Null otherwise. */
  jwt_next: string | null
  /**
   * The same claims under a key of the issuer (ES256). Anyone can check it with the keys at `/v1/.well-known/jwks.json`,
   * and nobody else can make it.
   */
  jwt_public: string
  /** When the JWT expires. RFC 3339. */
  jwt_expires_at: string
  /** SHA-256 of the policy that was in force. Null where the tenant has none. */
  policy_hash: string | null
  /** Name of the rule of the policy that decided about this action. Null where the tenant has none. */
  policy_rule: string | null
  /** Other user’s verdict that it has used up. */
  approval_id: string | null
  /** Sandbox only: this verification cleared and issued the production key. Null otherwise. */
  production_key: 'issued' | null
  /** The passkey that has signed; null where no `passkey_assertion` was sent. */
  passkey: ProvenPasskey | null
}

/**
 * Answer of `GET /v1/verifications/{verification_id}`: the verdict of an earlier verification. It proves and approves
 * nothing.
 */
export interface Verification {
  /** The `jti` of the JWT. */
  verification_id: string
  /** The user, where the query named the user. Null otherwise: the service does not store user ids. */
  user_id: string | null
  verdict: 'approved' | 'rejected'
  reason: RejectionReason | null
  /** Similarity; higher is more alike. Null when the images were not compared. */
  score: number | null
  /** Lowest score that was approved. */
  threshold: number
  /** False match rate that the threshold reached on calibration data. */
  fmr: number
  /** Basis of `fmr`. Null for a verification by a version that did not record it. */
  fmr_basis: FmrBasis | null
  /** Grade of the model pack at this rate. Null for a verification by a version that did not record it. */
  model_grade: ModelGrade | null
  /** The model pack that compared. */
  model: string
  /** The `acr` of the JWT. Null for a verification by a version that did not record it. */
  acr: string | null
  /** The `amr` of the JWT. */
  amr: Array<string>
  /** Whether the capture had been seen before within 24 hours. */
  replay: {
    suspected: boolean
  }
  /** Whether the user was verified for the action with this `action_hash`. Null where the query held none. */
  action_matches: boolean | null
  /**
   * The `display_locale` of the JWT: language of the text that the person was shown for a typed action. Null where the
   * JWT has none.
   */
  display_locale: string | null
  /** The `display_version` of the JWT. Null where the JWT has none. */
  display_version: string | null
  /**
   * Whether the JWT has this `display_hash`: whether the person was shown this text. Null where the query held none. The
   * service keeps the hash only under the key of the user.
   */
  display_matches: boolean | null
  /** The `policy_hash` of the JWT. Null where the tenant had no policy. */
  policy_hash: string | null
  /** The `policy_rule` of the JWT. Null where the tenant had no policy. */
  policy_rule: string | null
  /** The other user’s verdict that this approval has used up; null for none. */
  approval_id: string | null
  /** The challenge whose frames were judged; null for photos. */
  challenge_id: string | null
  /** The session of the hosted page that took the capture; null for any other caller. */
  capture_session_id: string | null
  /** The request that verified, the `txn` of the JWT. */
  request_id: string
  /** When the verdict was reached. RFC 3339. */
  verified_at: string
}

/** Body of `DELETE /v1/delete`. */
export interface DeleteRequest {
  /**
   * The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
   * identifier that holds format, invisible, private-use or unassigned characters of Unicode.
   */
  user_id: string
}

/** Answer of `DELETE /v1/delete`: the receipt of an erasure. */
export interface DeleteResult {
  user_id: string
  status: 'erased'
  erasure_id: string
  /** When the user was erased. RFC 3339. */
  erased_at: string
  erased: {
    /** Biometric references. */
    references: number
    /** Captures that were remembered for detecting replays. */
    captures: number
    /** Passkeys. */
    passkeys: number
    /** Kept responses. */
    idempotency_records: number
  }
}

/** Answer of `GET /v1/users/{user_id}`: an enrolled user. */
export interface User {
  user_id: string
  status: 'enrolled'
  /** When the user was first enrolled. RFC 3339. */
  enrolled_at: string
  reference: {
    reference_id: string
    /** When the reference was captured, or photos were last added to it. RFC 3339. */
    created_at: string
    /** The model pack that made the reference. */
    model: string
    /**
     * Whether the user has a template of the model pack that decides. If not, verify answers `reference_model_mismatch`
     * until the user is enrolled again.
     */
    comparable: boolean
    /** Number of photos that the reference was made of. */
    views: number
    consent: Consent | null
  }
  lockout: {
    /** Lockout that a verification would report now. Only a new enrollment ends `reference_disabled`. */
    status: 'none' | 'locked_out' | 'reference_disabled'
    /** When `locked_out` ends; null for any other status. RFC 3339. */
    ends_at: string | null
    /** Consecutive rejections so far. */
    rejections: number
  }
  /** Number of passkeys of the user. */
  passkeys: number
}

/** One entry of the audit log. */
export interface AuditEntry {
  /** 1, 2, 3, … without a gap. */
  sequence: number
  /** When it happened. RFC 3339. */
  created_at: string
  /**
   * Name of the event: enroll, verify, delete, erasure_scheduled, rotate_signing, key_revealed, key_created, key_revoked,
   * key_reissued, tenant_created, contract_changed, policy_changed, models_changed, drift_restarted,
   * capture_page_changed, capture_consented, capture_code_failed, capture_number_failed, capture_disowned,
   * consent_recorded, user_unlocked, ageing_undone, user_exported, users_compared, passkey_settings_changed,
   * passkey_registered, passkey_revoked, passkey_recovery_cancelled, openid_client_added, openid_client_removed,
   * openid_refused, openid_key_rotated, webhook_added, webhook_removed, webhook_redelivered, database_restored,
   * working_keys_changed, verdict_key_rotated, audit_break_found, operator_password_reset, operator_added,
   * operator_changed, operator_removed, operator_password_chosen, person_added, person_changed, person_password_reset,
   * person_password_chosen, person_removed, signed_in, sign_in_failed, login_link_made, operator_link_made,
   * second_factor_added, second_factor_removed, identity_confirmed, sessions_ended, tenant_suspended, tenant_resumed,
   * tenant_deleted.
   */
  event: string
  /** The actor: the id of an API key, `operator` for the command line, or an operator of the dashboard. */
  actor: string
  /** The request that caused the event. */
  request_id: string | null
  /** HTTP status of the answer to a call of the API. */
  status: number | null
  /** Error code of a call that failed. */
  code: string | null
  /** Pseudonym of the user. Nobody can link it to a user who is erased. */
  subject: string | null
  /** Further facts that were recorded about the event. */
  facts: { [name: string]: unknown }
  /** Chain value, in hex: it covers every entry up to this one. */
  hash: string
}

/** Answer of `GET /v1/audit`: a page of the audit log. */
export interface AuditPage {
  /** The entries, in the requested order. */
  data: Array<AuditEntry>
  /** Whether more entries follow. */
  has_more: boolean
  /** Send it as `after` to read the entries that follow, now or when more have been written. */
  next_cursor: string
  /**
   * The `sequence` of the first entry that does not fit the chain, found by the daily verification: the log was changed
   * in the database. Null where the verification found none.
   */
  broken_sequence: number | null
}

/** Answer of `GET /v1/health`. */
export interface HealthResult {
  status: HealthStatus
  environment: Environment
  version: string
  checks: {
    engine: {
      status: HealthStatus
      /** Model pack that serves. */
      model: string
      /** Model packs that are loaded next to it during a change of the pack. */
      following_models: Array<string>
      /** Grade of the pack at the configured false match rate. */
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
      /** Providers that were configured before it and could not serve, and why. */
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
  /** Rotate even during an overlap: the older secret ends at once. Default `false`. */
  force?: boolean
}

/** Answer of `POST /v1/keys/rotate-signing`. */
export interface RotateSigningResult {
  signing_secret: {
    /** The `kid` of signatures and JWTs. */
    id: string
    /** The new signing secret. No replay and no other call returns it again. */
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
  id: string
  text: string
}

/** One payment of a batch. */
export interface BatchPayee {
  /** Name of the payee. */
  name: string
  /** IBAN or other account number, in printable ASCII. */
  account: string
  /** Decimal number as text, with at most as many digits after the point as the currency has: `1250.00`. */
  amount: string
  /** Reference of the payment, shown to the person. */
  reference?: string
}

/** Identifies the text that a person was shown. */
export interface DisplayedText {
  /** SHA-256 of the text in RFC 8785 canonical form, in lower-case hex. */
  hash: string
  /** Language of the text. */
  locale: 'en' | 'de' | 'fr' | 'es' | 'ja'
  /** Version of the template. */
  version: string
  /** Your own page was given the text with the challenge. Null where the hosted page showed it. */
  source: 'challenge' | null
}

/** Body of `POST /v1/capture-sessions`. */
export interface CaptureSessionFields<A extends ActionLike = Action> {
  /**
   * The customer's own identifier of the user: 1 to 128 characters, no control characters. No user is enrolled under an
   * identifier that holds format, invisible, private-use or unassigned characters of Unicode.
   */
  user_id: string
  /** The call in which the frames will be sent. Default `verify`. */
  purpose?: 'verify' | 'enroll'
  /**
   * The action to be countersigned, such as the transfer's amount and payee: an object or a string, at most 4096 bytes in
   * RFC 8785 canonical form. Integers beyond 2^53 - 1 and numbers with more digits than a double holds are refused,
   * because readers differ in the number that they read: send them as strings. An object whose `type` is `payment`,
   * `payment_batch`, `account_change`, `login`, `consent`, `generic` is a typed action: it must fit the schema of that
   * type.
   */
  action?: A
  /**
   * Only for a verification, for an action of type `payment_batch`, and required there: the list of payments as text, in
   * RFC 8785 canonical form. The action holds the SHA-256 of this text, and number and sum of the payments.
   */
  payees?: string
  /**
   * Movements of the head that the person can make; default both. With only one of them the liveness statement is weaker,
   * and its name says so. With none, `[]`, the frames show no movement.
   */
  modes?: Array<'turn' | 'nod'>
  /**
   * Liveness checks that this capture must have passed through: `passive` by a network, `active` by a challenge. The
   * requirements of the installation and of the tenant’s contract apply as well. Default `none`.
   */
  require_liveness?: LivenessRequirement
  /**
   * How the capture uses a passkey. For a verification: `required` for a passkey that signs for the action, `preferred`
   * for one where the user has any. For an enrollment: `register` for a passkey that is made together with the reference.
   * Default: no passkey.
   */
  passkey?: 'required' | 'preferred' | 'register'
  /** Only for an enrollment: the field `replace` of `enroll`. Default `false`. */
  replace?: boolean
  /**
   * `code`: the page first asks for `confirmation_code`. Send it to the person by another channel than the link. `none`:
   * the link is enough for the first person who opens it. Default: `code` for an enrollment, `none` for a verification.
   */
  confirmation?: 'code' | 'none'
  /** Only for an enrollment that replaces: the field `verification_id` of `enroll`. */
  verification_id?: string
  /**
   * Address to which the page leads the person at the end, with `capture_session=<id>` and `capture_proof=<proof>` added
   * to the query. Its origin must be allowed for the tenant.
   */
  return_url: string
  /**
   * `same` (default): the result is given out only with the proof that the browser which captured brings back. `any`:
   * also without, for links that are opened on another device than the one that goes on. A person who passes such a link
   * on gets the result of the one who opens it, and the JWT says `capture_binding: "any"`.
   */
  browser?: 'same' | 'any'
  /** Language of the page. Default: what the browser asks for. */
  locale?: 'en' | 'de' | 'fr' | 'es' | 'ja'
  /**
   * The action in words, shown on the page to the person who confirms it. It holds no invisible characters and none that
   * change the direction of writing.
   */
  description?: string
  /** The text that the person agrees to before the camera starts, instead of the tenant’s. */
  consent?: ConsentText
  /**
   * Facts about the visitor who began what is to be confirmed. The page then says when and where that was, and has a
   * button “No, that was not me”. `{}` shows only the time.
   */
  began?: {
    /** Address of the visitor. */
    ip?: string
    /** Header `User-Agent` of the visitor. The page shows browser and system in words. */
    user_agent?: string
  }
}

/** Answer of `POST /v1/capture-sessions`: the link for the person. */
export interface CaptureSessionLink {
  session_id: string
  /** Link to send to the person. It opens in one browser, once. No other call returns it. */
  url: string
  /**
   * Six digits, returned only here. Send them to the person by another channel than the link. After five wrong codes the
   * session ends. Null where the page asks for no code.
   */
  confirmation_code: string | null
  user_id: string
  purpose: 'verify' | 'enroll'
  /** `browser` of the request. */
  browser: 'same' | 'any'
  /** When the session expires. RFC 3339. */
  expires_at: string
}

/**
 * `open`: nobody has opened the link. `in_progress`: somebody has opened it. `completed`: `result` is final.
 * `cancelled`: the person gave up. `expired`: the session expired before it was completed.
 */
export type CaptureSessionStatus = 'open' | 'in_progress' | 'completed' | 'cancelled' | 'expired'

/** Answer of `GET /v1/capture-sessions/{session_id}`, without the result. */
export interface CaptureSessionFacts {
  session_id: string
  /**
   * `open`: nobody has opened the link. `in_progress`: somebody has opened it. `completed`: `result` is final.
   * `cancelled`: the person gave up. `expired`: the session expired before it was completed.
   */
  status: CaptureSessionStatus
  /** Captures that were judged or are being judged. */
  attempts: number
  consent: Consent | null
  /** `browser` of the request. */
  browser: 'same' | 'any'
  /** Whether the person said that somebody else had begun. The session is then `cancelled`. */
  disowned: boolean
  /** There is a result, which is given out only with the proof of the browser that captured. */
  result_withheld: 'proof_required' | null
  /** When the session was made. RFC 3339. */
  created_at: string
  /** When it expires. RFC 3339. */
  expires_at: string
}

/** Claims of a verdict JWT, without the verdict. */
export interface ClaimFacts<A extends ActionLike = Action> {
  /** Base URL of the environment that signed. */
  iss: string
  /** Id of the tenant. */
  aud: string
  /** The `user_id` of the call. */
  sub: string
  /** When the verdict was signed, in unix seconds. */
  iat: number
  /** When the verdict begins to be valid, in unix seconds. */
  nbf: number
  /** When the verdict expires, in unix seconds. */
  exp: number
  /** The `verification_id`. */
  jti: string
  /** Id of the request, also in the service’s log. */
  txn: string
  /** Environment that signed. */
  env: Environment
  fmr: number
  fmr_basis: FmrBasis
  /** The action as the caller sent it. Never run it from here. */
  action: A
  /** SHA-256 of the action in RFC 8785 canonical form, in lower-case hex. */
  action_hash: string
  /** SHA-256 of the text that the person was shown. Absent where the service wrote none. */
  display_hash?: string
  /** Language of that text. Absent as `display_hash`. */
  display_locale?: 'en' | 'de' | 'fr' | 'es' | 'ja'
  /** Version of its template. Absent as `display_hash`. */
  display_version?: string
  /** Your own page was given the text. Absent where the hosted page showed it. */
  display_source?: 'challenge'
  /** The `nonce` of the call. Absent where it sent none. */
  nonce?: string
  /** Session of the hosted page; only the service writes it. Absent for others. */
  capture_session?: string
  /** `same`: only the browser that captured got the result. Absent for others. */
  capture_binding?: 'same' | 'any'
  /** Methods of RFC 8176: `face`, and in an approval with a passkey also `hwk` or `swk`. */
  amr: Array<string>
  /** Which checks an approval rests on; `0` in a rejection. */
  acr: string
  /** How liveness was checked. The verdict claims nothing beyond it. A rejection has no score. */
  liveness: {
    checked: boolean
    passed: boolean | null
    methods: Array<string>
    score?: number | null
  }
  /** Challenge whose frames were judged. Absent for photos. */
  challenge_id?: string
  /** Passkey that signed for this action. Absent where none was asked. */
  passkey_id?: string
  /** When the capture was judged, in unix seconds. */
  auth_time: number
  /** Model pack. */
  model: string
  model_grade: ModelGrade
  replay: {
    suspected: boolean
  }
  /** SHA-256 of the policy that was in force. Absent where the tenant has none. */
  policy_hash?: string
  /** Rule of that policy that decided. Absent where the tenant has none. */
  policy_rule?: string
  /** Verdict of the other user that this approval used up. Absent where none was needed. */
  approval_id?: string
}

/** Body of a webhook, without the event. */
export interface WebhookFacts {
  /** The same at every try and every redelivery. */
  id: string
  /** RFC 3339. */
  created_at: string
  environment: Environment
  tenant_id: string
}

/** Data of each event of a webhook. */
export interface WebhookData {
  /** A reference was made, replaced, or got further photos. */
  'user.enrolled': {
    user_id: string
    reference_id: string
    model: string
    views: number
    /** Whether the enrollment replaced another one. */
    replaced: boolean
    /** Number of photos that were added to the reference; 0 for one that is new. */
    added: number
  }
  /** A user has to wait after too many rejections. */
  'user.locked_out': {
    user_id: string
    rejections: number
    /** RFC 3339. */
    ends_at: string
  }
  /** A reference was disabled: only a new enrollment helps. */
  'user.disabled': {
    user_id: string
    rejections: number
  }
  /** The operator ended the wait of a user. */
  'user.unlocked': {
    user_id: string
  }
  /** A passkey was registered for a user. Somebody else than the person may have done it. */
  'user.passkey_registered': {
    user_id: string
    passkey_id: string
    name: string | null
    synced: boolean
    /** Whether a recovery took the place of an earlier passkey. */
    recovered: boolean
  }
  /** A passkey of a user was revoked. */
  'user.passkey_revoked': {
    user_id: string
    passkey_id: string
  }
  /**
   * The recovery of a lost passkey has begun: another one can be registered from `ready_at` on. Tell the person, who may
   * know nothing of it.
   */
  'user.passkey_recovery_begun': {
    user_id: string
    verification_id: string
    /** RFC 3339. */
    ready_at: string
    /** RFC 3339. */
    expires_at: string
  }
  /** The recovery of a passkey was cancelled, by the backend or by an approved verification with a passkey. */
  'user.passkey_recovery_cancelled': {
    user_id: string
    verification_id: string
  }
  /** A passkey of a user signed with a counter that did not grow, and was refused. A copy of the passkey may exist. */
  'user.passkey_counter_reversed': {
    user_id: string
    passkey_id: string
  }
  /** A user is going to be erased by the policy of the tenant, unless the user is approved before. */
  'user.erasure_scheduled': {
    user_id: string
    /** RFC 3339. */
    erase_at: string
  }
  /** A user was erased. */
  'user.erased': {
    user_id: string
    status: 'erased'
    erasure_id: string
    /** RFC 3339. */
    erased_at: string
    erased: {
      references: number
      captures: number
      passkeys: number
      idempotency_records: number
    }
  }
  /** A session of the hosted capture page has its final result. */
  'capture_session.completed': {
    session_id: string
    purpose: 'verify' | 'enroll'
    /** Number of captures that were judged, 0 to 3. */
    attempts: number
    /** Null where no capture was judged. */
    result: {
      /** HTTP status of the call of verify or enroll. */
      status: number
      verdict: 'approved' | 'rejected' | null
      reason: string | null
      /** Code of the error; null where the capture was not refused with one. */
      code: string | null
    } | null
  }
  /** The person left the hosted capture page by its button. */
  'capture_session.cancelled': {
    session_id: string
    purpose: 'verify' | 'enroll'
    attempts: number
    /** Whether the person said that somebody else had begun. */
    disowned: boolean
  }
  /** The time of a session of the hosted capture page was over first. */
  'capture_session.expired': {
    session_id: string
    purpose: 'verify' | 'enroll'
    attempts: number
  }
  /** An identity provider asks for a person: send the link to that person. It is useless after `expires_at`. */
  'openid.link_ready': {
    user_id: string
    session_id: string
    /** Link to send to the person. It opens in one browser, once. */
    url: string
    /** Name of the application of the OpenID provider. */
    application: string
    /** Client of the identity provider that asks. */
    requested_by: string
    /** Text that the person also sees where they began; null for none. */
    message: string | null
    /** RFC 3339. */
    expires_at: string
  }
  /** A person said that a request of an identity provider was begun by somebody else. */
  'openid.request_disowned': {
    user_id: string
    session_id: string
    application: string
    requested_by: string
  }
  /** Somebody asked for an event, to see whether it arrives. */
  'webhook.test': {
    [name: string]: never
  }
}

/** One detail of an error of this version of the service. */
export interface DocumentedErrorDetail {
  /** The field. */
  path: string
  /** The fault of the field. */
  issue: string
  /** Quality component that is beyond its bound; only with `low_quality`. */
  component?: QualityComponent
  /** Measured value of the component. */
  value?: number
  /** Bound that the value had to keep to. */
  bound?: QualityBound
  /**
   * Advice to the person about a photo. Each detail of a `biometric_rejected` has one; the capture component has a text
   * for it in five languages.
   */
  guidance?: PhotoGuidance
  hint?: string
  /** Missing scope; only with `insufficient_scope`. */
  scope?: Scope
  /** Requirement of the policy that is not met; only with `policy_not_met`. */
  requirement?: string
}

/** Body of an error of this version of the service. */
export interface DocumentedError {
  /** Stable category. */
  error: ErrorCategory
  /** Stable code. */
  code: ErrorCode
  /** Sentence about the fault, for a developer or operator. It may change. */
  message: string
  /** Sentence about the next step. It may change. */
  remedy: string
  /** Address of the page, served by this installation, that explains the code. */
  doc_url: string
  /** The request in which the error arose. */
  request_id: string
  details?: Array<DocumentedErrorDetail>
}
