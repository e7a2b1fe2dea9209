/** Who may call which route: the API refuses by it, and the pages offer by it, so that no button leads to a refusal. */
import type { OperatorRoutes, PersonRole, TenantRoutes } from './contract.js'

/**
 * `look` changes nothing; `act` is for an admin of a tenant in the tenant's matters, and for an admin of the installation; `grant` is for
 * only an admin of the installation; `own` is for everybody, in what is the person's own.
 */
export type Right = 'look' | 'act' | 'grant' | 'own'
/** A person of a tenant reaches nothing but what is the tenant's, whatever the role. */
export type Caller = `${'operator' | 'tenant'} ${PersonRole}`

const RIGHTS: Record<Caller, readonly Right[]> = {
  'operator admin': ['look', 'act', 'grant', 'own'],
  'operator viewer': ['look', 'own'],
  'tenant admin': ['look', 'act', 'own'],
  'tenant viewer': ['look', 'own'],
}

/** What each route asks for. */
export const OPERATOR_RIGHTS = {
  'GET /tenants': 'look',
  'POST /tenants': 'grant',
  'GET /operators': 'look',
  'POST /operators': 'grant',
  'POST /operators/role': 'grant',
  'POST /operators/password': 'grant',
  'POST /operators/remove': 'grant',
  'POST /operators/sign-out': 'grant',
  'GET /sessions': 'look',
  // A viewer ends no sessions but those of the same name; so does everybody of a tenant, who has another route for the tenant's.
  'POST /sessions/end': 'own',
  'POST /password': 'own',
  'POST /session/confirm': 'own',
  'POST /second-factor': 'own',
  'POST /second-factor/confirm': 'own',
  'POST /second-factor/remove': 'own',
  'POST /operators/second-factor/remove': 'grant',
  'GET /system': 'look',
} as const satisfies Record<keyof OperatorRoutes, Right>

export const TENANT_RIGHTS = {
  'GET /': 'look',
  'PATCH /': 'grant',
  'DELETE /': 'grant',
  'POST /suspend': 'grant',
  'POST /resume': 'grant',
  'POST /login-link': 'grant',
  'GET /sessions': 'look',
  'POST /sessions/end': 'act',
  'POST /sign-out': 'act',
  'GET /capture-page': 'look',
  'POST /capture-page': 'act',
  'GET /people': 'look',
  'POST /people': 'act',
  'POST /people/role': 'act',
  'POST /people/reset': 'act',
  'POST /people/second-factor/remove': 'act',
  'POST /people/sign-out': 'act',
  'POST /people/remove': 'act',
  'GET /traffic': 'look',
  'POST /keys/reveal': 'act',
  'POST /keys/reissue': 'act',
  'POST /keys/revoke': 'act',
  'POST /keys': 'act',
  'POST /keys/named/reissue': 'act',
  'POST /keys/named/revoke': 'act',
  'POST /rotate-signing': 'act',
  // A question, whose user id must stand in no address.
  'POST /users/find': 'look',
  // The operator's alone, as at the command line: it buys guesses at a face.
  'POST /users/unlock': 'grant',
  'POST /erase': 'act',
  'GET /webhooks': 'look',
  // The operator's alone: a tenant could have the service knock at its neighbours' doors.
  'POST /webhooks': 'grant',
  'POST /webhooks/remove': 'grant',
  'POST /webhooks/test': 'act',
  'GET /webhooks/deliveries': 'look',
  'POST /webhooks/redeliver': 'act',
  'GET /requests': 'look',
  'POST /requests/subject': 'look',
  'GET /audit': 'look',
  // A question as well.
  'POST /audit/subject': 'look',
  'GET /audit/chain': 'look',
  'GET /audit/consent-text': 'look',
  'GET /audit/export': 'look',
  'POST /try/inspect': 'act',
  'POST /try/call': 'act',
} as const satisfies Record<keyof TenantRoutes, Right>

export function hasRight(caller: Caller, right: Right): boolean {
  return RIGHTS[caller].includes(right)
}

export function callerOf({ tenantId, role }: { tenantId: string | null; role: PersonRole }): Caller {
  return `${tenantId === null ? 'operator' : 'tenant'} ${role}`
}
