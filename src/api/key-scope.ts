/** Checks that the API key of a call has the scope that the call needs. */

import { isOfType, RECOVER_ACTION } from '../contract/own-actions.js'
import { DomainError } from '../lib/domain-error.js'
import { holdsOneOf, type Scope, scopesOf } from '../tenants/key-scopes.js'

/**
 * @param wanted scopes of which the key needs one; empty for what every key may do
 * @param path field that asks for the scope; by default the credential, where the whole endpoint asks for it
 * @throws DomainError insufficient_scope, which names the missing scopes
 */
export function assertScope(
  key: { scopes: string | null },
  wanted: readonly Scope[],
  path = 'Authorization',
): void {
  if (wanted.length > 0) assertOneOf(scopesOf(key), wanted, path)
}

/**
 * Does the same as `assertScope` for scopes that were parsed before.
 * @throws DomainError insufficient_scope
 */
export function assertOneOf(scopes: readonly Scope[] | null, wanted: readonly Scope[], path: string): void {
  if (holdsOneOf(scopes, wanted)) return
  throw new DomainError('insufficient_scope', {
    details: wanted.map((scope) => ({ path, issue: `needs an API key with the scope "${scope}"`, scope })),
  })
}

/** A verify for the recovery of a passkey has a scope of its own, and so has what prepares it. @throws DomainError insufficient_scope */
export function assertActionScope(scopes: readonly Scope[] | null, action: unknown): void {
  if (isOfType(action, RECOVER_ACTION)) assertOneOf(scopes, ['recover'], 'action')
}
