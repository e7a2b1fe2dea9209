/** The languages of everything that people are shown. */

/** Languages in which Countersign shows an action: those of the hosted page. */
export const DISPLAY_LOCALES = ['en', 'de', 'fr', 'es', 'ja'] as const
/** A language in which Countersign shows an action. */
export type DisplayLocale = (typeof DISPLAY_LOCALES)[number]
