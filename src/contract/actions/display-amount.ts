/**
 * Writes numbers and amounts as the CLDR writes them in the languages of the hosted page. The few rules stand here instead of in a
 * call of `Intl`, so that each version of Node and of a browser gives the same text, and with it the same `display_hash`. A test
 * holds them against `Intl`.
 */
import type { DisplayLocale } from '../locales.js'
import { minorDigits } from './money.js'

interface NumberRules {
  decimal: string
  group: string
  /** Digits from which on there are groups. */
  minDigits: number
  /** Whether the currency stands before the number. */
  isCodeFirst: boolean
}

const NARROW_SPACE = '\u202f'
const NO_BREAK_SPACE = '\u00a0'
const RULES: Record<DisplayLocale, NumberRules> = {
  en: { decimal: '.', group: ',', minDigits: 4, isCodeFirst: true },
  de: { decimal: ',', group: '.', minDigits: 4, isCodeFirst: false },
  fr: { decimal: ',', group: NARROW_SPACE, minDigits: 4, isCodeFirst: false },
  es: { decimal: ',', group: '.', minDigits: 5, isCodeFirst: false },
  ja: { decimal: '.', group: ',', minDigits: 4, isCodeFirst: true },
}

/** @param digits a whole number as text */
export function displayNumber(digits: string, locale: DisplayLocale): string {
  const { group, minDigits } = RULES[locale]
  return digits.length < minDigits ? digits : digits.replace(/\B(?=(?:\d{3})+$)/g, group)
}

/**
 * @param amount decimal text, such as `1250.00`
 * @param currency ISO 4217 code
 * @returns the amount with all digits of the currency and its code, such as `1.250,00 EUR`
 */
export function displayAmount(amount: string, currency: string, locale: DisplayLocale): string {
  const { decimal, isCodeFirst } = RULES[locale]
  const [whole = '', fraction = ''] = amount.split('.')
  const digits = fraction.padEnd(minorDigits(currency) ?? 0, '0')
  const number = displayNumber(whole, locale) + (digits === '' ? '' : decimal + digits)
  return (isCodeFirst ? [currency, number] : [number, currency]).join(NO_BREAK_SPACE)
}
