/** Whether the key of a call has the scope that the call needs. */
import { ApiError } from '../lib/api-error.js'
import { holdsOneOf, type Scope, scopesOf } from '../tenants/key-scopes.js'

/**
 * @param wanted one of these is enough; none for what every key may do
 * @param path of the field that asks for the scope; the credential where the whole endpoint does
 * @throws ApiError insufficient_scope, which names what is missing
 */
export function assertScope(
  key: { scopes: string | null },
  wanted: readonly Scope[],
  path = 'Authorization',
): void {
  if (wanted.length > 0) assertOneOf(scopesOf(key), wanted, path)
}

/** The same for scopes that are read already. @throws ApiError insufficient_scope */
export function assertOneOf(scopes: readonly Scope[] | null, wanted: readonly Scope[], path: string): void {
  if (holdsOneOf(scopes, wanted)) return
  throw new ApiError('insufficient_scope', {
    details: wanted.map((scope) => ({ path, issue: `needs an API key with the scope "${scope}"`, scope })),
    // RFC 6750, section 3.1.
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${wanted.join(' ')}"` },
  })
}
