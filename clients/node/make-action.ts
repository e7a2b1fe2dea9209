/** Makes typed actions: checks them before they are sent, and computes what binds the list of a batch. */

import { actionHash } from '../../src/contract/action-hash.js'
import { decimalText, minorUnits } from '../../src/contract/actions/money.js'
import type { SchemaFault } from '../../src/contract/actions/schema-check.js'
import { payeesFaults, typedActionFaults } from '../../src/contract/actions/typed-action-check.js'
import type { PaymentBatchAction, TypedAction } from '../../src/contract/actions/typed-actions.js'
import { canonicalJson } from '../../src/contract/canonical-json.js'
import type { BatchPayee } from './types.js'

/** The fields of a batch that an application gives. */
export interface PaymentBatch {
  /** ISO 4217 code of all amounts. */
  currency: string
  /** 1 to 1,000 payments, in the order in which the person sees them. */
  payees: readonly BatchPayee[]
  /** At most 140 characters, shown to the person. */
  reference?: string
}

/**
 * Checks a typed action as the service would, without a call.
 * @returns the action itself
 * @throws TypeError that names the fields at fault
 * @example
 * const action = typedAction({
 *   type: 'payment', amount: '1250.00', currency: 'EUR',
 *   payee: { name: 'Grace Hopper', account: 'DE89370400440532013000' },
 * })
 */
export function typedAction<A extends TypedAction>(action: A): A {
  assertFaultless(typedActionFaults(action))
  return action
}

/**
 * Adds the amounts up and hashes the list. Give `action` to every call, and `payees` next to it to `createCaptureSession`. To check
 * a verdict, make the batch again from the payments that are about to run, and expect its `action`.
 * @returns the action that binds number, sum and list, and the list as text in RFC 8785 canonical form
 * @throws TypeError that names the fields at fault
 * @example
 * const { action, payees } = await paymentBatch({
 *   currency: 'EUR', payees: [{ name: 'Grace Hopper', account: 'DE89370400440532013000', amount: '12.50' }],
 * })
 */
export async function paymentBatch({
  currency,
  payees,
  reference,
}: PaymentBatch): Promise<{ action: PaymentBatchAction; payees: string }> {
  const units = payees.map(({ amount }) => minorUnits(amount, currency) ?? 0n)
  const sum = units.reduce((sum, each) => sum + each, 0n)
  const payees_hash = await actionHash(payees)
  const action: PaymentBatchAction = {
    type: 'payment_batch',
    total: decimalText(sum, currency),
    currency,
    payees_count: payees.length,
    payees_hash,
    ...(reference === undefined ? {} : { reference }),
  }
  const list = canonicalJson(payees)
  assertFaultless([...typedActionFaults(action), ...payeesFaults(action, list, () => payees_hash)])
  return { action, payees: list }
}

function assertFaultless(faults: readonly SchemaFault[]): void {
  if (faults.length > 0) throw new TypeError(faults.map(({ path, issue }) => `${path} ${issue}`).join('; '))
}
