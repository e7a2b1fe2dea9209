/** How the dashboard's own routes are declared. */
import type { TenantRecord } from '../../storage/records.js'
import type { DashboardServices } from '../dashboard-services.js'
import { type Call, routesFor } from '../lib/route.js'
import type { Guest, Session } from '../sign-in/sessions.js'

export { asks, asSecret, READS, SIGNS_OUT } from '../lib/route.js'

export interface OperatorCall extends Call {
  services: DashboardServices
  operations: DashboardServices['core']['operations']
  session: Session
  guest: Guest
  deadlineMs: number
}

export interface TenantCall extends OperatorCall {
  tenant: TenantRecord
}

/** Declares a route that only operators may call, or that is of the person's own matters. */
export const operatorRoute = routesFor<OperatorCall>()

/** Declares a route of a tenant, which the tenant and operators may call. */
export const tenantRoute = routesFor<TenantCall>()
