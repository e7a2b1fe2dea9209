/** The rows that a Store keeps. Times are milliseconds since the epoch; `sealed` and `wrapped` bytes are opaque to storage. */

import type { Environment } from '../config/config.js'
import type { LivenessRequirement } from '../config/liveness-requirement.js'

export interface TenantRecord {
  id: string
  name: string
  createdAt: number
  /** Contract of the production key: sustained requests per second, and how many may come at once. */
  ratePerSecond: number
  burst: number
  /** Overrides the configured false match rate. */
  fmr: number | null
  /** What must have been checked of every capture, besides what is configured; null for nothing. */
  requireLiveness: LivenessRequirement | null
  /** Age in minutes of the verdict without which no reference is replaced; null where none is needed. */
  replaceVerdictMinutes: number | null
  /** JSON of what the hosted capture page is for this tenant; null where nothing was set. */
  capturePage: string | null
  /** When the first sandbox verify cleared; null before. */
  productionIssuedAt: number | null
  /** When the first production key was revealed; null before. */
  productionRevealedAt: number | null
  /** Its keys are refused from then on; null while they are not. */
  suspendedAt: number | null
  /** Its users, keys and secrets are gone, and its audit log stays; null for a tenant that is there. */
  deletedAt: number | null
}

export interface ApiKeyRecord {
  id: string
  tenantId: string
  type: Environment
  /** SHA-256 of the key. */
  hash: Buffer
  /** The last four characters, to tell keys apart. */
  hint: string
  /** Name of a further key, which its tenant has beside the first key of the environment; null for the first key. */
  name: string | null
  /** Scopes of the key, separated by blanks; null for a key that may do everything. */
  scopes: string | null
  /** Addresses and networks from which it may be used, with blanks between; null for any. */
  networks: string | null
  /** The client certificate that it needs: `sha256:` and its fingerprint, or `CN=` and its common name; null for none. */
  certificate: string | null
  createdAt: number
  /** End of a grace period; null for ever. */
  validUntil: number | null
  revokedAt: number | null
}

export interface SigningSecretRecord {
  /** The `kid`. */
  id: string
  tenantId: string
  sealed: Buffer
  createdAt: number
  /** End of the overlap; null for the current secret. */
  validUntil: number | null
}

/** The service's keys, sealed under one master key. */
export interface KeyringRecord {
  /** Of the master key. */
  masterKeyId: string
  sealed: Buffer
  createdAt: number
  /** How often the working keys were changed. */
  generation: number
}

/** What can be sealed anew under another working key. */
export type SealedKind = 'subject' | 'signing_secret' | 'second_factor' | 'idempotency' | 'webhook_delivery'

export interface SealedRow {
  /** By which it is ordered and named, and the context in which it is sealed. */
  id: string
  sealed: Buffer
}

/** A user of a tenant in one environment, known only by a keyed pseudonym. */
export interface SubjectRecord {
  id: string
  tenantId: string
  environment: Environment
  /** HMAC-SHA256 of tenant, environment and user id. */
  blindIndex: Buffer
  /** The user's data key, wrapped; erasing it erases whatever it sealed, in every copy. */
  wrappedKey: Buffer
  createdAt: number
  /** Consecutive rejections. */
  failures: number
  /** No verify is evaluated before this time. */
  lockedUntil: number | null
  /** Set when the rejections went on; only re-enrolment clears it. */
  disabledAt: number | null
  /** The verification by which the user agreed to another reference, and when; null where there is none, or it was used. */
  replaceVerdict: string | null
  replaceVerdictAt: number | null
}

export interface ReferenceRecord {
  id: string
  subjectId: string
  /** The model pack it was made with. */
  model: string
  sealed: Buffer
  createdAt: number
}

/** A capture that was seen, for telling replays. */
export interface CaptureRecord {
  subjectId: string
  /** Keyed digest of the image bytes. */
  digest: Buffer
  /** The embedding under the user's data key; empty where the digest alone is kept. */
  sealed: Buffer
  seenAt: number
}

export interface CaptureHistory {
  /** Whether one of the digests that were asked for is among all. */
  hasDigest: boolean
  /** The sealed embeddings, newest first; without captures of which the digest alone is kept. */
  newest: Buffer[]
  /** The place of the latest one of all: what is remembered later comes after it. 0 where there is none. */
  last: number
}

export interface IdempotencyRecord {
  /** HMAC of tenant, environment, method, path and key. */
  scope: Buffer
  /** The user whose erasure takes this record along; null for none. */
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
  idempotencyRecords: number
  expiresAt: number
}

/** How far a tenant's log goes, under the chain key: whoever cuts its end off cannot make another. */
export interface AuditSealRecord {
  tenantId: string
  sequence: number
  mac: Buffer
}

/** How far the logs have been verified in the background: JSON, and what vouches for it. */
export interface AuditVerificationRecord {
  state: string
  mac: Buffer
}

export interface AuditRecord {
  tenantId: string
  /** 1, 2, 3, … without a gap. */
  sequence: number
  /** Canonical JSON of the entry. */
  entry: string
  /** Chain value, 32 bytes. */
  hash: Buffer
}

/** The last entry of a log and its seal, as of one moment. Both are undefined for an empty log. */
export interface AuditEnd {
  head: AuditRecord | undefined
  seal: AuditSealRecord | undefined
}

/** A challenge that was given out. */
export interface ChallengeRecord {
  id: string
  tenantId: string
  environment: Environment
  /** The user whose erasure takes it along. */
  blindIndex: Buffer
  /** HMAC of user, purpose and action under the challenge's nonce. */
  binding: Buffer
  /** With blanks between. */
  steps: string
  createdAt: number
  expiresAt: number
  /** Null while it can be used. */
  usedAt: number | null
}

/** The picture of a tenant on the hosted capture page. */
export interface CaptureLogoRecord {
  tenantId: string
  /** SHA-256 of `image`. */
  sha256: Buffer
  /** A PNG. */
  image: Buffer
}

/** How far a person has come on the hosted capture page. */
export interface CaptureSessionRecord {
  id: string
  tenantId: string
  environment: Environment
  /** Of the API key that asked for it. */
  keyId: string
  /** The user whose erasure takes it along. */
  blindIndex: Buffer
  purpose: 'verify' | 'enroll'
  /** What it is for, under a key of its own that the database does not hold. */
  sealed: Buffer
  /** That key, under the secret in the link that was given out. */
  link: Buffer
  /** SHA-256 of the cookie of the browser that opened the link; null before. */
  browser: Buffer | null
  /** As `link`, for the phone that it was handed to; null where it was not. */
  phoneLink: Buffer | null
  phoneBrowser: Buffer | null
  /** Of the text that the person agreed to; null before. */
  consentVersion: string | null
  consentedAt: number | null
  /** Captures that were judged. */
  attempts: number
  /** The challenge of the last of them, under which its answer is kept; null before the first. */
  answered: string | null
  status: 'open' | 'completed' | 'cancelled'
  createdAt: number
  expiresAt: number
  /** When webhooks were told that it expired; null for a session that did not, or that nobody was told of yet. */
  expiryToldAt: number | null
}

/** A text that somebody has agreed to on the hosted capture page. It stays as long as the audit log that names its hash. */
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

/** How long a stretch of counted traffic is. */
export type TrafficResolution = 'minute' | 'hour'

/** What was counted of a tenant's requests, without users. */
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
  /** 1 where the answer was kept from an earlier request, else 0. */
  isReplay: number
  durationMs: number
  /** Id of the API key. */
  keyId: string | null
  /** Where the request came from; null for one of the hosted capture page. */
  address: string | null
  /** The caller's own `X-Request-Id`. */
  clientRequestId: string | null
  verificationId: string | null
  /** Pseudonym of the user: in production that of the audit log, which erasure makes unlinkable. */
  subject: string | null
  /** User id, in the sandbox only: sealed, in base64; erasure takes it away. */
  sandboxUser: string | null
}

export interface TrafficRecord {
  tenantId: string
  resolution: TrafficResolution
  /** Start. */
  at: number
  /** JSON. */
  counts: string
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
  /** The secret. */
  sealed: Buffer
  /** JSON: hashes of the recovery codes that are left. */
  recovery: string
  /** Number of the last step whose code was taken; null before the first. */
  lastStep: number | null
  /** Null until a code has been confirmed: it is not in force before. */
  enrolledAt: number | null
}

/** A one-time link that signs a person in to the dashboard without a password. */
export interface PersonLinkRecord {
  /** SHA-256 of the token. */
  hash: Buffer
  /** The person's tenant; null for an operator. */
  tenantId: string | null
  /** Null for the operator without a name. */
  personId: string | null
  expiresAt: number
}

/** Somebody signed in to the dashboard. */
export interface SessionRecord {
  /** SHA-256 of the cookie's token. */
  hash: Buffer
  /** Null for an operator. */
  tenantId: string | null
  /** Null for a session that a tenant's login link or the operator's password began: no name is known then. */
  personId: string | null
  /** When it ends unless it is used before. */
  expiresAt: number
  /** When it ends however much it is used. Null, as is all below, for a session that a version before this one began. */
  endsAt: number | null
  createdAt: number | null
  lastUsedAt: number | null
  /** When the person last showed who they are; null as well where an OpenID provider did not say. */
  authenticatedAt: number | null
  method: SessionMethod | null
  /** Source address at the sign-in. */
  address: string | null
  /** As the browser named itself at the sign-in. */
  browser: string | null
}

/** By which a session was begun: a login link, the password, or an OpenID provider. */
export type SessionMethod = 'link' | 'password' | 'oidc'

/** Where a tenant wants to be told of what happens. */
export interface WebhookEndpointRecord {
  id: string
  tenantId: string
  environment: Environment
  url: string
  /** Types with commas between; empty for all. */
  events: string
  createdAt: number
  /** Events that were not kept, because too many waited. */
  dropped: number
  /** Time of the last try that was taken; null before the first one. */
  lastSuccessAt: number | null
  /** Time of the last try that was not taken; null before the first one. */
  lastFailureAt: number | null
  /** HTTP status of that try, or why there was none. */
  lastFailure: string | null
  /** Tries since the last one that was taken. */
  failures: number
}

/** One event on its way to one endpoint. */
export interface WebhookDeliveryRecord {
  id: string
  eventId: string
  endpointId: string
  tenantId: string
  type: string
  /** The user whose erasure takes the body along; null for none. */
  blindIndex: Buffer | null
  /** The subject whose data key sealed it; null for the service's own key. */
  subjectId: string | null
  /** The body; null once it is wanted no longer. */
  sealed: Buffer | null
  status: 'pending' | 'delivered' | 'failed' | 'erased'
  attempts: number
  /** Null unless it is pending. */
  nextAttemptAt: number | null
  /** HTTP status of the last try, or why there was none. */
  lastOutcome: string | null
  /** The sender that is at it now; null for none. */
  takenBy: string | null
  createdAt: number
  finishedAt: number | null
  expiresAt: number
}

export type PersonRole = 'admin' | 'viewer'

/** The way in which a person showed who they are: the password, or an OpenID provider. */
export type SignInMethod = 'password' | 'oidc'

/** Somebody who signs in to the dashboard under a name. No two have the same name, whichever tenants they belong to. */
export interface PersonRecord {
  id: string
  /** The tenant to which the person belongs; null for an operator of the installation. */
  tenantId: string | null
  name: string
  role: PersonRole
  /** As `hashPassword` makes it; null for a person of a tenant who has not chosen one. */
  passwordHash: string | null
  /** `provider` for a person of a tenant whom only the provider's groups let in. */
  origin: 'invited' | 'provider'
  createdAt: number
  /** Null before the first one; so is how. */
  lastSignInAt: number | null
  lastSignInBy: SignInMethod | null
}
