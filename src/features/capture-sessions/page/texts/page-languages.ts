/** The texts of the hosted page in the languages of the capture component. */
import { DISPLAY_LOCALES, type DisplayLocale } from '../../../../contract/locales.js'
import { de } from './texts-de.js'
import { en, type PageTexts } from './texts-en.js'
import { es } from './texts-es.js'
import { fr } from './texts-fr.js'
import { ja } from './texts-ja.js'

export const PAGE_TEXTS: Record<DisplayLocale, PageTexts> = { en, de, fr, es, ja }

/** Returns the first language of the header that the page has (RFC 9110, section 12.5.4; browsers send them in order of preference). */
export function languageOf(acceptLanguage = ''): DisplayLocale {
  const asked = acceptLanguage.split(',').map((range) => range.trim().slice(0, 2).toLowerCase())
  const known = asked.flatMap((name) => DISPLAY_LOCALES.filter((language) => language === name))
  return known[0] ?? DISPLAY_LOCALES[0]
}
