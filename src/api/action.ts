/** The action to be countersigned, in the canonical form in which two sides can compare it (RFC 8785). */
import Type from 'typebox'
import { batchPayeesFaults, TYPED_ACTION_REMEDY, typedActionFaults } from '../client/typed-action-check.js'
import { TYPED_ACTION_SCHEMAS } from '../client/typed-action-schemas.js'
import { type PaymentBatchAction, TYPED_ACTION_TYPES, typedActionType } from '../client/typed-actions.js'
import type { BatchPayee } from '../client/wire-types.js'
import { actionHash, canonicalJson } from '../crypto/verification-jwt.js'
import { DomainError, type ErrorDetail } from '../lib/domain-error.js'

const MAX_ACTION_BYTES = 4096

/** The typed ones stand here for readers of the document: as objects they are accepted here and checked by `canonicalAction`. */
const typed = Object.values(TYPED_ACTION_SCHEMAS).map((schema) =>
  Type.Unsafe<Record<string, unknown>>(schema),
)

export const actionSchema = Type.Union(
  [Type.String(), Type.Record(Type.String(), Type.Unknown()), ...typed],
  {
    description: `The action to be countersigned, such as the transfer's amount and payee: an object or a string, at most ${MAX_ACTION_BYTES} bytes in RFC 8785 canonical form. Integers beyond 2^53 - 1 and numbers with more digits than a double holds are refused, because readers differ in the number that they read: send them as strings. An object whose \`type\` is ${TYPED_ACTION_TYPES.map((type) => `\`${type}\``).join(', ')} is a typed action: it must fit the schema of that type.`,
    examples: [{ type: 'wire_transfer', amount: '1250.00', currency: 'EUR', to: 'DE89370400440532013000' }],
  },
)

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
 * Checks the list that travels beside a `payment_batch`: its length, its sum and its hash are those of the action.
 * @throws DomainError invalid_request
 */
export function assertPayees(action: unknown, payees: BatchPayee[] | undefined): void {
  const refuse = (details: ErrorDetail[]) => new DomainError('invalid_request', { details })
  if (typedActionType(action) !== 'payment_batch') {
    if (payees) throw refuse([{ path: 'payees', issue: 'is only for an action of type payment_batch' }])
    return
  }
  if (!payees) throw refuse([{ path: 'payees', issue: 'is required for an action of type payment_batch' }])
  const batch = action as PaymentBatchAction
  const faults = batchPayeesFaults(batch, payees)
  if (faults.length > 0) throw refuse(faults)
  if (actionHash(canonicalJson(payees)) !== batch.payees_hash)
    throw refuse([
      { path: 'action.payees_hash', issue: 'is not the SHA-256 of `payees` in RFC 8785 canonical form' },
    ])
}
