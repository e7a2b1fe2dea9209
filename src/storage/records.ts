/** The rows that a Store keeps. Times are milliseconds since the Unix epoch; `sealed` and `wrapped` bytes are opaque to storage. */

import type { Environment } from '../config/config.js'
import type { LivenessRequirement } from '../config/liveness-requirement.js'

export interface TenantRecord {
  id: string
  name: string
  createdAt: number
  /** Rate limit of the tenant in production: sustained requests per second; `burst` is how many may come at once. */
  ratePerSecond: number
  burst: number
  /** False match rate that overrides the configured one, above 0 and below 1; null for the configured rate. */
  fmr: number | null
  /** Liveness checks that every capture must have passed, beyond those configured; null for none. */
  requireLiveness: LivenessRequirement | null
  /** Maximum age, in minutes, of the verdict that a replacement of the reference needs; null when it needs none. */
  replaceVerdictMinutes: number | null
  /** JSON of the settings of this tenant's hosted capture page; null when nothing was set. */
  capturePage: string | null
  /** Hash of the policy that production's verdicts obey, by which `policyVersion` finds it; null for none. */
  policyHash: string | null
  /** Hash of the policy that the sandbox's verdicts obey; null for none. */
  sandboxPolicyHash: string | null
  /** JSON of the tenant's settings of passkeys; null while the tenant uses none. */
  passkeys: string | null
  /** JSON of the models of the tenant's templates, while or after the installation changed its model pack; null before. */
  models: string | null
  /** Time from which verifies are compared to notice drift; null for all that are kept. */
  driftSince: number | null
  /** When the first sandbox verify was approved; null before. */
  productionIssuedAt: number | null
  /** When the first production key was revealed; null before. */
  productionRevealedAt: number | null
  /** Time since which the tenant's keys are refused; null while they are accepted. */
  suspendedAt: number | null
  /** When the tenant was deleted: users, keys and secrets are gone, the audit log stays; null for a tenant that exists. */
  deletedAt: number | null
}

export interface ApiKeyRecord {
  id: string
  tenantId: string
  type: Environment
  /** SHA-256 of the key. */
  hash: Buffer
  /** The last four characters of the key, to tell keys apart. */
  hint: string
  /** Name of an additional key of the tenant; null for the first key of the environment. */
  name: string | null
  /** Scopes of the key, separated by blanks; null for a key without restriction. */
  scopes: string | null
  /** Addresses and networks from which the key may be used, separated by blanks; null for any. */
  networks: string | null
  /** The client certificate that the key needs: `sha256:` and its fingerprint, or `CN=` and its common name; null for none. */
  certificate: string | null
  createdAt: number
  /** End of a grace period; null for no end. */
  validUntil: number | null
  revokedAt: number | null
}

export interface SigningSecretRecord {
  /** The `kid` of the signatures. */
  id: string
  tenantId: string
  sealed: Buffer
  createdAt: number
  /** End of the overlap with the next secret; null for the current secret. */
  validUntil: number | null
}

/** The service's keys, sealed under one master key. */
/**
 * A key whose public half checks the verdicts of an environment. Its state follows from these times, so that all services agree on it:
 * published from `publishedAt`, signing from `signsFrom` until the next key's `signsFrom`, and gone at `goneAt`.
 */
export interface VerdictKeyRecord {
  /** The `kid` of the signatures. */
  id: string
  environment: Environment
  /** The key as a JWK, or its public half and the place of the private one. */
  sealed: Buffer
  publishedAt: number
  signsFrom: number
  /** When the key leaves the published set; null until a next key is published. */
  goneAt: number | null
}

export interface KeyringRecord {
  /** Id of the master key. */
  masterKeyId: string
  sealed: Buffer
  createdAt: number
  /** How often the working keys were changed. */
  generation: number
}

/** Kinds of rows whose values can be sealed under another working key. */
export type SealedKind =
  | 'subject'
  | 'signing_secret'
  | 'second_factor'
  | 'idempotency'
  | 'webhook_delivery'
  | 'verdict_key'
  | 'openid_key'
  | 'openid_client'

export interface SealedRow {
  /** Id of the row, which orders the rows of a kind and is the context of the sealing. */
  id: string
  sealed: Buffer
}

/** A user of a tenant in one environment, known only by a keyed pseudonym. */
export interface SubjectRecord {
  id: string
  tenantId: string
  environment: Environment
  /** Blind index: HMAC-SHA256 of tenant, environment and user id. */
  blindIndex: Buffer
  /** The user's data key, wrapped. Erasing it erases everything sealed under it, in every copy. */
  wrappedKey: Buffer
  createdAt: number
  /** Number of consecutive rejections. */
  failures: number
  /** No verify is evaluated before this time. */
  lockedUntil: number | null
  /** When the reference was disabled because rejections continued after a lockout; null otherwise. Only a new enrollment clears it. */
  disabledAt: number | null
  /** Id of the verification by which the user agreed to a new reference, with its time; null when there is none, or it was used. */
  replaceVerdict: string | null
  replaceVerdictAt: number | null
  /** Id of the verification that began the recovery of a lost passkey, and the time from which it counts; null where none waits. */
  passkeyRecovery: string | null
  passkeyRecoveryAt: number | null
  /** Strongest proof that a passkey gave which was revoked since the last recovery; null for none. */
  revokedPasskey: 'hwk' | 'swk' | null
}

export interface ReferenceRecord {
  id: string
  subjectId: string
  /** Id of the model pack that made the reference. */
  model: string
  sealed: Buffer
  createdAt: number
}

/** A user's template of another model, made of captures of the same person. It is deleted with the reference that it stands next to. */
export interface FollowingReferenceRecord {
  id: string
  referenceId: string
  /** Id of the model pack that made the template. */
  model: string
  sealed: Buffer
  createdAt: number
}

/**
 * A template that a reference has become by captures that were taken in after strong matches. The reference itself stays as it was enrolled;
 * the aged template is deleted with it. Each capture that is taken in replaces the record by one with another id.
 */
export interface AgedReferenceRecord {
  id: string
  referenceId: string
  /** Id of the model pack that made the reference and the captures. The template is of no use next to a reference of another model. */
  model: string
  sealed: Buffer
  /** When a capture was taken in last. */
  createdAt: number
}

/** The change of the installation from one model pack to another. */
export interface ModelMigrationRecord {
  from: string
  to: string
  startedAt: number
  /** Strictest false match rate at which a verify adds a template; null for a tenth of the rate in force. */
  strictFmr: number | null
  /** Share of a tenant's users, over 0 to 1, at which the decision moves automatically; null for never. */
  atCoverage: number | null
  /** When the decision moves for every tenant automatically; null for never. */
  atTime: number | null
  /** Since when templates of the old model are deleted; null before. */
  finishingAt: number | null
}

/** How many of a tenant's enrolled production users have a template of a model. */
export interface ModelCoverage {
  tenantId: string
  users: number
  covered: number
  /** Templates next to a reference that were made since the time that was asked for. */
  recent: number
}

/** A user's passkey: a WebAuthn credential that proves possession of a device. */
export interface PasskeyRecord {
  id: string
  subjectId: string
  /** Keyed digest of tenant, environment and credential id: one credential belongs to one user. */
  lookup: Buffer
  /** JSON of the credential, sealed under the user's data key. */
  sealed: Buffer
  createdAt: number
  /** When the passkey last signed for a verdict; null before the first. */
  lastUsedAt: number | null
}

/** A capture that was seen, kept to recognize replays. */
export interface CaptureRecord {
  subjectId: string
  /** Keyed digest of the image bytes. */
  digest: Buffer
  /** The embedding, sealed under the user's data key; empty when only the digest is kept. */
  sealed: Buffer
  seenAt: number
}

export interface CaptureHistory {
  /** Whether the history contains one of the digests that were asked for. */
  hasDigest: boolean
  /** The sealed embeddings of the newest captures, without captures of which only the digest is kept. */
  newest: Buffer[]
  /** Position of the latest capture, after which later captures come; 0 when there is none. */
  last: number
}

/** How a user stands at the moment of a verdict. */
export interface Standing extends Pick<SubjectRecord, 'id' | 'failures' | 'lockedUntil' | 'disabledAt'> {
  /** Hash of the policy that is in force for the user; null for none. */
  policyHash: string | null
  /** Captures after a position of the history, in the order in which they were remembered. */
  captures: CaptureRecord[]
}

export interface IdempotencyRecord {
  /** HMAC of tenant, environment, method, path and key. */
  scope: Buffer
  /** Blind index of the user whose erasure deletes this record; null for none. */
  blindIndex: Buffer | null
  /** The subject whose data key sealed it; null for the service's own key. */
  subjectId: string | null
  /** SHA-256 of the raw body of the first request. */
  payloadHash: Buffer
  status: number
  sealed: Buffer
  createdAt: number
  expiresAt: number
}

export interface ErasureRecord {
  blindIndex: Buffer
  erasureId: string
  erasedAt: number
  references: number
  captures: number
  /** 0 in a receipt that an earlier version wrote. */
  passkeys: number
  idempotencyRecords: number
  expiresAt: number
}

/** How far a tenant's log goes, authenticated under the chain key: a person who cuts off the end of the log cannot make a valid seal for the rest. */
export interface AuditSealRecord {
  tenantId: string
  sequence: number
  mac: Buffer
}

/** How far the background verification of the logs has come: JSON, and its MAC. */
export interface AuditVerificationRecord {
  state: string
  mac: Buffer
}

export interface AuditRecord {
  tenantId: string
  /** Number of the entry: 1, 2, 3, … without a gap. */
  sequence: number
  /** Canonical JSON of the entry. */
  entry: string
  /** Value of the hash chain after this entry, 32 bytes. */
  hash: Buffer
}

/** A verification of the sandbox, which writes no audit log. */
export interface SandboxVerificationRecord {
  /** Id of the verification: such ids sort by their time. */
  id: string
  tenantId: string
  /** Blind index of the user whose erasure deletes the verification. */
  blindIndex: Buffer
  /** JSON of what the audit log of production would say. */
  facts: string
  expiresAt: number
}

/** An entry of the audit log about a verification, and what the log says later about its user. */
export interface AuditedVerification {
  /** Canonical JSON of the entry. */
  entry: string
  /** Whether the log records the erasure of the user. */
  isErased: boolean
  /** Whether the database was restored afterwards: erasures between backup and restore are not in the log. */
  isBeforeRestore: boolean
}

/** The last entry of a log and its seal, read in one snapshot. Both are undefined for an empty log. */
export interface AuditEnd {
  head: AuditRecord | undefined
  seal: AuditSealRecord | undefined
}

/** A challenge that was issued. */
export interface ChallengeRecord {
  id: string
  tenantId: string
  environment: Environment
  /** Blind index of the user whose erasure deletes the challenge. */
  blindIndex: Buffer
  /** HMAC of user, purpose and action under the challenge's nonce. */
  binding: Buffer
  /** Steps of the challenge, separated by blanks. */
  steps: string
  /** Text of a typed action that the challenge's answer held, sealed under the nonce; null for none. */
  display: Buffer | null
  createdAt: number
  expiresAt: number
  /** When the challenge was used; null while it can be used. */
  usedAt: number | null
}

/** The logo of a tenant on the hosted capture page. */
export interface CaptureLogoRecord {
  tenantId: string
  /** SHA-256 of `image`. */
  sha256: Buffer
  /** The picture as a PNG file. */
  image: Buffer
}

/** How far a person has come on the hosted capture page. */
export interface CaptureSessionRecord {
  id: string
  tenantId: string
  environment: Environment
  /** Id of the API key that created the session. */
  keyId: string
  /** Blind index of the user whose erasure deletes the session. */
  blindIndex: Buffer
  purpose: 'verify' | 'enroll'
  /** The request that created the session, sealed under a key of its own that the database does not hold. */
  sealed: Buffer
  /** The key of `sealed`, sealed under the secret in the link that was given out. */
  link: Buffer
  /** SHA-256 of the cookie of the browser that opened the link; null before one did. */
  browser: Buffer | null
  /** The key of `sealed` under the secret of the phone's link; null when the session was not handed to a phone. */
  phoneLink: Buffer | null
  phoneBrowser: Buffer | null
  /** Version of the text that the person agreed to; null before. */
  consentVersion: string | null
  consentedAt: number | null
  /** Number of captures that were judged. */
  attempts: number
  /** Id of the challenge of the last judged capture, under which its answer is kept; null before the first. */
  answered: string | null
  status: 'open' | 'completed' | 'cancelled'
  createdAt: number
  expiresAt: number
  /** When the expiry was sent to the webhooks; null for a session that has not expired, or whose expiry was not sent yet. */
  expiryReportedAt: number | null
  /** `same`: the result is given out only with the proof of the browser that captured. */
  binding: CaptureBinding
  /** SHA-256 of that proof; null before the session has ended with a result, and where it has none. */
  proof: Buffer | null
  /** When the person said that somebody else had begun; null where they did not. */
  disownedAt: number | null
}

/** Whether the browser that gets the result must be the one that captured. */
export type CaptureBinding = 'same' | 'any'

/** A policy that is or was in force. It is kept as long as the audit log whose verdicts name its hash. */
export interface PolicyVersionRecord {
  tenantId: string
  /** SHA-256 of `policy`, in hex. */
  hash: string
  /** JSON of the policy in RFC 8785 canonical form. */
  policy: string
  firstSetAt: number
}

/** When a production user was last enrolled or approved. Erased with the user. */
export interface ActivityRecord {
  blindIndex: Buffer
  tenantId: string
  /** The user's id, sealed under the user's data key, so that a notice of the erasure can name the user. */
  sealed: Buffer
  usedAt: number
  /** When the erasure of the user was announced; null while it is not, and after every use. */
  noticeAt: number | null
}

/** A user's approval of an action that needs a second person, until that person's verdict uses it up. */
export interface ApprovalRecord {
  /** Verification id of the first person's verdict. */
  id: string
  tenantId: string
  environment: Environment
  /** Blind index of the first person, whose erasure deletes the approval. */
  blindIndex: Buffer
  /** HMAC of the action. */
  binding: Buffer
  /** Hash of the policy under which the first person approved. */
  policyHash: string
  createdAt: number
  expiresAt: number
  /** When a verdict used the approval; null while it can be used. */
  usedAt: number | null
}

/** A text of a tenant or of the page that people have agreed to on the hosted capture page. It is kept as long as the audit log that names its hash. */
export interface ConsentTextRecord {
  tenantId: string
  /** SHA-256 hash of the text. */
  sha256: Buffer
  version: string
  /** Language of the page that showed the text first. */
  language: string
  text: string
  firstAgreedAt: number
}

/** A text that capture sessions of one user brought as their own, sealed under the user's data key. It is deleted with the user. */
export interface OwnConsentTextRecord extends Omit<ConsentTextRecord, 'text'> {
  subjectId: string
  sealed: Buffer
}

/** Length of a counted interval of traffic. */
export type TrafficResolution = 'minute' | 'hour'

/** An entry of the request log. */
export interface RequestRecord {
  /** UUIDv7: entries sort by it in the order in which requests came. */
  requestId: string
  tenantId: string
  environment: Environment
  endpoint: string
  status: number
  /** Error code, or the reason of a rejection; null where neither is. */
  code: string | null
  verdict: 'approved' | 'rejected' | null
  /** 1 when the answer was kept from an earlier request, else 0. */
  isReplay: number
  durationMs: number
  /** Id of the API key. */
  keyId: string | null
  /** Address of the caller; null for a request of the hosted capture page. */
  address: string | null
  /** The caller's own `X-Request-Id`. */
  clientRequestId: string | null
  verificationId: string | null
  /** Pseudonym of the user. In production it is the audit log's, which erasure makes unlinkable. */
  subject: string | null
  /** User id, in the sandbox only: sealed, in base64; deleted by erasure. */
  sandboxUser: string | null
}

/** Counted requests of a tenant within one interval, without users. */
export interface TrafficRecord {
  tenantId: string
  resolution: TrafficResolution
  /** Start of the interval. */
  at: number
  /** JSON of the counts. */
  counts: string
}

/** Verifies of a tenant with one model within a quarter of a day, as histograms without users. */
export interface DriftRecord {
  tenantId: string
  /** Id of the model pack that judged them. */
  model: string
  /** Start of the quarter of a day. */
  at: number
  /** JSON of the counts. */
  counts: string
  /** JSON of the newest verifies in blocks; null in all rows but the newest of the tenant and model. */
  blocks: string | null
}

/** A one-time link that signs a tenant in to the dashboard. */
export interface LoginLinkRecord {
  /** SHA-256 of the token. */
  hash: Buffer
  tenantId: string
  expiresAt: number
}

/** The second factor of a person: the secret that makes its codes, and its recovery codes. */
export interface SecondFactorRecord {
  /** Id of the person; `operator` for the operator without a name. */
  id: string
  /** The secret of the second factor, sealed. */
  sealed: Buffer
  /** JSON: hashes of the recovery codes that were not used yet. */
  recovery: string
  /** Number of the 30-second step whose code was last accepted; null before the first. */
  lastStep: number | null
  /** When a first code was confirmed, from which on the factor is in force; null before. */
  enrolledAt: number | null
}

/** A one-time link that signs a person in to the dashboard without a password. */
export interface PersonLinkRecord {
  /** SHA-256 of the token. */
  hash: Buffer
  /** The person's tenant; null for an operator. */
  tenantId: string | null
  /** Id of the person; null for the operator without a name. */
  personId: string | null
  expiresAt: number
}

/** A session of somebody who is signed in to the dashboard. */
export interface SessionRecord {
  /** SHA-256 of the cookie's token. */
  hash: Buffer
  /** Id of the tenant; null for an operator. */
  tenantId: string | null
  /** Id of the person; null for a session that a tenant's login link or the operator's password began, which give no name. */
  personId: string | null
  /** When the session ends unless it is used before. */
  expiresAt: number
  /** When the session ends even if it is used. Null, like all fields below, for a session that an earlier version began. */
  endsAt: number | null
  createdAt: number | null
  lastUsedAt: number | null
  /** When the person last authenticated; also null when an OpenID provider did not report it. */
  authenticatedAt: number | null
  /** The `enrolledAt` of the second factor of which the person gave a code; null when the person gave none. */
  secondFactorAt: number | null
  method: SessionMethod | null
  /** Source address at the sign-in. */
  address: string | null
  /** User agent of the browser at the sign-in. */
  browser: string | null
}

/** How a session began: by a login link, the password, or an OpenID provider. */
export type SessionMethod = 'link' | 'password' | 'oidc'

/** An endpoint to which the service sends a tenant's webhooks. */
export interface WebhookEndpointRecord {
  id: string
  tenantId: string
  environment: Environment
  url: string
  /** Event types, separated by commas; empty for all. */
  events: string
  createdAt: number
  /** Number of events that were dropped because too many were waiting. */
  dropped: number
  /** When a delivery was last accepted; null before the first. */
  lastSuccessAt: number | null
  /** When a delivery last failed; null before the first. */
  lastFailureAt: number | null
  /** HTTP status of the last failure, or why there was no answer; null before the first. */
  lastFailure: string | null
  /** Number of failed deliveries since the last accepted one. */
  failures: number
}

/** The delivery of one event to one endpoint. */
export interface WebhookDeliveryRecord {
  id: string
  eventId: string
  endpointId: string
  tenantId: string
  type: string
  /** Blind index of the user whose erasure deletes the body; null for none. */
  blindIndex: Buffer | null
  /** The subject whose data key sealed it; null for the service's own key. */
  subjectId: string | null
  /** The body; null once it is not needed any more. */
  sealed: Buffer | null
  status: 'pending' | 'delivered' | 'failed' | 'erased'
  attempts: number
  /** When the next delivery is due; null unless the delivery is pending. */
  nextAttemptAt: number | null
  /** HTTP status of the last attempt, or why there was no answer; null before the first. */
  lastOutcome: string | null
  /** Id of the sender that is delivering it now; null for none. */
  takenBy: string | null
  createdAt: number
  finishedAt: number | null
  expiresAt: number
}

export type PersonRole = 'admin' | 'viewer'

/** How a person authenticated: by password, or by an OpenID provider. */
export type SignInMethod = 'password' | 'oidc'

/** A person who signs in to the dashboard under a name. Names are unique in the whole installation. */
export interface PersonRecord {
  id: string
  /** The tenant to which the person belongs; null for an operator of the installation. */
  tenantId: string | null
  name: string
  role: PersonRole
  /** Hash as `hashPassword` makes it; null for a person of a tenant who has not chosen a password. */
  passwordHash: string | null
  /** `provider` for a person of a tenant who is let in only by the provider's groups. */
  origin: 'invited' | 'provider'
  createdAt: number
  /** When the person last signed in; null, like the method, before the first time. */
  lastSignInAt: number | null
  lastSignInBy: SignInMethod | null
}

/** An application that may ask the OpenID provider for a verdict. */
export interface OpenIdClientRecord {
  id: string
  tenantId: string
  environment: Environment
  /** API key in whose name the provider calls the API for this client. */
  keyId: string
  /** Sealed JSON of the client's settings. */
  sealed: Buffer
  createdAt: number
}

/** State of the OpenID provider between two requests of one sign-in: a pushed request, an interaction, a code. */
export interface OpenIdStateRecord {
  /** SHA-256 of kind and id: a copy of the database has no code that could be redeemed. */
  lookup: Buffer
  /** SHA-256 of the grant with which it is deleted; null for none. */
  grantId: Buffer | null
  /** Blind index of the user whom it names, and with whom it is erased; null for none. */
  blindIndex: Buffer | null
  /** Sealed under a key made of the id, which the database does not hold. */
  sealed: Buffer
  expiresAt: number
  /** When a code or a pushed request was used; null before. */
  usedAt: number | null
}

/** A request of an identity provider whose result is reported to that provider. */
export interface OpenIdCallbackRecord {
  /** SHA-256 of the provider and of the id of its request: no request is taken twice. */
  request: Buffer
  tenantId: string
  /** Capture session whose end is reported; null where no person was asked. */
  sessionId: string | null
  /** Blind index of the user with whom it is erased; null where no person was asked. */
  blindIndex: Buffer | null
  /** Sealed JSON of what was asked and where the result goes. */
  sealed: Buffer
  /** Attempts to report the result so far. */
  attempts: number
  /** When the result may be reported next; null where nothing is left to report. */
  nextAt: number | null
  expiresAt: number
}
