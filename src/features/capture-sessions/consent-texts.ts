/** Finds the consent texts that the audit log names by their hash. */
import { CodedError } from '../../lib/errors.js'
import type { ReadConnection } from '../../storage/connection.js'
import type { OwnConsentTextRecord, SubjectRecord } from '../../storage/records.js'
import type { Store } from '../../storage/store.js'
import { joined } from '../../storage/table.js'
import { OWN_CONSENT_TEXT, SUBJECT } from '../../storage/tables/users.js'
import type { AgreedText, TemplateVault } from '../../users/template-vault.js'
import { capturePageReader } from './capture-tables.js'

export class ConsentTextError extends CodedError<'consent_text_not_found'> {}

const OWNED = joined<{ subject: SubjectRecord; text: OwnConsentTextRecord }>({
  subject: SUBJECT,
  text: OWN_CONSENT_TEXT,
})

export function ownTextReader(database: ReadConnection) {
  const first = database.prepare<[string, Buffer], Record<string, unknown>>(
    `SELECT ${OWNED.fields} FROM own_consent_text JOIN subject ON subject.id = own_consent_text.subject_id
     WHERE own_consent_text.tenant_id = ? AND own_consent_text.sha256 = ?
     ORDER BY own_consent_text.first_agreed_at LIMIT 1`,
  )
  return {
    /** The text with this hash that sessions brought as their own, as the user who was first to agree to it has it. */
    first: async (tenantId: string, sha256: Buffer) => {
      const row = await first.get(tenantId, sha256)
      if (!row) return undefined
      const { subject, text } = OWNED.split(row)
      return { subject: subject!, text: text! }
    },
  }
}

/**
 * The text with this hash, once for each version under which it was shown; a text that sessions brought as their own, once.
 * @throws ConsentTextError consent_text_not_found, also where the users who have agreed to a text of their own were erased
 */
export async function consentTextsOf(
  { store, vault }: { store: Pick<Store, 'read'>; vault: TemplateVault },
  tenantId: string,
  sha256: Buffer,
): Promise<AgreedText[]> {
  const texts = await store.read.statements(capturePageReader).textsWith(tenantId, sha256)
  if (texts.length > 0) return texts
  const own = await store.read.statements(ownTextReader).first(tenantId, sha256)
  if (own) return [vault.openOwnConsent({ dataKey: vault.dataKey(own.subject) }, own.text)]
  throw new ConsentTextError(
    'consent_text_not_found',
    'No text with this hash is kept. A text that a session brought as its own is kept only while its user is enrolled.',
  )
}
