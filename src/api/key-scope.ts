/** Whether the key of a call has the scope that the call needs. */
import { DomainError } from '../lib/domain-error.js'
import { holdsOneOf, type Scope, scopesOf } from '../tenants/key-scopes.js'

/**
 * @param wanted one of these is enough; none for what every key may do
 * @param path of the field that asks for the scope; the credential where the whole endpoint does
 * @throws DomainError insufficient_scope, which names what is missing
 */
export function assertScope(
  key: { scopes: string | null },
  wanted: readonly Scope[],
  path = 'Authorization',
): void {
  if (wanted.length > 0) assertOneOf(scopesOf(key), wanted, path)
}

/** The same for scopes that are read already. @throws DomainError insufficient_scope */
export function assertOneOf(scopes: readonly Scope[] | null, wanted: readonly Scope[], path: string): void {
  if (holdsOneOf(scopes, wanted)) return
  throw new DomainError('insufficient_scope', {
    details: wanted.map((scope) => ({ path, issue: `needs an API key with the scope "${scope}"`, scope })),
  })
}
