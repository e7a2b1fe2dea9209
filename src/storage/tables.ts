/** Maps the fields of records to the columns of tables. A field without a column does not compile. */
import type {
  ActivityRecord,
  AgedReferenceRecord,
  ApiKeyRecord,
  ApprovalRecord,
  AuditRecord,
  AuditSealRecord,
  CaptureLogoRecord,
  CaptureRecord,
  CaptureSessionRecord,
  ChallengeRecord,
  ConsentTextRecord,
  DriftRecord,
  ErasureRecord,
  FollowingReferenceRecord,
  IdempotencyRecord,
  KeyringRecord,
  LoginLinkRecord,
  ModelMigrationRecord,
  OpenIdCallbackRecord,
  OpenIdClientRecord,
  OpenIdStateRecord,
  OwnConsentTextRecord,
  PasskeyRecord,
  PersonLinkRecord,
  PersonRecord,
  PolicyVersionRecord,
  ReferenceRecord,
  RequestRecord,
  SandboxVerificationRecord,
  SecondFactorRecord,
  SessionRecord,
  SigningSecretRecord,
  SubjectRecord,
  TenantRecord,
  TrafficRecord,
  VerdictKeyRecord,
  WebhookDeliveryRecord,
  WebhookEndpointRecord,
} from './records.js'
import { table } from './table.js'

export const TENANT = table<TenantRecord>('tenant', {
  id: 'id',
  name: 'name',
  createdAt: 'created_at',
  ratePerSecond: 'rate_per_second',
  burst: 'burst',
  fmr: 'fmr',
  requireLiveness: 'require_liveness',
  replaceVerdictMinutes: 'replace_verdict_minutes',
  capturePage: 'capture_page',
  policyHash: 'policy_hash',
  sandboxPolicyHash: 'sandbox_policy_hash',
  passkeys: 'passkeys',
  models: 'models',
  driftSince: 'drift_since',
  productionIssuedAt: 'production_issued_at',
  productionRevealedAt: 'production_revealed_at',
  suspendedAt: 'suspended_at',
  deletedAt: 'deleted_at',
})

export const API_KEY = table<ApiKeyRecord>('api_key', {
  id: 'id',
  tenantId: 'tenant_id',
  type: 'type',
  hash: 'hash',
  hint: 'hint',
  name: 'name',
  scopes: 'scopes',
  networks: 'networks',
  certificate: 'certificate',
  createdAt: 'created_at',
  validUntil: 'valid_until',
  revokedAt: 'revoked_at',
})

export const SIGNING_SECRET = table<SigningSecretRecord>('signing_secret', {
  id: 'id',
  tenantId: 'tenant_id',
  sealed: 'sealed',
  createdAt: 'created_at',
  validUntil: 'valid_until',
})

export const SUBJECT = table<SubjectRecord>('subject', {
  id: 'id',
  tenantId: 'tenant_id',
  environment: 'environment',
  blindIndex: 'lookup',
  wrappedKey: 'wrapped_key',
  createdAt: 'created_at',
  failures: 'failures',
  lockedUntil: 'locked_until',
  disabledAt: 'disabled_at',
  replaceVerdict: 'replace_verdict',
  replaceVerdictAt: 'replace_verdict_at',
  passkeyRecovery: 'passkey_recovery',
  passkeyRecoveryAt: 'passkey_recovery_at',
  revokedPasskey: 'revoked_passkey',
})

export const REFERENCE = table<ReferenceRecord>('reference', {
  id: 'id',
  subjectId: 'subject_id',
  model: 'model',
  sealed: 'sealed',
  createdAt: 'created_at',
})

export const FOLLOWING_REFERENCE = table<FollowingReferenceRecord>('following_reference', {
  id: 'id',
  referenceId: 'reference_id',
  model: 'model',
  sealed: 'sealed',
  createdAt: 'created_at',
})

export const AGED_REFERENCE = table<AgedReferenceRecord>('aged_reference', FOLLOWING_REFERENCE.columnOf)

/** The table has one row at most, whose `id` is 1. */
export const MODEL_MIGRATION = table<ModelMigrationRecord>('model_migration', {
  from: 'from_model',
  to: 'to_model',
  startedAt: 'started_at',
  strictFmr: 'strict_fmr',
  atCoverage: 'at_coverage',
  atTime: 'at_time',
  finishingAt: 'finishing_at',
})

export const PASSKEY = table<PasskeyRecord>('passkey', {
  id: 'id',
  subjectId: 'subject_id',
  lookup: 'lookup',
  sealed: 'sealed',
  createdAt: 'created_at',
  lastUsedAt: 'last_used_at',
})

export const CAPTURE = table<CaptureRecord>('capture', {
  subjectId: 'subject_id',
  digest: 'digest',
  sealed: 'sealed',
  seenAt: 'seen_at',
})

export const CHALLENGE = table<ChallengeRecord>('challenge', {
  id: 'id',
  tenantId: 'tenant_id',
  environment: 'environment',
  blindIndex: 'lookup',
  binding: 'binding',
  steps: 'steps',
  display: 'display',
  createdAt: 'created_at',
  expiresAt: 'expires_at',
  usedAt: 'used_at',
})

export const CAPTURE_SESSION = table<CaptureSessionRecord>(
  'capture_session',
  {
    id: 'id',
    tenantId: 'tenant_id',
    environment: 'environment',
    keyId: 'key_id',
    blindIndex: 'lookup',
    purpose: 'purpose',
    sealed: 'sealed',
    link: 'link',
    browser: 'browser',
    phoneLink: 'phone_link',
    phoneBrowser: 'phone_browser',
    consentVersion: 'consent_version',
    consentedAt: 'consented_at',
    attempts: 'attempts',
    answered: 'answered',
    status: 'status',
    createdAt: 'created_at',
    expiresAt: 'expires_at',
    expiryReportedAt: 'expiry_told_at',
    binding: 'binding',
    proof: 'proof',
    disownedAt: 'disowned_at',
  },
  ['id'],
)

export const CAPTURE_LOGO = table<CaptureLogoRecord>(
  'capture_logo',
  { tenantId: 'tenant_id', sha256: 'sha256', image: 'image' },
  ['tenantId'],
)

export const CONSENT_TEXT = table<ConsentTextRecord>('consent_text', {
  tenantId: 'tenant_id',
  sha256: 'sha256',
  version: 'version',
  language: 'language',
  text: 'text',
  firstAgreedAt: 'first_agreed_at',
})

export const OWN_CONSENT_TEXT = table<OwnConsentTextRecord>('own_consent_text', {
  tenantId: 'tenant_id',
  subjectId: 'subject_id',
  sha256: 'sha256',
  version: 'version',
  language: 'language',
  sealed: 'sealed',
  firstAgreedAt: 'first_agreed_at',
})

export const POLICY_VERSION = table<PolicyVersionRecord>('policy_version', {
  tenantId: 'tenant_id',
  hash: 'hash',
  policy: 'policy',
  firstSetAt: 'first_set_at',
})

export const ACTIVITY = table<ActivityRecord>('user_activity', {
  blindIndex: 'lookup',
  tenantId: 'tenant_id',
  sealed: 'sealed',
  usedAt: 'used_at',
  noticeAt: 'notice_at',
})

export const APPROVAL = table<ApprovalRecord>('approval', {
  id: 'id',
  tenantId: 'tenant_id',
  environment: 'environment',
  blindIndex: 'lookup',
  binding: 'binding',
  policyHash: 'policy_hash',
  createdAt: 'created_at',
  expiresAt: 'expires_at',
  usedAt: 'used_at',
})

export const IDEMPOTENCY = table<IdempotencyRecord>('idempotency', {
  scope: 'scope',
  blindIndex: 'lookup',
  subjectId: 'subject_id',
  payloadHash: 'payload_hash',
  status: 'status',
  sealed: 'sealed',
  createdAt: 'created_at',
  expiresAt: 'expires_at',
})

export const ERASURE = table<ErasureRecord>(
  'erasure',
  {
    blindIndex: 'lookup',
    erasureId: 'erasure_id',
    erasedAt: 'erased_at',
    references: 'reference_count',
    captures: 'capture_count',
    passkeys: 'passkey_count',
    idempotencyRecords: 'idempotency_count',
    expiresAt: 'expires_at',
  },
  ['blindIndex'],
)

export const AUDIT = table<AuditRecord>('audit', {
  tenantId: 'tenant_id',
  sequence: 'sequence',
  entry: 'entry',
  hash: 'hash',
})

export const SANDBOX_VERIFICATION = table<SandboxVerificationRecord>('sandbox_verification', {
  id: 'id',
  tenantId: 'tenant_id',
  blindIndex: 'lookup',
  facts: 'facts',
  expiresAt: 'expires_at',
})

export const AUDIT_SEAL = table<AuditSealRecord>(
  'audit_seal',
  {
    tenantId: 'tenant_id',
    sequence: 'sequence',
    mac: 'mac',
  },
  ['tenantId'],
)

export const KEYRING = table<KeyringRecord>(
  'keyring',
  {
    masterKeyId: 'master_key_id',
    sealed: 'sealed',
    createdAt: 'created_at',
    generation: 'generation',
  },
  ['masterKeyId'],
)

export const VERDICT_KEY = table<VerdictKeyRecord>('verdict_key', {
  id: 'id',
  environment: 'environment',
  sealed: 'sealed',
  publishedAt: 'published_at',
  signsFrom: 'signs_from',
  goneAt: 'gone_at',
})

export const LOGIN_LINK = table<LoginLinkRecord>('login_link', {
  hash: 'hash',
  tenantId: 'tenant_id',
  expiresAt: 'expires_at',
})

export const SECOND_FACTOR = table<SecondFactorRecord>(
  'second_factor',
  {
    id: 'id',
    sealed: 'sealed',
    recovery: 'recovery',
    lastStep: 'last_step',
    enrolledAt: 'enrolled_at',
  },
  ['id'],
)

export const OPERATOR_LINK = table<Omit<PersonLinkRecord, 'tenantId'>>('operator_link', {
  hash: 'hash',
  personId: 'operator_id',
  expiresAt: 'expires_at',
})

export const PERSON_LINK = table<PersonLinkRecord>('person_link', {
  hash: 'hash',
  tenantId: 'tenant_id',
  personId: 'person_id',
  expiresAt: 'expires_at',
})

/** People of tenants. They have a table of their own because earlier versions treat everybody in `operator` as an operator. */
export const PERSON = table<PersonRecord>('person', {
  id: 'id',
  tenantId: 'tenant_id',
  name: 'name',
  role: 'role',
  passwordHash: 'password_hash',
  origin: 'origin',
  createdAt: 'created_at',
  lastSignInAt: 'last_sign_in_at',
  lastSignInBy: 'last_sign_in_by',
})

export const OPERATOR = table<Omit<PersonRecord, 'tenantId' | 'origin'>>('operator', {
  id: 'id',
  name: 'name',
  role: 'role',
  passwordHash: 'password_hash',
  createdAt: 'created_at',
  lastSignInAt: 'last_sign_in_at',
  lastSignInBy: 'last_sign_in_by',
})

interface SessionOwner {
  operatorId: string | null
  tenantPersonId: string | null
}

/**
 * The session of a tenant's person names only the person, neither a tenant nor an operator. Earlier versions then find nobody signed in,
 * and give no session more rights than its person has.
 */
export const DASHBOARD_SESSION = table<Omit<SessionRecord, 'personId'> & SessionOwner>('dashboard_session', {
  hash: 'hash',
  tenantId: 'tenant_id',
  operatorId: 'operator_id',
  tenantPersonId: 'person_id',
  expiresAt: 'expires_at',
  endsAt: 'ends_at',
  createdAt: 'created_at',
  lastUsedAt: 'last_used_at',
  authenticatedAt: 'authenticated_at',
  secondFactorAt: 'second_factor_at',
  method: 'method',
  address: 'address',
  browser: 'browser',
})

export const WEBHOOK_ENDPOINT = table<WebhookEndpointRecord>('webhook_endpoint', {
  id: 'id',
  tenantId: 'tenant_id',
  environment: 'environment',
  url: 'url',
  events: 'events',
  createdAt: 'created_at',
  dropped: 'dropped',
  lastSuccessAt: 'last_success_at',
  lastFailureAt: 'last_failure_at',
  lastFailure: 'last_failure',
  failures: 'failures',
})

export const WEBHOOK_DELIVERY = table<WebhookDeliveryRecord>('webhook_delivery', {
  id: 'id',
  eventId: 'event_id',
  endpointId: 'endpoint_id',
  tenantId: 'tenant_id',
  type: 'type',
  blindIndex: 'lookup',
  subjectId: 'subject_id',
  sealed: 'sealed',
  status: 'status',
  attempts: 'attempts',
  nextAttemptAt: 'next_attempt_at',
  lastOutcome: 'last_outcome',
  takenBy: 'taken_by',
  createdAt: 'created_at',
  finishedAt: 'finished_at',
  expiresAt: 'expires_at',
})

export const TRAFFIC = table<TrafficRecord>(
  'traffic',
  {
    tenantId: 'tenant_id',
    resolution: 'resolution',
    at: 'at',
    counts: 'counts',
  },
  ['tenantId', 'resolution', 'at'],
)

export const DRIFT = table<DriftRecord>(
  'drift',
  {
    tenantId: 'tenant_id',
    model: 'model',
    at: 'at',
    counts: 'counts',
    blocks: 'blocks',
  },
  ['tenantId', 'model', 'at'],
)

export const REQUEST = table<RequestRecord>(
  'request_log',
  {
    requestId: 'request_id',
    tenantId: 'tenant_id',
    environment: 'environment',
    endpoint: 'endpoint',
    status: 'status',
    code: 'code',
    verdict: 'verdict',
    isReplay: 'is_replay',
    durationMs: 'duration_ms',
    keyId: 'key_id',
    address: 'address',
    clientRequestId: 'client_request_id',
    verificationId: 'verification_id',
    subject: 'subject',
    sandboxUser: 'sandbox_user',
  },
  ['requestId'],
)

/** Keys that sign the ID tokens of the OpenID provider, in the form of those that sign verdicts. */
export const OPENID_KEY = table<VerdictKeyRecord>('openid_key', VERDICT_KEY.columnOf)

export const OPENID_CLIENT = table<OpenIdClientRecord>(
  'openid_client',
  {
    id: 'id',
    tenantId: 'tenant_id',
    environment: 'environment',
    keyId: 'key_id',
    sealed: 'sealed',
    createdAt: 'created_at',
  },
  ['id'],
)

export const OPENID_STATE = table<OpenIdStateRecord>(
  'openid_state',
  {
    lookup: 'lookup',
    grantId: 'grant_id',
    blindIndex: 'user_lookup',
    sealed: 'sealed',
    expiresAt: 'expires_at',
    usedAt: 'used_at',
  },
  ['lookup'],
)

export const OPENID_CALLBACK = table<OpenIdCallbackRecord>(
  'openid_callback',
  {
    request: 'request',
    tenantId: 'tenant_id',
    sessionId: 'session_id',
    blindIndex: 'lookup',
    sealed: 'sealed',
    attempts: 'attempts',
    nextAt: 'next_at',
    expiresAt: 'expires_at',
  },
  ['request'],
)
