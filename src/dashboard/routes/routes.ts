/** The dashboard's own routes, by method and path. Features add theirs. */
import { AUDIT_ROUTES } from './audit-routes.js'
import { INSTALLATION_ROUTES } from './installation-routes.js'
import { MODEL_ROUTES } from './model-routes.js'
import { OPERATOR_ROUTES, PEOPLE_ROUTES } from './people-routes.js'
import { SECOND_FACTOR_ROUTES, SESSION_ROUTES, TENANT_SESSION_ROUTES } from './session-routes.js'
import { TENANT_ADMIN_ROUTES, TENANT_ROUTES } from './tenant-routes.js'
import { TRY_ROUTES } from './try-routes.js'
import { USER_ROUTES } from './user-routes.js'

export const ROUTES = {
  /** Below `/api`: only for operators, but for a person's own matters. */
  operator: {
    ...INSTALLATION_ROUTES,
    ...MODEL_ROUTES,
    ...OPERATOR_ROUTES,
    ...SESSION_ROUTES,
    ...SECOND_FACTOR_ROUTES,
  },
  /** Below `/api/tenants/<id>`: for the tenant and for operators. `GET /` stands for the prefix itself. */
  tenant: {
    ...TENANT_ROUTES,
    ...TENANT_ADMIN_ROUTES,
    ...TENANT_SESSION_ROUTES,
    ...PEOPLE_ROUTES,
    ...USER_ROUTES,
    ...AUDIT_ROUTES,
    ...TRY_ROUTES,
  },
}
