/** The person of a session, and the persons without a name: the operator with the password, and a tenant's with a login link. */

import type { PersonRecord, PersonRole } from '../../admin/accounts/account-tables.js'
import { UNNAMED_OPERATOR } from '../../admin/session-operations.js'

/** The audit log's name for anyone who opened a tenant's login link. */
const UNNAMED_TENANT = 'tenant'

/** The person who signs in with the operator's password, and so without a name. */
export const UNNAMED = {
  id: null,
  tenantId: null,
  name: UNNAMED_OPERATOR,
  role: 'admin',
  hasPassword: true,
} as const

/** The person of a session: an operator, or a person of a tenant. */
export interface SessionPerson {
  /** Id of the person, or null when the session began with the operator's password or a tenant's login link. */
  id: string | null
  /** Id of the person's tenant, or null for an operator. */
  tenantId: string | null
  name: string
  role: PersonRole
  /** False for a person who was invited and has not chosen a password yet. */
  hasPassword: boolean
}

export function asSessionPerson({ id, tenantId, name, role, passwordHash }: PersonRecord): SessionPerson {
  return { id, tenantId, name, role, hasPassword: passwordHash !== null }
}

/** Whether a tenant's login link began the session: it names nobody, who could have a second factor. */
export function isUnnamedOfTenant({ id, tenantId }: Pick<SessionPerson, 'id' | 'tenantId'>): boolean {
  return id === null && tenantId !== null
}

/** The person without a name who opened a login link of the tenant. */
export function unnamedOf(tenantId: string): SessionPerson {
  return { id: null, tenantId, name: UNNAMED_TENANT, role: 'admin', hasPassword: false }
}
