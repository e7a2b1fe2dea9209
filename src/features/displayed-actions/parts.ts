/** The parts of challenges, verifications and look-ups that are about typed actions. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import Type from 'typebox'
import type { LookupPart, Proof, VerifyPart } from '../../api/call-parts.js'
import { flag, nullable, SHA256_HEX, text, words } from '../../api/schemas.js'
import { displayAction } from '../../contract/actions/display-action.js'
import { typedActionType } from '../../contract/actions/typed-actions.js'
import { DISPLAY_LOCALES, type DisplayLocale } from '../../contract/locales.js'
import { invalidField } from '../../lib/domain-error.js'
import type { ChallengePart } from '../challenges/exports.js'
import {
  assertPayees,
  type DisplayNote,
  hashOfDisplay,
  payeesField,
  type ShownDisplay,
  typedActions,
} from './exports.js'

const languageOf = (description: string) => words(DISPLAY_LOCALES, description)

const display = Type.Object(
  {
    hash: text('The `display_hash` of the verdict.'),
    version: text('Version of the template.'),
    locale: languageOf('Language of the text.'),
    heading: text('Kind of action.'),
    lines: Type.Array(
      Type.Object(
        {
          label: text('Name of the fact.'),
          value: text('The fact.'),
          note: Type.Optional(text('Names letters that pass for others.')),
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

interface Asked {
  action?: unknown
  locale?: DisplayLocale
  payees?: string
}

/** The text that the answer with a challenge holds, for a page of the customer's own to show. */
export const challengePart: ChallengePart = {
  actions: typedActions,
  request: {
    locale: Type.Optional(
      languageOf(
        'Only for a typed action: the language in which your page shows it. The answer then has the text in `display`, and the verdict names it.',
      ),
    ),
    payees: Type.Optional(payeesField('Only with `locale`')),
  },
  response: { display: Type.Optional(display) },
  create: () => ({
    assertFits({ input }) {
      const { action, locale, payees }: Asked = input
      if (locale === undefined && payees !== undefined) throw invalidField('payees', 'needs `locale`')
      if (locale === undefined) return
      assertPayees(action, payees)
      if (typedActionType(action) === null) throw invalidField('locale', 'needs a typed action')
    },
    async prepare({ input }) {
      const { action, locale, payees }: Asked = input
      if (locale === undefined) return null
      // A long list takes milliseconds to check and as many to write: other calls come between.
      if (payees !== undefined) await nextTurn()
      const display = displayAction(action, locale, payees)!
      const { version } = display
      const shown: ShownDisplay = { hash: hashOfDisplay(display), locale, version, source: 'challenge' }
      return { note: { display: shown }, membersOf: () => ({ display: { hash: shown.hash, ...display } }) }
    },
  }),
}

interface Shown extends Proof {
  display: ShownDisplay
}

const displayed = Type.Object(
  {
    hash: text('SHA-256 of the text in RFC 8785 canonical form, in lower-case hex.'),
    locale: languageOf('Language of the text.'),
    version: text('Version of the template.'),
    source: nullable(
      Type.Literal('challenge', {
        description:
          'Your own page was given the text with the challenge. Null where the hosted page showed it.',
      }),
    ),
  },
  { title: 'DisplayedText', description: 'Identifies the text that a person was shown.' },
)

const STATED = ['jwt', 'audit', 'kept'] as const

/** The text that a person was shown, as the verdict names it. */
export const verifyPart: VerifyPart<Shown> = {
  actions: typedActions,
  fields: [
    {
      name: 'display',
      response: nullable(
        displayed,
        'The text that the hosted page showed the person for a typed action, or that your own page was given with the challenge. Null where there is none.',
      ),
      value: (_, shown) => shown && { ...shown.display, source: shown.display.source ?? null },
    },
    { name: 'display_hash', to: ['jwt', 'kept'], value: (_, shown) => shown?.display.hash },
    {
      name: 'display_hash',
      to: ['audit'],
      value: ({ digestOf }, shown) => (shown ? digestOf(shown.display.hash) : undefined),
    },
    { name: 'display_locale', to: STATED, value: (_, shown) => shown?.display.locale },
    { name: 'display_version', to: STATED, value: (_, shown) => shown?.display.version },
    { name: 'display_source', to: ['jwt'], value: (_, shown) => shown?.display.source },
  ],
  create: () => ({
    async open(call, _action, note) {
      const display = displayIn(call.note) ?? displayIn(note)
      return display && { once: null, prove: async () => ({ possession: null, display }) }
    },
  }),
}

function displayIn(note: DisplayNote | null | undefined): ShownDisplay | null {
  return note?.display ?? null
}

/** The same, in the look-up of a verification. */
export const lookupPart: LookupPart = {
  hashes: {
    display_hash: {
      schema: Type.String({ pattern: SHA256_HEX }),
      description:
        'SHA-256 of the text that a person was shown, in hex, as in the claim `display_hash`. `display_matches` then says whether the verdict has this text. It needs `user_id`, whose key is part of the stored hash.',
    },
  },
  response: {
    display_locale: nullable(
      text(
        'The `display_locale` of the JWT: language of the text that the person was shown for a typed action. Null where the JWT has none.',
      ),
    ),
    display_version: nullable(text('The `display_version` of the JWT. Null where the JWT has none.')),
    display_matches: nullable(
      flag(
        'Whether the JWT has this `display_hash`: whether the person was shown this text. Null where the query held none. The service keeps the hash only under the key of the user.',
      ),
    ),
  },
}
