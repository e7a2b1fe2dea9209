/** Users, their references and captures, and what is remembered of them. */
import { DAY_MS } from '../../lib/clock.js'
import {
  blindIndex,
  bytes,
  declareTable,
  environment,
  integer,
  ofSubject,
  ofTenant,
  type Row,
  text,
} from '../table.js'

/** A user of a tenant in one environment, known only by a keyed pseudonym. */
export const SUBJECT = declareTable({
  name: 'subject',
  columns: {
    id: text,
    tenantId: ofTenant,
    environment,
    /** Blind index: HMAC-SHA256 of tenant, environment and user id. */
    blindIndex: blindIndex.with('UNIQUE'),
    /** The user's data key, wrapped. Erasing it erases everything sealed under it, in every copy. */
    wrappedKey: bytes,
    createdAt: integer,
    /** Number of consecutive rejections. */
    failures: integer,
    /** No verify is evaluated before this time. */
    lockedUntil: integer.orNull,
    /** When the reference was disabled because rejections continued after a lockout; null otherwise. Only a new enrollment clears it. */
    disabledAt: integer.orNull,
    /** Id of the verification by which the user agreed to a new reference, with its time; null when there is none, or it was used. */
    replaceVerdict: text.orNull,
    replaceVerdictAt: integer.orNull,
    /** Id of the verification that began the recovery of a lost passkey, and the time from which it counts; null where none waits. */
    passkeyRecovery: text.orNull,
    passkeyRecoveryAt: integer.orNull,
    /** Strongest proof that a passkey gave which was revoked since the last recovery; null for none. */
    revokedPasskey: text.as<'hwk' | 'swk'>().orNull,
  },
  key: ['id'],
  indexes: {
    subject_of_tenant: '(tenant_id)',
  },
  atErasure: 'deleted',
  atTenantEnd: 'kept',
  expires: null,
  sealedUnder: { key: 'wrapping', column: 'wrapped_key' },
})
export type SubjectRecord = Row<typeof SUBJECT>

/** The template that a user was enrolled with. */
export const REFERENCE = declareTable({
  name: 'reference',
  columns: {
    id: text,
    subjectId: ofSubject.with('UNIQUE'),
    /** Id of the model pack that made the reference. */
    model: text,
    sealed: bytes,
    createdAt: integer,
  },
  key: ['id'],
  atErasure: 'deleted',
  countedAs: 'references',
  atTenantEnd: 'kept',
  expires: null,
  sealedUnder: 'data key',
})
export type ReferenceRecord = Row<typeof REFERENCE>

/** A user's template of another model, made of captures of the same person. It is deleted with the reference that it stands next to. */
export const FOLLOWING_REFERENCE = declareTable({
  name: 'following_reference',
  columns: {
    id: text,
    referenceId: text.with('REFERENCES reference (id) ON DELETE CASCADE'),
    /** Id of the model pack that made the template. */
    model: text,
    sealed: bytes,
    createdAt: integer,
  },
  key: ['id'],
  constraints: ['UNIQUE (reference_id, model)'],
  atErasure: 'deleted',
  countedAs: 'references',
  atTenantEnd: 'kept',
  expires: null,
  sealedUnder: 'data key',
})
export type FollowingReferenceRecord = Row<typeof FOLLOWING_REFERENCE>

/** A capture that was seen, kept to recognize replays. */
export const CAPTURE = declareTable({
  name: 'capture',
  columns: {
    subjectId: ofSubject,
    /** Keyed digest of the image bytes. */
    digest: bytes,
    /** The embedding, sealed under the user's data key; empty when only the digest is kept. */
    sealed: bytes,
    seenAt: integer,
  },
  // In the order in which they were seen.
  key: 'rowid',
  indexes: {
    capture_of_subject: '(subject_id, seen_at)',
    capture_seen_at: '(seen_at)',
  },
  atErasure: 'deleted',
  countedAs: 'captures',
  atTenantEnd: 'kept',
  expires: { at: 'seenAt', keptMs: DAY_MS },
  sealedUnder: 'data key',
})
export type CaptureRecord = Row<typeof CAPTURE>

/** Users of the sandbox and when they were last used, to count them and to delete unused ones. */
export const SANDBOX_USER = declareTable({
  name: 'sandbox_user',
  columns: {
    blindIndex: blindIndex.with('REFERENCES subject (lookup) ON DELETE CASCADE'),
    tenantId: text,
    usedAt: integer,
  },
  key: ['blindIndex'],
  indexes: {
    sandbox_user_of_tenant: '(tenant_id)',
    sandbox_user_used_at: '(used_at)',
  },
  atErasure: 'deleted by foreign key',
  atTenantEnd: 'kept',
  expires: null,
  sealedUnder: 'nothing',
})

/** A verification of the sandbox, which writes no audit log. */
export const SANDBOX_VERIFICATION = declareTable({
  name: 'sandbox_verification',
  columns: {
    /** Id of the verification: such ids sort by their time. */
    id: text,
    tenantId: text,
    /** Blind index of the user whose erasure deletes the verification. */
    blindIndex,
    /** JSON of what the audit log of production would say. */
    facts: text,
    expiresAt: integer,
  },
  key: ['id'],
  indexes: {
    sandbox_verification_of_tenant: '(tenant_id, id)',
    sandbox_verification_of_user: '(lookup)',
    sandbox_verification_expires_at: '(expires_at)',
  },
  atErasure: 'deleted',
  atTenantEnd: 'deleted',
  expires: { at: 'expiresAt' },
  withoutRowId: true,
  sealedUnder: 'nothing',
})
export type SandboxVerificationRecord = Row<typeof SANDBOX_VERIFICATION>

/** When a production user was last enrolled or approved. Erased with the user. */
export const ACTIVITY = declareTable({
  name: 'user_activity',
  columns: {
    blindIndex,
    tenantId: ofTenant,
    /** The user's id, sealed under the user's data key, so that a notice of the erasure can name the user. */
    sealed: bytes,
    usedAt: integer,
    /** When the erasure of the user was announced; null while it is not, and after every use. */
    noticeAt: integer.orNull,
  },
  key: ['blindIndex'],
  indexes: {
    user_activity_unused: '(tenant_id, used_at) WHERE notice_at IS NULL',
    user_activity_noticed: '(tenant_id, notice_at) WHERE notice_at IS NOT NULL',
  },
  atErasure: 'deleted',
  atTenantEnd: 'deleted',
  expires: null,
  withoutRowId: true,
  sealedUnder: 'data key',
})
export type ActivityRecord = Row<typeof ACTIVITY>

/** A text that capture sessions of one user brought as their own, sealed under the user's data key. It is deleted with the user. */
export const OWN_CONSENT_TEXT = declareTable({
  name: 'own_consent_text',
  columns: {
    tenantId: text,
    subjectId: ofSubject,
    /** SHA-256 hash of the text. */
    sha256: bytes,
    version: text,
    /** Language of the page that showed the text first. */
    language: text,
    sealed: bytes,
    firstAgreedAt: integer,
  },
  key: ['subjectId', 'sha256', 'version'],
  indexes: {
    own_consent_text_hash: '(tenant_id, sha256, first_agreed_at)',
  },
  atErasure: 'deleted by foreign key',
  atTenantEnd: 'kept',
  expires: null,
  sealedUnder: 'data key',
})
export type OwnConsentTextRecord = Row<typeof OWN_CONSENT_TEXT>
