/** The SQL of the texts that people have agreed to on the hosted capture page. */
import type { Connection } from './connection.js'
import type { ConsentTextRecord } from './records.js'
import type { StoreReader, StoreTransaction } from './store.js'
import { CONSENT_TEXT } from './tables.js'

export function consentReader(database: Connection): Pick<StoreReader, 'consentTexts' | 'consentText'> {
  const sql = {
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
  }
}

export function consentWriter(database: Connection): Pick<StoreTransaction, 'keepConsentText'> {
  const keep = database.prepare(`${CONSENT_TEXT.insert} ON CONFLICT (tenant_id, sha256, version) DO NOTHING`)
  return { keepConsentText: async (text) => void keep.run(text) }
}
