/** The action to be countersigned, in the canonical form in which two sides can compare it (RFC 8785). */
import Type from 'typebox'
import {
  payeesFaults,
  TYPED_ACTION_REMEDY,
  typedActionFaults,
} from '../contract/actions/typed-action-check.js'
import { TYPED_ACTION_SCHEMAS } from '../contract/actions/typed-action-schemas.js'
import { TYPED_ACTION_TYPES } from '../contract/actions/typed-actions.js'
import { canonicalJson } from '../contract/canonical-json.js'
import { actionHash } from '../crypto/verification-jwt.js'
import { DomainError } from '../lib/domain-error.js'

const MAX_ACTION_BYTES = 4096

export const actionSchema = Type.Union([Type.String(), Type.Record(Type.String(), Type.Unknown())], {
  // Readers of the document see these; `canonicalAction` checks typed actions, with a sentence for each field.
  documentedBranches: Object.values(TYPED_ACTION_SCHEMAS),
  description: `The action to be countersigned, such as the transfer's amount and payee: an object or a string, at most ${MAX_ACTION_BYTES} bytes in RFC 8785 canonical form. Integers beyond 2^53 - 1 and numbers with more digits than a double holds are refused, because readers differ in the number that they read: send them as strings. An object whose \`type\` is ${TYPED_ACTION_TYPES.map((type) => `\`${type}\``).join(', ')} is a typed action: it must fit the schema of that type.`,
  examples: [{ type: 'wire_transfer', amount: '1250.00', currency: 'EUR', to: 'DE89370400440532013000' }],
})

/**
 * Canonical JSON of the action (RFC 8785).
 * @throws DomainError invalid_request when the action is too long, holds a number beyond the range of I-JSON (RFC 7493), or does not
 *   fit the schema of its published type
 */
export function canonicalAction(action: unknown): string {
  const refuse = (issue: string) =>
    new DomainError('invalid_request', { details: [{ path: 'action', issue }] })
  let canonical: string
  try {
    canonical = canonicalJson(action)
  } catch {
    throw refuse('has no RFC 8785 canonical form: it holds a number out of range or is nested too deeply')
  }
  if (Buffer.byteLength(canonical) > MAX_ACTION_BYTES)
    throw refuse(`must be at most ${MAX_ACTION_BYTES} bytes in RFC 8785 canonical form`)
  const faults = typedActionFaults(action)
  if (faults.length > 0)
    throw new DomainError('invalid_request', { details: faults, remedy: TYPED_ACTION_REMEDY })
  return canonical
}

/**
 * Checks the list that travels next to a `payment_batch`: its length, its sum and its hash are those of the action.
 * @param payees RFC 8785 canonical form
 * @throws DomainError invalid_request
 */
export function assertPayees(action: unknown, payees: string | undefined): void {
  const details = payeesFaults(action, payees, actionHash)
  if (details.length > 0) throw new DomainError('invalid_request', { details })
}
