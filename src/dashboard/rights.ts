/** The rights of each role. A route declares the one that it requires. */
import type { PersonRole } from '../admin/accounts/account-tables.js'
import type { Right } from './lib/route.js'

/** The kind and role of a signed-in person. */
type Caller = `${'operator' | 'tenant'} ${PersonRole}`

const RIGHTS: Record<Caller, readonly Right[]> = {
  'operator admin': ['read', 'write', 'admin', 'own'],
  'operator viewer': ['read', 'own'],
  'tenant admin': ['read', 'write', 'own'],
  'tenant viewer': ['read', 'own'],
}
/** A tenant's person reaches the routes of that tenant. Of the others, only those for the person's own matters lie below no tenant. */
const OUTSIDE_OF_TENANT: readonly Right[] = ['own']

export function callerOf({ tenantId, role }: { tenantId: string | null; role: PersonRole }): Caller {
  return `${tenantId === null ? 'operator' : 'tenant'} ${role}`
}

/** The rights of a person at the routes of the installation, and at those of a tenant: the person's own, or any for an operator. */
export function rightsOf(person: { tenantId: string | null; role: PersonRole }) {
  const rights = RIGHTS[callerOf(person)]
  return { operator: person.tenantId === null ? rights : OUTSIDE_OF_TENANT, tenant: rights }
}
