/** The SQL of what the hosted capture page shows for a tenant: the texts that people have agreed to, and the logo. */
import type { Connection } from '../connection.js'
import type { CaptureLogoRecord, ConsentTextRecord, OwnConsentTextRecord, SubjectRecord } from '../records.js'
import type { StoreReader, StoreTransaction } from '../store.js'
import { joined } from '../table.js'
import { CAPTURE_LOGO, CONSENT_TEXT, OWN_CONSENT_TEXT, SUBJECT } from '../tables/index.js'

const OWNED = joined<{ subject: SubjectRecord; text: OwnConsentTextRecord }>({
  subject: SUBJECT,
  text: OWN_CONSENT_TEXT,
})

export function consentReader(
  database: Connection,
): Pick<
  StoreReader,
  'consentTexts' | 'consentText' | 'ownConsentText' | 'ownConsentTextsOf' | 'captureLogo'
> {
  const sql = {
    captureLogo: database.prepare<[string], CaptureLogoRecord>(
      `SELECT ${CAPTURE_LOGO.fields} FROM capture_logo WHERE tenant_id = ?`,
    ),
    consentTexts: database.prepare<[string, number], ConsentTextRecord>(
      `SELECT ${CONSENT_TEXT.fields} FROM consent_text WHERE tenant_id = ?
       ORDER BY first_agreed_at DESC, sha256, version LIMIT ?`,
    ),
    consentText: database.prepare<[string, Buffer], ConsentTextRecord>(
      `SELECT ${CONSENT_TEXT.fields} FROM consent_text WHERE tenant_id = ? AND sha256 = ? ORDER BY version`,
    ),
    own: database.prepare<[string, Buffer], Record<string, unknown>>(
      `SELECT ${OWNED.fields} FROM own_consent_text JOIN subject ON subject.id = own_consent_text.subject_id
       WHERE own_consent_text.tenant_id = ? AND own_consent_text.sha256 = ?
       ORDER BY own_consent_text.first_agreed_at LIMIT 1`,
    ),
    ownOfSubject: database.prepare<[string], OwnConsentTextRecord>(
      `SELECT ${OWN_CONSENT_TEXT.fields} FROM own_consent_text WHERE subject_id = ?
       ORDER BY first_agreed_at, sha256, version`,
    ),
  }
  return {
    consentTexts: async (tenantId, limit) => sql.consentTexts.all(tenantId, limit),
    consentText: async (tenantId, sha256) => sql.consentText.all(tenantId, sha256),
    ownConsentText: async (tenantId, sha256) => {
      const row = await sql.own.get(tenantId, sha256)
      if (!row) return undefined
      const { subject, text } = OWNED.split(row)
      return { subject: subject!, text: text! }
    },
    ownConsentTextsOf: async (subjectId) => sql.ownOfSubject.all(subjectId),
    captureLogo: async (tenantId) => sql.captureLogo.get(tenantId),
  }
}

export function consentWriter(
  database: Connection,
): Pick<StoreTransaction, 'keepConsentText' | 'keepOwnConsentText' | 'putCaptureLogo' | 'deleteCaptureLogo'> {
  const keep = database.prepare(`${CONSENT_TEXT.insert} ON CONFLICT (tenant_id, sha256, version) DO NOTHING`)
  const keepOwn = database.prepare(
    `${OWN_CONSENT_TEXT.insert} ON CONFLICT (subject_id, sha256, version) DO NOTHING`,
  )
  const putLogo = database.prepare(CAPTURE_LOGO.replace)
  const deleteLogo = database.prepare('DELETE FROM capture_logo WHERE tenant_id = ?')
  return {
    keepConsentText: async (text) => void keep.run(text),
    keepOwnConsentText: async (text) => void keepOwn.run(text),
    putCaptureLogo: async (logo) => void putLogo.run(logo),
    deleteCaptureLogo: async (tenantId) => void deleteLogo.run(tenantId),
  }
}
