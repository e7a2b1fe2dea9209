/** The dashboard of operators and tenants on the admin listener, with its API, the API reference and the documentation. */
import { administered } from '../admin/administration.js'
import { ERRORS_PAGE_HEADERS } from '../features/api-documents/exports.js'
import type { AdminHost, Feature, FeatureHost } from '../features/feature.js'
import type { AdminPart } from '../http/admin/admin-server.js'
import { reply } from '../http/admin/replies.js'
import { ERRORS_PATH } from '../http/routing/routes.js'
import { AdminApi } from './admin-api.js'
import { SANDBOX_PATH } from './constants.js'
import { OPERATION_STATUS } from './dashboard-error.js'
import { dashboardErrorsPage } from './dashboard-errors-page.js'
import { documentationFiles } from './documentation-files.js'
import { loadOperatorPassword, type OperatorPassword } from './sign-in/operator-password.js'
import { Sessions } from './sign-in/sessions.js'
import { SignIn } from './sign-in/sign-in.js'
import { staticFiles } from './static-files.js'

export const dashboard: Feature = {
  async open(core, config) {
    const operatorPassword = await loadOperatorPassword(config, core.store.shared)
    return {
      attach: (host) => ({ operatorPassword, admin: (admin) => adminPart(host, admin, operatorPassword) }),
    }
  },
}

function adminPart(host: FeatureHost, admin: AdminHost, operatorPassword: OperatorPassword): AdminPart {
  const statuses = { ...OPERATION_STATUS, ...admin.statuses }
  const { handle } = createAdminApi(host, { ...admin, statuses }, operatorPassword)
  return {
    pages: new Map([
      ...staticFiles(),
      ...documentationFiles(),
      [
        ERRORS_PATH,
        reply(200, 'text/html; charset=utf-8', dashboardErrorsPage(statuses), ERRORS_PAGE_HEADERS),
      ],
    ]),
    handlers: {
      '/api/': handle,
      // The API reference's calls of the sandbox. They have the page's own origin here, so that no other origin needs access. Production
      // has only its own listener.
      [`${SANDBOX_PATH}/`]: (request) =>
        admin.apis.sandbox({ ...request, path: request.path.slice(SANDBOX_PATH.length) }),
    },
  }
}

function createAdminApi(host: FeatureHost, admin: AdminHost, operatorPassword: OperatorPassword): AdminApi {
  const { config, clock, log, metrics, engine } = host
  const core = administered(host, clock)
  const common = { store: core.store, clock, config, operatorPassword }
  const isSecure = admin.urls().admin.startsWith('https:')
  const sessions = new Sessions({ ...common, isSecure })
  return new AdminApi({
    ...admin,
    core,
    clock,
    log,
    config,
    engine,
    sessions,
    signIn: new SignIn({ ...common, ...core.operations, attempts: admin.newLimiter() }, sessions),
    countEffect: metrics.countEffect,
    countRefusal: metrics.countDashboardRefusal,
  })
}
