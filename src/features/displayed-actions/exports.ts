/** Typed actions, as other features know them: they have a published schema, and the text of each can be shown to a person in the person's own language. */
import { createHash } from 'node:crypto'
import Type from 'typebox'
import type { ActionKinds } from '../../api/call-parts.js'
import { type ActionDisplay, canonicalDisplay } from '../../contract/actions/display-action.js'
import {
  payeesFaults,
  TYPED_ACTION_REMEDY,
  typedActionFaults,
} from '../../contract/actions/typed-action-check.js'
import { BATCH_PAYEES_SCHEMA, TYPED_ACTION_SCHEMAS } from '../../contract/actions/typed-action-schemas.js'
import { TYPED_ACTION_TYPES } from '../../contract/actions/typed-actions.js'
import type { DisplayLocale } from '../../contract/locales.js'
import { actionHash } from '../../crypto/verification-jwt.js'
import { DomainError } from '../../lib/domain-error.js'

export const typedActions: ActionKinds = {
  schemas: Object.values(TYPED_ACTION_SCHEMAS),
  about: `An object whose \`type\` is ${TYPED_ACTION_TYPES.map((type) => `\`${type}\``).join(', ')} is a typed action: it must fit the schema of that type.`,
  assertValid(action) {
    const details = typedActionFaults(action)
    if (details.length > 0) throw new DomainError('invalid_request', { details, remedy: TYPED_ACTION_REMEDY })
  },
}

/** @param when in which requests the field may be, as the begin of a sentence */
export const payeesField = (when: string) =>
  Type.String({
    contentMediaType: 'application/json',
    contentSchema: BATCH_PAYEES_SCHEMA,
    description: `${when}, for an action of type \`payment_batch\`, and required there: the list of payments as text, in RFC 8785 canonical form. The action holds the SHA-256 of this text, and number and sum of the payments.`,
  })

/**
 * Checks the list that travels next to a `payment_batch`: its length, its sum and its hash are those of the action.
 * @param payees RFC 8785 canonical form
 * @throws DomainError invalid_request
 */
export function assertPayees(action: unknown, payees: string | undefined): void {
  const details = payeesFaults(action, payees, actionHash)
  if (details.length > 0) throw new DomainError('invalid_request', { details })
}

/** The note with a challenge, or of the hosted page, about the text that a person was shown. */
export type DisplayNote = { display?: ShownDisplay | undefined }

/** Identifies the text that a person was shown for a typed action. */
export type ShownDisplay = {
  /** SHA-256 of the text, in lower-case hex: see `canonicalDisplay`. */
  hash: string
  locale: DisplayLocale
  /** Version of the template. */
  version: string
  /** `challenge`: the customer's own page was given the text with a challenge. Undefined where the hosted page showed it. */
  source?: 'challenge' | undefined
}

/** @returns SHA-256 of the text in RFC 8785 canonical form, in lower-case hex */
export function hashOfDisplay(display: ActionDisplay): string {
  return createHash('sha256').update(canonicalDisplay(display)).digest('hex')
}
