/** Checks typed actions: their schema, and the rules that a schema cannot state. Service, SDK and fake check with this module. */
import { canonicalJson } from '../canonical-json.js'
import type { BatchPayee } from '../wire-types.js'
import { decimalText, minorDigits, minorUnits } from './money.js'
import { isReadableLine, isReadableText, READABLE } from './readable-text.js'
import { type SchemaFault, schemaFaults } from './schema-check.js'
import { BATCH_PAYEES_SCHEMA, TYPED_ACTION_SCHEMAS } from './typed-action-schemas.js'
import { type PaymentBatchAction, type TypedAction, typedActionType } from './typed-actions.js'

/** White space that would push text out of sight or hide where it ends; a text of several lines may have empty ones. */
const UNTIDY_LINE = /^\s|\s$|\s\s/
const UNTIDY_TEXT = /^\s|\s$|[^\S\n]{2}|\n\s*\n\s*\n/
/** ASCII words with one space between them: nearly all texts, of which nothing else needs to be asked. */
const TIDY_ASCII = /^[!-~]+(?: [!-~]+)*$/
const TIDY = 'must not begin or end with white space, or have several white spaces in a row'
/** The blank pattern of Braille has a shape of its own, without a dot. */
const BLANK = /\u2800/
/** Marks of one character that reach over the lines above and below it. No language needs five. */
const STACKED_MARKS = /\p{M}{5}/u

/** Most faults of a list that an error names. */
const MAX_FAULTS = 20

/** The next step after a refusal of a typed action. */
export const TYPED_ACTION_REMEDY =
  'Send the fields that the schema of this type names, all as text; or give an action of your own another `type`.'

/**
 * @param action any action; one without a published type has no faults here
 * @returns the faults of a typed action, none where it is valid
 * @example
 * const [fault] = typedActionFaults({ type: 'payment', amount: 12 })
 */
export function typedActionFaults(action: unknown): SchemaFault[] {
  const type = typedActionType(action)
  if (type === null) return []
  const faults = schemaFaults(action, TYPED_ACTION_SCHEMAS[type], 'action')
  if (faults.length > 0) return faults
  const typed = action as TypedAction
  return [...readingFaults(typed, 'action'), ...amountFaults(typed)]
}

/**
 * @param action a valid action
 * @param payees the list that travels next to a `payment_batch`, as text in RFC 8785 canonical form
 * @param sha256 SHA-256 of a text, in lower-case hex
 * @returns the faults of the list, none where it is the list that the action binds
 */
export function payeesFaults(
  action: unknown,
  payees: unknown,
  sha256: (text: string) => string,
): SchemaFault[] {
  const fault = (issue: string, path = 'payees') => [{ path, issue }]
  if (typedActionType(action) !== 'payment_batch')
    return payees === undefined ? [] : fault('is only for an action of type payment_batch')
  if (payees === undefined) return fault('is required for an action of type payment_batch')
  const list = listIn(payees)
  if (list === null) return fault('must be a list in RFC 8785 canonical form, as text')
  const batch = action as PaymentBatchAction
  const faults = listFaults(batch, list)
  if (faults.length > 0) return faults
  return sha256(payees as string) === batch.payees_hash
    ? []
    : fault('is not the SHA-256 of `payees`', 'action.payees_hash')
}

/** The list that was read last: the check of a batch and the text for the person read the same one, and it may be long. */
let lastRead: { text: string; list: BatchPayee[] } | null = null

/** @returns the list that a text has in canonical form, or null. A text that names a member twice is not in that form. */
export function listIn(text: unknown): readonly BatchPayee[] | null {
  if (lastRead !== null && lastRead.text === text) return lastRead.list
  try {
    const list = JSON.parse(text as string)
    if (!Array.isArray(list) || canonicalJson(list) !== text) return null
    lastRead = { text: text as string, list }
    return list
  } catch {
    return null
  }
}

function listFaults(
  { currency, payees_count: count, total }: PaymentBatchAction,
  list: readonly BatchPayee[],
) {
  const faults = schemaFaults(list, BATCH_PAYEES_SCHEMA, 'payees')
  if (faults.length > 0) return faults.slice(0, MAX_FAULTS)
  const amounts = list.map(({ amount }) => minorUnits(amount, currency))
  const wrong = amounts.flatMap((units, index) =>
    units === null ? [amountFault(`payees.${index}.amount`, currency)] : [],
  )
  const misread = [...firstReadingFaults(list), ...wrong]
  if (misread.length > 0) return misread.slice(0, MAX_FAULTS)
  const sum = (amounts as bigint[]).reduce((sum, units) => sum + units, 0n)
  const mismatches: SchemaFault[] = []
  if (list.length !== count)
    mismatches.push({
      path: 'action.payees_count',
      issue: `is ${count}, and the list has ${list.length} payees`,
    })
  if (sum !== minorUnits(total, currency))
    mismatches.push({
      path: 'action.total',
      issue: `is ${total}, and the amounts of the list add up to ${decimalText(sum, currency)}`,
    })
  return mismatches
}

/** The faults of a list's texts, until an error has as many as it names: a text with a fault takes longer to read than one without. */
function firstReadingFaults(list: readonly BatchPayee[]): SchemaFault[] {
  const faults: SchemaFault[] = []
  for (let index = 0; index < list.length && faults.length < MAX_FAULTS; index++)
    faults.push(...readingFaults(list[index], `payees.${index}`))
  return faults
}

/** Faults of texts that would look like something else. */
function readingFaults(value: unknown, path: string): SchemaFault[] {
  if (typeof value === 'string') {
    if (TIDY_ASCII.test(value)) return []
    const isText = path === 'action.text'
    const isReadable = isText ? isReadableText(value) && !/[\t\r]/.test(value) : isReadableLine(value)
    if (!isReadable || BLANK.test(value) || STACKED_MARKS.test(value)) return [{ path, issue: READABLE }]
    return (isText ? UNTIDY_TEXT : UNTIDY_LINE).test(value) ? [{ path, issue: TIDY }] : []
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => readingFaults(member, `${path}.${name}`))
}

function amountFaults(action: TypedAction): SchemaFault[] {
  if (action.type !== 'payment' && action.type !== 'payment_batch') return []
  const [name, amount] =
    action.type === 'payment' ? (['amount', action.amount] as const) : (['total', action.total] as const)
  return minorUnits(amount, action.currency) === null ? [amountFault(`action.${name}`, action.currency)] : []
}

function amountFault(path: string, currency: string): SchemaFault {
  return {
    path,
    issue: `must have at most ${minorDigits(currency)} digits after the point, as ${currency} has`,
  }
}
