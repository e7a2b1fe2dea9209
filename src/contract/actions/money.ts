/** Amounts of money as decimal text, which is never read as a floating-point number. */

/** The active currencies of ISO 4217 with two minor digits, and after them those with another number of digits. */
const TWO_DIGITS =
  'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VES WST XCD XCG YER ZAR ZMW ZWG'
const OTHER_DIGITS: ReadonlyArray<readonly [digits: number, codes: string]> = [
  [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'],
  [3, 'BHD IQD JOD KWD LYD OMR TND'],
]

const MINOR_DIGITS: ReadonlyMap<string, number> = new Map(
  [[2, TWO_DIGITS] as const, ...OTHER_DIGITS].flatMap(([digits, codes]) =>
    codes.split(' ').map((code) => [code, digits] as const),
  ),
)

/** ISO 4217 codes of the currencies in which people pay. */
export const CURRENCIES: readonly string[] = [...MINOR_DIGITS.keys()].sort()

/** Digits after the decimal point in ISO 4217: 2 for EUR, 0 for JPY. @returns undefined for a code that is no currency */
export function minorDigits(currency: string): number | undefined {
  return MINOR_DIGITS.get(currency)
}

/** At most 15 digits before the point and 4 after it, with no sign, no leading zero and no exponent. */
export const AMOUNT_PATTERN = '^(0|[1-9][0-9]{0,14})(\\.[0-9]{1,4})?$'
const AMOUNT = new RegExp(AMOUNT_PATTERN)

/**
 * @param amount decimal text, such as `12.50`
 * @param currency ISO 4217 code
 * @returns the amount in minor units, such as 1250n; null where the text is no amount of this currency
 * @example
 * const isSmall = minorUnits(action.amount, 'EUR')! <= 3000n
 */
export function minorUnits(amount: string, currency: string): bigint | null {
  const digits = minorDigits(currency)
  if (digits === undefined || !AMOUNT.test(amount)) return null
  const [whole = '', fraction = ''] = amount.split('.')
  return fraction.length > digits ? null : BigInt(whole + fraction.padEnd(digits, '0'))
}

/** @returns an amount in minor units as decimal text, such as `12.50` for 1250n EUR */
export function decimalText(units: bigint, currency: string): string {
  const digits = minorDigits(currency) ?? 0
  const text = String(units).padStart(digits + 1, '0')
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`
}
