/** Makes typed actions: checks them before they are sent, and computes what binds the list of a batch. */
import { actionHash } from './canonical-json.js'
import { decimalText, minorUnits } from './money.js'
import type { SchemaFault } from './schema-check.js'
import { batchPayeesFaults, typedActionFaults } from './typed-action-check.js'
import type { PaymentBatchAction, TypedAction } from './typed-actions.js'
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
 * Adds the amounts up and hashes the list. Give `action` to every call, and `payees` beside it to `createCaptureSession`. To check
 * a verdict, make the batch again from the payments that are about to run, and expect its `action`.
 * @returns the action that binds number, sum and list, and the list as it is to be sent
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
}: PaymentBatch): Promise<{ action: PaymentBatchAction; payees: BatchPayee[] }> {
  const list = [...payees]
  const units = list.map(({ amount }) => minorUnits(amount, currency) ?? 0n)
  const action: PaymentBatchAction = {
    type: 'payment_batch',
    total: decimalText(
      units.reduce((sum, each) => sum + each, 0n),
      currency,
    ),
    currency,
    payees_count: list.length,
    payees_hash: await actionHash(list),
    ...(reference === undefined ? {} : { reference }),
  }
  assertFaultless([...typedActionFaults(action), ...batchPayeesFaults(action, list)])
  return { action, payees: list }
}

function assertFaultless(faults: readonly SchemaFault[]): void {
  if (faults.length > 0) throw new TypeError(faults.map(({ path, issue }) => `${path} ${issue}`).join('; '))
}
