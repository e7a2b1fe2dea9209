/** Who may call which route: the API refuses by it, and the pages offer by it, so that no button leads to a refusal. */
import type { OperatorRole, OperatorRoutes, TenantRoutes } from './contract.js'

/**
 * `look` changes nothing; `act` is for a tenant in its own matters, and for an admin; `grant` for only an admin; `own` for every operator
 * in what is the operator's own.
 */
export type Right = 'look' | 'act' | 'grant' | 'own'
/** A tenant reaches nothing but what is its own, whatever its rights. */
export type Caller = OperatorRole | 'tenant'

const RIGHTS: Record<Caller, readonly Right[]> = {
  admin: ['look', 'act', 'grant', 'own'],
  viewer: ['look', 'own'],
  tenant: ['look', 'act'],
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
  // A viewer ends no sessions but those of the same name.
  'POST /sessions/end': 'own',
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

/** @param session its operator is null for a tenant */
export function callerOf({ operator }: { operator: { role: OperatorRole } | null }): Caller {
  return operator?.role ?? 'tenant'
}
