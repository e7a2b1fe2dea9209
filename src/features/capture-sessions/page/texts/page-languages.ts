/** The texts of the hosted page in the languages of the capture component. */
import { DISPLAY_LOCALES, type DisplayLocale, firstLocale } from '../../../../contract/locales.js'
import { de } from './texts-de.js'
import { en, type PageTexts } from './texts-en.js'
import { es } from './texts-es.js'
import { fr } from './texts-fr.js'
import { ja } from './texts-ja.js'

export const PAGE_TEXTS: Record<DisplayLocale, PageTexts> = { en, de, fr, es, ja }

/** Returns the first language of the header that the page has. */
export function languageOf(acceptLanguage = ''): DisplayLocale {
  return firstLocale(acceptLanguage) ?? DISPLAY_LOCALES[0]
}
