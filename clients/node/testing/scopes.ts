/** Check of a key's scopes by the service in memory, according to the rules of the real service. */

import type { Scope } from '../types.js'
import { isOfType } from './permits.js'
import { FakeRefusal } from './refusals.js'
import type { Call } from './requests.js'

/** @param held scopes of the key; undefined for a key that may make every call @throws FakeRefusal insufficient_scope */
export function assertScopes(call: Call, held: readonly Scope[] | undefined): void {
  if (held === undefined) return
  for (const { path, scopes } of wantedBy(call))
    if (!scopes.some((scope) => held.includes(scope)))
      throw new FakeRefusal(
        'insufficient_scope',
        call.requestId,
        scopes.map((scope) => ({ path, issue: `needs an API key with the scope "${scope}"`, scope })),
      )
}

function wantedBy({ method, path, body }: Call): Array<{ path: string; scopes: Scope[] }> {
  const endpoint = (...scopes: Scope[]) => ({ path: 'Authorization', scopes })
  if (/^\/users\/[^/]+\/passkeys\/assertion$/.test(path)) return [endpoint('verify')]
  if (path.endsWith('/passkeys/recovery')) return [endpoint('recover')]
  if (path.startsWith('/users/')) return [endpoint(method === 'GET' ? 'read' : 'enroll')]
  if (path.startsWith('/verifications/')) return [endpoint('verify', 'read')]
  if (path.startsWith('/capture-sessions/')) return [endpoint('verify', 'enroll')]
  switch (`${method} ${path}`) {
    case 'POST /verify':
      return [endpoint('verify'), ...recovery(body)]
    case 'POST /enroll':
      return [
        endpoint('enroll'),
        ...(['replace', 'add'] as const)
          .filter((field) => body[field])
          .map((field) => ({ path: field, scopes: ['replace' as const] })),
      ]
    case 'POST /challenges':
      return [
        endpoint('verify', 'enroll'),
        { path: 'purpose', scopes: [body.purpose ?? 'verify'] },
        ...recovery(body),
      ]
    case 'POST /capture-sessions':
      return [
        endpoint('verify', 'enroll'),
        { path: 'purpose', scopes: [body.purpose ?? 'verify'] },
        ...recovery(body),
        ...(body.replace ? [{ path: 'replace', scopes: ['replace' as const] }] : []),
      ]
    case 'POST /guidance':
      return [endpoint('verify', 'enroll')]
    case 'DELETE /delete':
      return [endpoint('erase')]
    case 'GET /audit':
      return [endpoint('audit')]
    case 'POST /keys/rotate-signing':
      return [endpoint('rotate')]
    default:
      return []
  }
}

function recovery({ action }: Call['body']): Array<{ path: string; scopes: Scope[] }> {
  return isOfType(action, 'recover_passkey') ? [{ path: 'action', scopes: ['recover'] }] : []
}
