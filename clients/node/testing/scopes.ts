/** Check of a key's scopes by the service in memory, according to the rules of the real service. */

import type { Scope } from '../types.js'
import { isOfType } from './permits.js'
import { FakeRefusal } from './refusals.js'
import { type Call, describedName } from './requests.js'
import { FAKE_FIELDS, FAKE_SCOPES } from './service-texts.js'

/** Calls whose action may be the recovery of a passkey. */
const RECOVERING = ['POST /verify', 'POST /challenges', 'POST /capture-sessions']

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

function wantedBy(call: Call): Array<{ path: string; scopes: readonly Scope[] }> {
  const name = describedName(call)
  const field = (path: string, scope: Scope) => ({ path, scopes: [scope] })
  const { action, purpose = 'verify', ...body } = call.body ?? {}
  return [
    { path: 'Authorization', scopes: FAKE_SCOPES[name] ?? [] },
    ...(FAKE_FIELDS[name]?.includes('purpose') ? [field('purpose', purpose)] : []),
    ...(RECOVERING.includes(name) && isOfType(action, 'recover_passkey') ? [field('action', 'recover')] : []),
    ...['replace', 'add'].filter((one) => body[one]).map((one) => field(one, 'replace')),
  ].filter(({ scopes }) => scopes.length > 0)
}
