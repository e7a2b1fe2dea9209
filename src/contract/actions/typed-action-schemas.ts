/**
 * The published schemas of typed actions (JSON Schema 2020-12). They allow no further fields: what a person cannot see must not be
 * countersigned with what they see.
 */
import { AMOUNT_PATTERN, CURRENCIES } from './money.js'
import type { TypedActionType } from './typed-actions.js'

/** The words of JSON Schema that the schemas of typed actions are written in. */
export interface ActionSchema {
  title?: string
  description?: string
  type: 'object' | 'array' | 'string' | 'integer'
  properties?: Record<string, ActionSchema>
  required?: readonly string[]
  additionalProperties?: false
  items?: ActionSchema
  minItems?: number
  maxItems?: number
  const?: string
  enum?: readonly string[]
  minLength?: number
  maxLength?: number
  pattern?: string
  minimum?: number
  maximum?: number
}

const MAX_PAYEES = 1000
const ASCII_PATTERN = '^[!-~]([ -~]*[!-~])?$'
const HASH_PATTERN = '^[0-9a-f]{64}$'

/** Says of a text that does not match a pattern how it must be. */
export const PATTERN_ISSUES: Readonly<Record<string, string>> = {
  [AMOUNT_PATTERN]:
    'must be a decimal number as text, such as 1250.00, with at most 15 digits before the point',
  [ASCII_PATTERN]: 'must be printable ASCII, without a space at its beginning or end',
  [HASH_PATTERN]: 'must be 64 digits of lower-case hex',
}

const text = (maxLength: number, description: string): ActionSchema => ({
  type: 'string',
  minLength: 1,
  maxLength,
  description,
})
/** Text of printable ASCII, in which no character passes for another script's. */
const ascii = (maxLength: number, description: string): ActionSchema => ({
  ...text(maxLength, description),
  pattern: ASCII_PATTERN,
})
const object = (
  title: string,
  description: string,
  properties: Record<string, ActionSchema>,
  optional: readonly string[] = [],
): ActionSchema => ({
  title,
  description,
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
})
const type = (name: TypedActionType): ActionSchema => ({ type: 'string', const: name })

const amount: ActionSchema = {
  type: 'string',
  pattern: AMOUNT_PATTERN,
  maxLength: 20,
  description:
    'Decimal number as text, with at most as many digits after the point as the currency has: `1250.00`.',
}
const currency: ActionSchema = { type: 'string', enum: CURRENCIES, description: 'ISO 4217 code.' }
const reference = text(140, 'Reference of the payment, shown to the person.')
const payee = {
  name: text(140, 'Name of the payee.'),
  account: ascii(64, 'IBAN or other account number, in printable ASCII.'),
}

export const TYPED_ACTION_SCHEMAS: Readonly<Record<TypedActionType, ActionSchema>> = {
  payment: object(
    'PaymentAction',
    'One payment to one payee.',
    {
      type: type('payment'),
      amount,
      currency,
      payee: object('Payee', 'The person or company that is paid.', payee),
      reference,
    },
    ['reference'],
  ),
  payment_batch: object(
    'PaymentBatchAction',
    'Payments that are confirmed together. The list travels next to the action.',
    {
      type: type('payment_batch'),
      total: { ...amount, description: 'Exact sum of the amounts of the list, as text.' },
      currency,
      payees_count: {
        type: 'integer',
        minimum: 1,
        maximum: MAX_PAYEES,
        description: 'Number of payments in the list.',
      },
      payees_hash: {
        type: 'string',
        pattern: HASH_PATTERN,
        description: 'SHA-256 of the list in RFC 8785 canonical form, in lower-case hex.',
      },
      reference,
    },
    ['reference'],
  ),
  account_change: object(
    'AccountChangeAction',
    "A change of the account's data or protection.",
    {
      type: type('account_change'),
      change: {
        type: 'string',
        enum: ['email', 'phone', 'password', 'address', 'device', 'limit', 'other'],
        description: 'What is changed.',
      },
      from: text(200, 'The old value, as the person knows it.'),
      to: text(200, 'The new value.'),
    },
    ['from', 'to'],
  ),
  login: object(
    'LoginAction',
    'A sign-in.',
    {
      type: type('login'),
      application: text(140, 'The application that the person signs in to.'),
      ip: ascii(64, 'Address from which the sign-in comes.'),
      location: text(140, 'Place from which the sign-in comes.'),
    },
    ['application', 'ip', 'location'],
  ),
  consent: object('ConsentAction', 'An agreement to a text.', {
    type: type('consent'),
    title: text(140, 'Title of the text.'),
    text: text(3000, 'The text that the person agrees to. It may have several lines.'),
    version: text(64, 'Version of the text.'),
  }),
  generic: object('GenericAction', 'Any other action, as a title and fields.', {
    type: type('generic'),
    title: text(140, 'The action in a few words.'),
    fields: {
      type: 'array',
      minItems: 1,
      maxItems: 20,
      description: 'The fields, in the order in which they are shown.',
      items: object('GenericField', 'A field of a generic action.', {
        label: text(60, 'Name of the field.'),
        value: text(400, 'Value of the field.'),
      }),
    },
  }),
}

/** The list of a batch, which travels next to its action. */
export const BATCH_PAYEES_SCHEMA: ActionSchema = {
  type: 'array',
  minItems: 1,
  maxItems: MAX_PAYEES,
  description:
    'The payments of a `payment_batch`, in order. The action holds their number, their sum and the SHA-256 of this list in RFC 8785 canonical form.',
  items: object('BatchPayee', 'One payment of a batch.', { ...payee, amount, reference }, ['reference']),
}
