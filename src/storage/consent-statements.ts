/** The SQL of what the hosted capture page shows for a tenant: the texts that people have agreed to, and the logo. */
import type { Connection } from './connection.js'
import type { CaptureLogoRecord, ConsentTextRecord } from './records.js'
import type { StoreReader, StoreTransaction } from './store.js'
import { CAPTURE_LOGO, CONSENT_TEXT } from './tables.js'

export function consentReader(
  database: Connection,
): Pick<StoreReader, 'consentTexts' | 'consentText' | 'captureLogo'> {
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
  }
  return {
    consentTexts: async (tenantId, limit) => sql.consentTexts.all(tenantId, limit),
    consentText: async (tenantId, sha256) => sql.consentText.all(tenantId, sha256),
    captureLogo: async (tenantId) => sql.captureLogo.get(tenantId),
  }
}

export function consentWriter(
  database: Connection,
): Pick<StoreTransaction, 'keepConsentText' | 'putCaptureLogo' | 'deleteCaptureLogo'> {
  const keep = database.prepare(`${CONSENT_TEXT.insert} ON CONFLICT (tenant_id, sha256, version) DO NOTHING`)
  const putLogo = database.prepare(CAPTURE_LOGO.replace)
  const deleteLogo = database.prepare('DELETE FROM capture_logo WHERE tenant_id = ?')
  return {
    keepConsentText: async (text) => void keep.run(text),
    putCaptureLogo: async (logo) => void putLogo.run(logo),
    deleteCaptureLogo: async (tenantId) => void deleteLogo.run(tenantId),
  }
}
