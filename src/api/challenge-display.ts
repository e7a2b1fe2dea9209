/** The text of a typed action that the answer with a challenge holds, for a page of the customer's own to show. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import Type from 'typebox'
import { displayAction } from '../contract/actions/display-action.js'
import { BATCH_PAYEES_SCHEMA } from '../contract/actions/typed-action-schemas.js'
import { DISPLAY_LOCALES, type DisplayLocale } from '../contract/locales.js'
import { DomainError } from '../lib/domain-error.js'
import type { ShownDisplay } from '../verification/call.js'
import { hashOfDisplay } from '../verification/challenge/display-hash.js'
import { assertPayees } from './action.js'

/** @param when in which requests the field may be, as the begin of a sentence */
export const payeesField = (when: string) =>
  Type.String({
    contentMediaType: 'application/json',
    contentSchema: BATCH_PAYEES_SCHEMA,
    description: `${when}, for an action of type \`payment_batch\`, and required there: the list of payments as text, in RFC 8785 canonical form. The action holds the SHA-256 of this text, and number and sum of the payments.`,
  })

export const challengeDisplay = Type.Object(
  {
    hash: Type.String({ description: 'The `display_hash` of the verdict.' }),
    version: Type.String({ description: 'Version of the template.' }),
    locale: Type.Union(
      DISPLAY_LOCALES.map((language) => Type.Literal(language)),
      { description: 'Language of the text.' },
    ),
    heading: Type.String({ description: 'Kind of action.' }),
    lines: Type.Array(
      Type.Object(
        {
          label: Type.String({ description: 'Name of the fact.' }),
          value: Type.String({ description: 'The fact.' }),
          note: Type.Optional(Type.String({ description: 'Names letters that pass for others.' })),
        },
        { title: 'ChallengeDisplayLine', description: 'One line of the text.' },
      ),
      { description: 'The lines, in the order in which to show them.' },
    ),
  },
  {
    title: 'ChallengeDisplay',
    description:
      'The text of the action. Show all of it, and nothing else in its place. Only where `locale` was sent.',
  },
)

interface Input {
  action?: unknown
  locale?: DisplayLocale
  payees?: string
}

/**
 * Writes the text of the action in the language that the request names.
 * @returns null for a request that names no language
 * @throws DomainError invalid_request for an action without a published type, and for payees that are not those of the action
 */
export async function displayFor({ action, locale, payees }: Input) {
  const refuse = (path: string, issue: string) =>
    new DomainError('invalid_request', { details: [{ path, issue }] })
  if (locale === undefined) {
    if (payees !== undefined) throw refuse('payees', 'needs `locale`')
    return null
  }
  assertPayees(action, payees)
  // A long list takes milliseconds to check and as many to write: other calls come between.
  if (payees !== undefined) await nextTurn()
  const display = displayAction(action, locale, payees)
  if (!display) throw refuse('locale', 'needs a typed action')
  const hash = hashOfDisplay(display)
  const { version } = display
  const shown: ShownDisplay = { hash, locale, version, source: 'challenge' }
  return { shown, view: { hash, ...display } }
}
