/** The fields that the service in memory knows in the body of each call; a test holds them to the API's own description. */
import type { ErrorDetail } from './errors.js'
import { FakeRefusal } from './testing-errors.js'
import type { Call } from './testing-requests.js'

const CAPTURE = ['user_id', 'image', 'images', 'challenge', 'require_liveness']

export const FAKE_FIELDS: Record<string, readonly string[]> = {
  'POST /enroll': [...CAPTURE, 'replace', 'add', 'dry_run', 'verification_id', 'consent'],
  'POST /verify': [...CAPTURE, 'action', 'nonce'],
  'POST /challenges': ['user_id', 'purpose', 'action', 'modes'],
  'POST /capture-sessions': [
    ...['user_id', 'purpose', 'action', 'modes', 'require_liveness', 'replace', 'verification_id'],
    ...['confirmation', 'return_url', 'locale', 'description', 'consent'],
  ],
  'POST /guidance': ['user_id', 'image', 'frontal', 'step'],
  'DELETE /delete': ['user_id'],
  'POST /keys/rotate-signing': ['force'],
}

/** The languages of the capture page. */
export const FAKE_LOCALES: readonly string[] = ['en', 'de', 'fr', 'es', 'ja']

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
