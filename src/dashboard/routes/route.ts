/** The types of the dashboard's own routes. The rights that they require are in `rights.ts`. */
import type { TenantRecord } from '../../storage/records.js'
import type { OperatorRoutes, OwnTenantRoutes } from '../contract.js'
import type { DashboardServices } from '../dashboard-services.js'
import type { Call, Route } from '../lib/route.js'
import type { Guest, Session } from '../sign-in/sessions.js'

export { asSecret } from '../lib/route.js'

export interface OperatorCall<Shape> extends Call<Shape> {
  services: DashboardServices
  session: Session
  guest: Guest
  deadlineMs: number
}

export interface TenantCall<Shape> extends OperatorCall<Shape> {
  tenant: TenantRecord
}

/** One entry for each of the contract's routes that only operators may call. */
export type OperatorTable = {
  [Name in keyof OperatorRoutes]: Route<OperatorRoutes[Name], OperatorCall<OperatorRoutes[Name]>>
}

/** One entry for each of the contract's routes of a tenant, which the tenant and operators may call. */
export type TenantTable = {
  [Name in keyof OwnTenantRoutes]: Route<OwnTenantRoutes[Name], TenantCall<OwnTenantRoutes[Name]>>
}
