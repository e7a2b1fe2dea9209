/** The consent text that a person agrees to on the hosted page, with its version and hash. */
import { createHash } from 'node:crypto'
import type { DisplayLocale } from '../../../contract/locales.js'
import type { TenantRecord } from '../../../storage/records.js'
import { companyOf } from '../../../tenants/company.js'
import type { AgreedText } from '../../../users/template-vault.js'
import { type ConsentText, capturePageSettings } from '../capture-page-settings.js'
import type { CaptureSession } from '../capture-session-book.js'
import { PAGE_TEXTS } from './texts/page-languages.js'

const OWN_VERSION = 'countersign-2'

interface ShownConsent extends ConsentText {
  /** SHA-256 of the text, in hex. */
  sha256: string
  /** Language of the page around the text; a text of the tenant's own may be in another one. */
  language: DisplayLocale
}

/** The text for this session as of now: the session's own, else the tenant's, else the page's. */
export function consentOf(
  { record, content }: CaptureSession,
  tenant: TenantRecord,
  language: DisplayLocale,
): ShownConsent {
  const given = content.captureRequest.consent ?? capturePageSettings(tenant).consent
  const { version, text } = given ?? {
    version: `${OWN_VERSION}.${record.purpose}.${language}`,
    text: PAGE_TEXTS[language][`consent_${record.purpose}`].replaceAll('{company}', () => companyOf(tenant)),
  }
  return { version, text, language, sha256: sha256Of(text).toString('hex') }
}

/** The session's own text, which may name the user, once the person has agreed to it in production; undefined for any other text. */
export function ownAgreedText(
  { record, content }: CaptureSession,
  language: DisplayLocale,
): AgreedText | undefined {
  const { consent } = content.captureRequest
  if (!consent || record.consentedAt === null || record.environment !== 'production') return undefined
  return { ...consent, language, sha256: sha256Of(consent.text), firstAgreedAt: record.consentedAt }
}

function sha256Of(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
