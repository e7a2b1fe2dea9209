/** Checks the fields of request bodies for the service in memory. */

import { sha256Hex } from '../../../src/contract/action-hash.js'
import {
  payeesFaults,
  TYPED_ACTION_REMEDY,
  typedActionFaults,
} from '../../../src/contract/actions/typed-action-check.js'
import { DISPLAY_LOCALES } from '../../../src/contract/locales.js'
import type { ErrorDetail } from '../errors.js'
import { FakeRefusal } from './refusals.js'
import { type Call, describedName } from './requests.js'
import { FAKE_FIELDS } from './service-texts.js'

/** Refuses a misspelled field or an unknown language, as the service does. @throws FakeRefusal invalid_request */
export function assertKnownFields(call: Call): void {
  const { body, requestId } = call
  const known = FAKE_FIELDS[describedName(call)]
  if (!known || typeof body !== 'object' || body === null) return
  const details: ErrorDetail[] = Object.keys(body)
    .filter((field) => !known.includes(field))
    .map((field) => ({ path: field, issue: 'is not a known field' }))
  if (known.includes('locale') && body.locale !== undefined && !DISPLAY_LOCALES.includes(body.locale))
    details.push({ path: 'locale', issue: `must be one of ${DISPLAY_LOCALES.join(', ')}` })
  if (details.length > 0) throw new FakeRefusal('invalid_request', requestId, details)
}

/** Refuses a typed action that does not fit its schema, and a list that is not the batch's. @throws FakeRefusal invalid_request */
export async function assertTypedAction(call: Call): Promise<void> {
  const { path, body, requestId } = call
  const known = FAKE_FIELDS[describedName(call)]
  if (!known?.includes('action') || typeof body !== 'object' || body === null) return
  const { action, payees } = body
  const faults = typedActionFaults(action)
  if (faults.length > 0) throw new FakeRefusal('invalid_request', requestId, faults, TYPED_ACTION_REMEDY)
  if (!known.includes('payees') || (path === '/challenges' && body.locale === undefined)) return
  const hash = typeof payees === 'string' ? await sha256Hex(payees) : ''
  const wrong = payeesFaults(action, payees, () => hash)
  if (wrong.length > 0) throw new FakeRefusal('invalid_request', requestId, wrong)
}
