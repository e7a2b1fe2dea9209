/** Sessions on the hosted capture page, with what tenants have set for it and what people agreed to. */
import {
  blindIndex,
  bytes,
  declareTable,
  environment,
  integer,
  LATE_MS,
  ofSubject,
  ofTenant,
  type Row,
  text,
} from '../table.js'

/** How far a person has come on the hosted capture page. */
export const CAPTURE_SESSION = declareTable({
  name: 'capture_session',
  columns: {
    id: text,
    tenantId: ofTenant,
    environment,
    /** Id of the API key that created the session. */
    keyId: text,
    /** Blind index of the user whose erasure deletes the session. */
    blindIndex,
    purpose: text.oneOf('verify', 'enroll'),
    /** The request that created the session, sealed under a key of its own that the database does not hold. */
    sealed: bytes,
    /** The key of `sealed`, sealed under the secret in the link that was given out. */
    link: bytes,
    /** SHA-256 of the cookie of the browser that opened the link; null before one did. */
    browser: bytes.orNull,
    /** The key of `sealed` under the secret of the phone's link; null when the session was not handed to a phone. */
    phoneLink: bytes.orNull,
    phoneBrowser: bytes.orNull,
    /** Version of the text that the person agreed to; null before. */
    consentVersion: text.orNull,
    consentedAt: integer.orNull,
    /** Number of captures that were judged. */
    attempts: integer,
    /** Id of the challenge of the last judged capture, under which its answer is kept; null before the first. */
    answered: text.orNull,
    status: text.oneOf('open', 'completed', 'cancelled'),
    createdAt: integer,
    expiresAt: integer,
    /** When the expiry was sent to the webhooks; null for a session that has not expired, or whose expiry was not sent yet. */
    expiryReportedAt: integer.orNull.named('expiry_told_at'),
    /** `same`: the result is given out only with the proof of the browser that captured. */
    binding: text.oneOf('same', 'any').with("DEFAULT 'any'"),
    /** SHA-256 of that proof; null before the session has ended with a result, and where it has none. */
    proof: bytes.orNull,
    /** When the person said that somebody else had begun; null where they did not. */
    disownedAt: integer.orNull,
  },
  key: ['id'],
  indexes: {
    capture_session_of_tenant: { postgres: '(tenant_id)' },
    capture_session_lookup: '(lookup)',
    capture_session_expires_at: '(expires_at)',
  },
  hasRowId: true,
  atErasure: 'deleted',
  atTenantEnd: 'deleted',
  expires: { at: 'expiresAt', keptMs: LATE_MS },
  isCopied: true,
  sealedUnder: 'own key',
})
export type CaptureSessionRecord = Row<typeof CAPTURE_SESSION>
/** Whether the browser that gets the result must be the one that captured. */
export type CaptureBinding = CaptureSessionRecord['binding']

/** The logo of a tenant on the hosted capture page. */
export const CAPTURE_LOGO = declareTable({
  name: 'capture_logo',
  columns: {
    tenantId: ofTenant,
    /** SHA-256 of `image`. */
    sha256: bytes,
    /** The picture as a PNG file. */
    image: bytes,
  },
  key: ['tenantId'],
  hasRowId: true,
  atErasure: 'kept',
  atTenantEnd: 'deleted',
  expires: null,
  isCopied: true,
  sealedUnder: 'nothing',
})
export type CaptureLogoRecord = Row<typeof CAPTURE_LOGO>

/** A text of a tenant or of the page that people have agreed to on the hosted capture page. It is kept as long as the audit log that names its hash. */
export const CONSENT_TEXT = declareTable({
  name: 'consent_text',
  columns: {
    tenantId: ofTenant,
    /** SHA-256 hash of the text. */
    sha256: bytes,
    version: text,
    /** Language of the page that showed the text first. */
    language: text,
    text: text,
    firstAgreedAt: integer,
  },
  key: ['tenantId', 'sha256', 'version'],
  indexes: {
    consent_text_of_tenant: '(tenant_id, first_agreed_at)',
  },
  hasRowId: true,
  atErasure: 'kept',
  atTenantEnd: 'kept',
  expires: null,
  isCopied: true,
  sealedUnder: 'nothing',
})
export type ConsentTextRecord = Row<typeof CONSENT_TEXT>

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
  hasRowId: true,
  atErasure: 'deleted by foreign key',
  atTenantEnd: 'kept',
  expires: null,
  isCopied: true,
  sealedUnder: 'data key',
})
export type OwnConsentTextRecord = Row<typeof OWN_CONSENT_TEXT>
