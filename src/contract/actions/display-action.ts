/**
 * Writes a typed action as the lines that a person reads. Hosted page, fake and the command `countersign display` write with this
 * module, which depends on nothing but its input: the same action gives the same lines, and so the same hash, years later.
 */

import type { DisplayLocale } from '../locales.js'
import { displayAmount, displayNumber } from './display-amount.js'
import { type DisplayText, displayTexts } from './display-texts.js'
import { lookalikes } from './lookalikes.js'
import { listIn } from './typed-action-check.js'
import { type TypedAction, typedActionType } from './typed-actions.js'

/** Version of the template. Any change of texts, order or form of the lines needs another. */
export const DISPLAY_VERSION = 'countersign-display-2'

/** Letters that a note names at most. */
const MAX_NOTED = 8

/** One line: the name of a fact, the fact, and a note where it holds letters that pass for others. */
export interface DisplayLine {
  /** Name of the fact. */
  label: string
  /** The fact, unchanged where it is a text of the action. */
  value: string
  /** Names letters that pass for others. */
  note?: string
}

/** The text that a person is shown for an action. */
export interface ActionDisplay {
  /** Version of the template. */
  version: string
  /** Language of the text. */
  locale: DisplayLocale
  /** Kind of action, in the language. */
  heading: string
  /** In the order in which they are shown. */
  lines: DisplayLine[]
}

/**
 * @param action a valid action
 * @param payees the list of a `payment_batch`, as text in RFC 8785 canonical form
 * @returns the text that the hosted page shows, or null for an action without a published type
 * @example
 * const { heading, lines } = displayAction(action, 'de')!
 */
export function displayAction(action: unknown, locale: DisplayLocale, payees?: string): ActionDisplay | null {
  const type = typedActionType(action)
  if (type === null) return null
  const lines = linesOf(action as TypedAction, locale, payees)
  return { version: DISPLAY_VERSION, locale, heading: displayTexts(locale)[type], lines }
}

/** @returns the text whose SHA-256 is the `display_hash` of a verdict */
export function canonicalDisplay({ version, locale, heading, lines }: ActionDisplay): string {
  // The members in their sorted order, and all of them text that was checked: this is RFC 8785's form, in a tenth of its time for a long list.
  const sorted = lines.map(({ label, note, value }) => ({ label, note, value }))
  return JSON.stringify({ heading, lines: sorted, locale, version })
}

function linesOf(action: TypedAction, locale: DisplayLocale, payees: string | undefined): DisplayLine[] {
  const texts = displayTexts(locale)
  const given = (label: DisplayText, value: string | undefined) =>
    value === undefined ? [] : [line(texts[label], value, locale)]
  switch (action.type) {
    case 'payment': {
      const { amount, currency, payee, reference } = action
      return [
        ...given('amount', displayAmount(amount, currency, locale)),
        ...given('payee', payee.name),
        ...given('account', payee.account),
        ...given('reference', reference),
      ]
    }
    case 'payment_batch': {
      const { total, currency, payees_count: count, reference } = action
      return [
        ...given('total', displayAmount(total, currency, locale)),
        ...given('count', displayNumber(String(count), locale)),
        ...given('reference', reference),
        ...(listIn(payees) ?? []).flatMap((payee, index) => [
          line(
            texts.payee_number.replace('{n}', displayNumber(String(index + 1), locale)),
            payee.name,
            locale,
          ),
          ...given('account', payee.account),
          ...given('amount', displayAmount(payee.amount, currency, locale)),
          ...given('reference', payee.reference),
        ]),
      ]
    }
    case 'account_change':
      return [
        ...given('change', texts[action.change]),
        ...given('from', action.from),
        ...given('to', action.to),
      ]
    case 'login':
      return [
        ...given('application', action.application),
        ...given('ip', action.ip),
        ...given('location', action.location),
      ]
    case 'consent':
      return [
        ...given('title', action.title),
        ...given('version', action.version),
        ...given('text', action.text),
      ]
    case 'generic':
      return [
        ...given('action', action.title),
        ...action.fields.map(({ label, value }) => line(label, value, locale)),
      ]
  }
}

function line(label: string, value: string, locale: DisplayLocale): DisplayLine {
  const letters = lookalikes(`${label}\n${value}`)
  if (letters.length === 0) return { label, value }
  const named = letters.slice(0, MAX_NOTED).map((letter) => `${letter} (${codePointOf(letter)})`)
  const list = [...named, ...(letters.length > MAX_NOTED ? ['…'] : [])].join(', ')
  return { label, value, note: displayTexts(locale).unusual.replace('{letters}', () => list) }
}

function codePointOf(letter: string): string {
  return `U+${letter.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
}
