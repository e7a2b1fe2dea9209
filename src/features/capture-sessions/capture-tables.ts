/** The tables of the hosted capture page, with their statements: its sessions, the logo of a tenant, and the texts that people have agreed to. */
import { type Connection, type ReadConnection, reading, writing } from '../../storage/connection.js'
import {
  blindIndex,
  bytes,
  declareTable,
  environment,
  integer,
  LASTING,
  LATE_MS,
  ofTenant,
  type Row,
  text,
} from '../../storage/table.js'

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
    capture_session_of_tenant: '(tenant_id)',
    capture_session_lookup: '(lookup)',
    capture_session_expires_at: '(expires_at)',
  },
  atErasure: 'deleted',
  atTenantEnd: 'deleted',
  expires: { at: 'expiresAt', keptMs: LATE_MS },
  sealedUnder: 'own key',
})
export type CaptureSessionRecord = Row<typeof CAPTURE_SESSION>

export function captureSessionReader(database: ReadConnection) {
  const { row, rows } = reading(database).from(CAPTURE_SESSION)
  return {
    one: row<[id: string]>('WHERE id = ?', 'brief'),
    /** Open sessions that expired at `until` or before and whose expiry was not sent to webhooks yet, the longest expired first. */
    unreportedExpired: rows<[until: number, limit: number]>(
      "WHERE expires_at <= ? AND status = 'open' AND expiry_told_at IS NULL ORDER BY expires_at LIMIT ?",
    ),
  }
}

export function captureSessionWriter(database: Connection) {
  return { ...captureSessionReader(database), put: writing(database).put(CAPTURE_SESSION) }
}

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
  atErasure: 'kept',
  atTenantEnd: 'deleted',
  expires: null,
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
  ...LASTING,
  sealedUnder: 'nothing',
})
export type ConsentTextRecord = Row<typeof CONSENT_TEXT>

export function capturePageReader(database: ReadConnection) {
  const { from } = reading(database)
  const texts = from(CONSENT_TEXT)
  return {
    logo: from(CAPTURE_LOGO).row<[tenantId: string]>('WHERE tenant_id = ?'),
    /** Texts of the tenant and of the page that people have agreed to, the latest first. */
    texts: texts.rows<[tenantId: string, limit: number]>(
      'WHERE tenant_id = ? ORDER BY first_agreed_at DESC, sha256, version LIMIT ?',
    ),
    /** The text with this hash, once for each version under which it was shown. */
    textsWith: texts.rows<[tenantId: string, sha256: Buffer]>(
      'WHERE tenant_id = ? AND sha256 = ? ORDER BY version',
    ),
  }
}

export function capturePageWriter(database: Connection) {
  const { put, run } = writing(database)
  const setSettings = run<[json: string, tenantId: string]>('UPDATE tenant SET capture_page = ? WHERE id = ?')
  return {
    /** @param settings their JSON */
    setSettings: (tenantId: string, settings: string) => setSettings(settings, tenantId),
    putLogo: put(CAPTURE_LOGO),
    deleteLogo: run<[tenantId: string]>('DELETE FROM capture_logo WHERE tenant_id = ?'),
    /** Inserts the text unless it exists. */
    keepText: run<[text: ConsentTextRecord]>(
      `${CONSENT_TEXT.insert} ON CONFLICT (tenant_id, sha256, version) DO NOTHING`,
    ),
  }
}
