/** The rights that each route requires. The API refuses by them and the pages offer by them, so that no button leads to a refusal. */
import type { OperatorRoutes, PersonRole, TenantRoutes } from './contract.js'

/**
 * `read` allows requests that change nothing. `write` belongs to the admins of the tenant and of the installation, `admin` only to those of
 * the installation. Everybody has `own`, which covers the person's own matters.
 */
export type Right = 'read' | 'write' | 'admin' | 'own'
/** The kind and role of a signed-in person. A tenant's person reaches only the tenant's routes, in either role. */
export type Caller = `${'operator' | 'tenant'} ${PersonRole}`

const RIGHTS: Record<Caller, readonly Right[]> = {
  'operator admin': ['read', 'write', 'admin', 'own'],
  'operator viewer': ['read', 'own'],
  'tenant admin': ['read', 'write', 'own'],
  'tenant viewer': ['read', 'own'],
}

/** The right that each route requires. */
export const OPERATOR_RIGHTS = {
  'GET /tenants': 'read',
  'POST /tenants': 'admin',
  'GET /operators': 'read',
  'POST /operators': 'admin',
  'POST /operators/role': 'admin',
  'POST /operators/password': 'admin',
  'POST /operators/remove': 'admin',
  'POST /operators/sign-out': 'admin',
  'GET /sessions': 'read',
  // Through this route, a viewer and every person of a tenant end only sessions under their own name. The tenant has another route for all
  // of its sessions.
  'POST /sessions/end': 'own',
  'POST /password': 'own',
  'POST /session/confirm': 'own',
  'POST /second-factor': 'own',
  'POST /second-factor/confirm': 'own',
  'POST /second-factor/remove': 'own',
  'POST /operators/second-factor/remove': 'admin',
  'GET /system': 'read',
  'GET /models': 'read',
  'POST /models/begin': 'admin',
  'POST /models/plan': 'admin',
  'POST /models/decide': 'admin',
  'POST /models/back': 'admin',
  'POST /models/finish': 'admin',
  'POST /verdict-keys/rotate': 'admin',
} as const satisfies Record<keyof OperatorRoutes, Right>

export const TENANT_RIGHTS = {
  'GET /': 'read',
  'PATCH /': 'admin',
  'DELETE /': 'admin',
  'POST /suspend': 'admin',
  'POST /resume': 'admin',
  'POST /login-link': 'admin',
  'GET /sessions': 'read',
  'POST /sessions/end': 'write',
  'POST /sign-out': 'write',
  'GET /capture-page': 'read',
  'POST /capture-page': 'write',
  'GET /passkeys': 'read',
  'POST /passkeys': 'write',
  'GET /openid-clients': 'read',
  'POST /openid-clients': 'write',
  'POST /openid-clients/remove': 'write',
  'GET /policy': 'read',
  'GET /policy/version': 'read',
  // A POST that only reads: the draft of a policy is too long for an address.
  'POST /policy/check': 'read',
  // The tenant's admins may too: a policy only asks for more than the contract, which the operator sets.
  'POST /policy': 'write',
  'GET /people': 'read',
  'POST /people': 'write',
  'POST /people/role': 'write',
  'POST /people/reset': 'write',
  'POST /people/second-factor/remove': 'write',
  'POST /people/sign-out': 'write',
  'POST /people/remove': 'write',
  'GET /drift': 'read',
  // Only for the operator, whose alert a new reference ends.
  'POST /drift/restart': 'admin',
  'GET /traffic': 'read',
  'POST /keys/reveal': 'write',
  'POST /keys/reissue': 'write',
  'POST /keys/revoke': 'write',
  'POST /keys': 'write',
  'POST /keys/named/reissue': 'write',
  'POST /keys/named/revoke': 'write',
  'POST /rotate-signing': 'write',
  // A POST that only reads: no address may contain a user id.
  'POST /users/find': 'read',
  'POST /users/passkeys': 'read',
  'POST /users/passkeys/revoke': 'write',
  // It writes an audit entry.
  'POST /users/export': 'write',
  // Only for the operator, as on the command line: unlocking a user allows further guesses at the face.
  'POST /users/unlock': 'admin',
  'POST /erase': 'write',
  'GET /webhooks': 'read',
  // Only for the operator: a tenant could make the service send requests into the operator's own network.
  'POST /webhooks': 'admin',
  'POST /webhooks/remove': 'admin',
  'POST /webhooks/test': 'write',
  'GET /webhooks/deliveries': 'read',
  'POST /webhooks/redeliver': 'write',
  'GET /requests': 'read',
  'POST /requests/subject': 'read',
  'GET /verification': 'read',
  'GET /audit': 'read',
  // A POST that only reads, for the same reason.
  'POST /audit/subject': 'read',
  'GET /audit/chain': 'read',
  'GET /audit/consent-text': 'read',
  'GET /audit/export': 'read',
  'POST /try/inspect': 'write',
  'POST /try/call': 'write',
} as const satisfies Record<keyof TenantRoutes, Right>

export function hasRight(caller: Caller, right: Right): boolean {
  return RIGHTS[caller].includes(right)
}

export function callerOf({ tenantId, role }: { tenantId: string | null; role: PersonRole }): Caller {
  return `${tenantId === null ? 'operator' : 'tenant'} ${role}`
}
