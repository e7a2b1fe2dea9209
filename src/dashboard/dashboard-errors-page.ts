/** The page of the admin listener that explains every error code that the dashboard can show. `doc_url` of an error leads to its row. */

import { apiErrorGroups, type ErrorGroup, errorsPage } from '../features/api-documents/exports.js'
import { UNKNOWN_HOST } from '../http/admin/host-guard.js'
import { OPERATOR_ERRORS, type OperatorErrorCode } from '../lib/operator-errors.js'
import { DASHBOARD_ERRORS, type DashboardErrorCode } from './dashboard-error.js'

type Statuses = Readonly<Record<string, number>>

function dashboardErrors(statuses: Statuses): ErrorGroup {
  const own = Object.entries(DASHBOARD_ERRORS).map(([code, [status, message]]) => ({
    code,
    status,
    message,
    remedy: OPERATOR_ERRORS[code as DashboardErrorCode].remedy,
  }))
  const operations = Object.entries(statuses).map(([code, status]) => ({
    code,
    status,
    remedy: OPERATOR_ERRORS[code as OperatorErrorCode].remedy,
  }))
  return {
    heading: 'Dashboard',
    meaning: 'Only the dashboard answers these.',
    errors: [...own, UNKNOWN_HOST, ...operations],
  }
}

/** @param statuses HTTP status of the errors whose own messages are shown, by code */
export function dashboardErrorsPage(statuses: Statuses): string {
  const own = dashboardErrors(statuses)
  const codes = new Set(own.errors.map(({ code }) => code))
  const shared = apiErrorGroups().map((group) => ({
    ...group,
    // The anchor of a code stands once on the page.
    errors: group.errors.filter(({ code }) => !codes.has(code)),
  }))
  return errorsPage('Errors of the Countersign dashboard', [own, ...shared])
}
