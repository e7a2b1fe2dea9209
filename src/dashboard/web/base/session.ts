/** The session in which the pages are shown, and its rights: the pages do not offer actions that the API would refuse. */
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { OperatorRoutes, SessionView, TenantRoutes } from '../../contract.js'

export const SessionContext = createContext<SessionView | null>(null)

export function useSession(): SessionView {
  const session = useContext(SessionContext)
  if (!session) throw new TypeError('no page is shown without a session')
  return session
}

/** @returns a function that makes the address of one of the tenant's pages, such as `audit?id=…` */
export function useTenantHref(tenantId: string): (path: string) => string {
  const base = useSession().tenant_id === null ? `#/tenants/${tenantId}` : '#'
  return (path) => `${base}/${path}`
}

export function useRights() {
  const { may } = useSession()
  // A node of an earlier version names none while others are upgraded: nothing is offered until it is.
  const names = (may as typeof may | undefined) ?? { operator: [], tenant: [] }
  return {
    operator: (route: keyof OperatorRoutes) => names.operator.includes(route),
    tenant: (route: keyof TenantRoutes) => names.tenant.includes(route),
  }
}
