/** Who may call which route: the API refuses by it, and the pages offer by it, so that no button leads to a refusal. */
import type { OperatorRoutes, PersonRole, TenantRoutes } from './contract.js'

/**
 * `read` changes nothing; `write` is for an admin of a tenant in the tenant's matters, and for an admin of the installation; `admin` is for
 * only an admin of the installation; `own` is for everybody, in what is the person's own.
 */
export type Right = 'read' | 'write' | 'admin' | 'own'
/** A person of a tenant reaches nothing but what is the tenant's, whatever the role. */
export type Caller = `${'operator' | 'tenant'} ${PersonRole}`

const RIGHTS: Record<Caller, readonly Right[]> = {
  'operator admin': ['read', 'write', 'admin', 'own'],
  'operator viewer': ['read', 'own'],
  'tenant admin': ['read', 'write', 'own'],
  'tenant viewer': ['read', 'own'],
}

/** What each route asks for. */
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
  // A viewer ends no sessions but those of the same name; so does everybody of a tenant, who has another route for the tenant's.
  'POST /sessions/end': 'own',
  'POST /password': 'own',
  'POST /session/confirm': 'own',
  'POST /second-factor': 'own',
  'POST /second-factor/confirm': 'own',
  'POST /second-factor/remove': 'own',
  'POST /operators/second-factor/remove': 'admin',
  'GET /system': 'read',
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
  'GET /people': 'read',
  'POST /people': 'write',
  'POST /people/role': 'write',
  'POST /people/reset': 'write',
  'POST /people/second-factor/remove': 'write',
  'POST /people/sign-out': 'write',
  'POST /people/remove': 'write',
  'GET /traffic': 'read',
  'POST /keys/reveal': 'write',
  'POST /keys/reissue': 'write',
  'POST /keys/revoke': 'write',
  'POST /keys': 'write',
  'POST /keys/named/reissue': 'write',
  'POST /keys/named/revoke': 'write',
  'POST /rotate-signing': 'write',
  // A question, whose user id must stand in no address.
  'POST /users/find': 'read',
  // The operator's alone, as at the command line: it buys guesses at a face.
  'POST /users/unlock': 'admin',
  'POST /erase': 'write',
  'GET /webhooks': 'read',
  // The operator's alone: a tenant could have the service knock at its neighbours' doors.
  'POST /webhooks': 'admin',
  'POST /webhooks/remove': 'admin',
  'POST /webhooks/test': 'write',
  'GET /webhooks/deliveries': 'read',
  'POST /webhooks/redeliver': 'write',
  'GET /requests': 'read',
  'POST /requests/subject': 'read',
  'GET /audit': 'read',
  // A question as well.
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
