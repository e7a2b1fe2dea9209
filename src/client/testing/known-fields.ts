/** Check of the fields in request bodies by the service in memory. */
import type { ErrorDetail } from '../errors.js'
import { FakeRefusal } from './refusals.js'
import type { Call } from './requests.js'
import { FAKE_FIELDS, FAKE_LOCALES } from './service-texts.js'

/** Refuses a misspelled field or an unknown language, as the service does. @throws FakeRefusal invalid_request */
export function assertKnownFields({ method, path, body, requestId }: Call): void {
  const known = FAKE_FIELDS[`${method} ${path}`]
  if (!known || typeof body !== 'object' || body === null) return
  const details: ErrorDetail[] = Object.keys(body)
    .filter((field) => !known.includes(field))
    .map((field) => ({ path: field, issue: 'is not a known field' }))
  if (known.includes('locale') && body.locale !== undefined && !FAKE_LOCALES.includes(body.locale))
    details.push({ path: 'locale', issue: `must be one of ${FAKE_LOCALES.join(', ')}` })
  if (details.length > 0) throw new FakeRefusal('invalid_request', requestId, details)
}
