/** Finds the consent texts that the audit log names by their hash. */
import { CodedError } from '../../lib/errors.js'
import type { Store } from '../../storage/store.js'
import type { AgreedText, TemplateVault } from '../../users/template-vault.js'

export class ConsentTextError extends CodedError<'consent_text_not_found'> {
  override readonly name = 'ConsentTextError'
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
  const texts = await store.read.consentText(tenantId, sha256)
  if (texts.length > 0) return texts
  const own = await store.read.ownConsentText(tenantId, sha256)
  if (own) return [vault.openOwnConsent({ dataKey: vault.dataKey(own.subject) }, own.text)]
  throw new ConsentTextError(
    'consent_text_not_found',
    'No text with this hash is kept. A text that a session brought as its own is kept only while its user is enrolled.',
  )
}
