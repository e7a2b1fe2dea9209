/** The component's texts in the languages it has. */
import type { CaptureMessages } from './capture-messages.js'
import { de } from './texts-de.js'
import { en } from './texts-en.js'
import { es } from './texts-es.js'
import { fr } from './texts-fr.js'
import { ja } from './texts-ja.js'

const LANGUAGES: Record<string, CaptureMessages> = { en, de, fr, es, ja }

/** @param language a BCP 47 tag; English where its language is none of ours */
export function messagesIn(language: string): CaptureMessages {
  return LANGUAGES[language.toLowerCase().split('-')[0]!] ?? en
}

/** Of the messages for this language: the tag of the language that they are in. */
export function languageOf(language: string): string {
  return messagesIn(language) === en ? 'en' : language
}
