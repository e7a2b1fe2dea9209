/** The languages of everything that people are shown. */

/** Languages in which Countersign shows an action: those of the hosted page. */
export const DISPLAY_LOCALES = ['en', 'de', 'fr', 'es', 'ja'] as const
/** A language in which Countersign shows an action. */
export type DisplayLocale = (typeof DISPLAY_LOCALES)[number]

/**
 * The first language that is written here.
 * @param names in the order of preference, as browsers send `Accept-Language` and relying parties `ui_locales`
 */
export function firstLocale(names: string): DisplayLocale | undefined {
  const asked = names.split(/[\s,]+/).map((name) => name.split(/[-_;]/)[0]!.toLowerCase())
  return asked.flatMap((one) => DISPLAY_LOCALES.filter((locale) => locale === one))[0]
}
