/** The texts of the component in all its languages. */
import { de } from './texts-de.js'
import { type CaptureMessages, en } from './texts-en.js'
import { es } from './texts-es.js'
import { fr } from './texts-fr.js'
import { ja } from './texts-ja.js'

const LANGUAGES: Record<string, CaptureMessages> = { en, de, fr, es, ja }

/** @param language a BCP 47 tag; English stands in for a language that the component does not have */
export function messagesIn(language: string): CaptureMessages {
  return LANGUAGES[language.toLowerCase().split('-')[0]!] ?? en
}

/** Returns the tag of the language in which `messagesIn` answers for this language. */
export function languageOf(language: string): string {
  return messagesIn(language) === en ? 'en' : language
}
