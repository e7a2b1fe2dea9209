/** The table of contents of the dashboard's API: who may call what, and what goes in. */
import type { TSchema } from 'typebox'
import type { IncomingRequest, Reply } from '../server/listener.js'
import type { TenantRecord } from '../storage/records.js'
import { AUDIT_ROUTES } from './audit-routes.js'
import type { DashboardServices } from './dashboard-services.js'
import { OPERATOR_ROUTES } from './operator-routes.js'
import type { Session } from './sessions.js'
import { TENANT_ROUTES } from './tenant-routes.js'
import { TRY_ROUTES } from './try-routes.js'

export interface RouteCall<Input> {
  services: DashboardServices
  session: Session
  /** `dashboard:operator` or `dashboard:tenant`, for the audit log. */
  actor: string
  input: Input
  query: URLSearchParams
  requestId: string
  request: IncomingRequest
  deadlineMs: number
}

interface RouteShape {
  method: 'GET' | 'POST' | 'PATCH'
  /** `/api/…`; below a tenant, what follows `/api/tenants/<id>`. */
  path: string
  body?: TSchema
  /** The body may be as large as the API's; else a few kilobytes. */
  takesPhotos?: true
}

/** For the operator alone. */
export interface OperatorRoute<Input = never> extends RouteShape {
  handle(call: RouteCall<Input>): Promise<Reply>
}

/** For the operator, and for the tenant that it is about. */
export interface TenantRoute<Input = never> extends RouteShape {
  handle(call: RouteCall<Input> & { tenant: TenantRecord }): Promise<Reply>
}

export const ROUTES = {
  operator: OPERATOR_ROUTES as Array<OperatorRoute<never>> as Array<OperatorRoute<unknown>>,
  tenant: [...TENANT_ROUTES, ...AUDIT_ROUTES, ...TRY_ROUTES] as Array<TenantRoute<never>> as Array<
    TenantRoute<unknown>
  >,
}
