/** Turns refusals of the dashboard's API, its own and those of the parts that it calls, into the service's common error body. */

import type { PackGradeError } from '../../models/pack/pack-grade.js'
import { MODEL_OPERATION_ERRORS } from '../admin/model-operations.js'
import { PERSON_ERRORS } from '../admin/people-operations.js'
import { SECOND_FACTOR_ERRORS } from '../admin/second-factor-operations.js'
import type { SessionError } from '../admin/session-operations.js'
import type { UserOperationError } from '../admin/user-operations.js'
import { errorBody, errorHeaders, retryAfter, statusOf } from '../api/error-response.js'
import { BiometricError } from '../biometrics/types.js'
import type { ErrorCategory } from '../contract/error-codes.js'
import { json } from '../http/admin/replies.js'
import type { Reply } from '../http/listeners/listener.js'
import { toDomainError } from '../http/to-domain-error.js'
import { DomainError } from '../lib/domain-error.js'
import { CodedError } from '../lib/errors.js'
import { OPERATOR_ERRORS, type OperatorErrorCode } from '../lib/operator-errors.js'
import type { KeyGrantError } from '../tenants/key-grants.js'
import type { TenancyError } from '../tenants/tenancy-error.js'

/** Errors that only the dashboard answers; no client of the API meets them. */
export const DASHBOARD_ERRORS = {
  not_signed_in: [401, 'Nobody is signed in to the dashboard, or the session has ended.'],
  sign_in_failed: [401, 'The sign-in failed.'],
  too_many_sign_ins: [429, 'Too many sign-ins from this address.'],
  cross_site_request: [403, 'The request to the dashboard did not come from its own pages.'],
  not_confirmed: [400, 'The name that was typed is not the name of the tenant.'],
  not_permitted: [403, 'The role of this person does not allow this.'],
  password_sign_in_off: [403, 'Operators sign in here by their provider, and by no password.'],
  second_factor_required: [401, 'The sign-in asks for a code of the second factor as well.'],
  second_factor_not_added: [403, 'A second factor is needed here: add yours first.'],
  password_not_chosen: [403, 'Choose a password of your own first.'],
  fresh_sign_in_required: [403, 'This asks for a fresh sign-in.'],
} as const satisfies Record<string, readonly [number, string]>

export type DashboardErrorCode = keyof typeof DASHBOARD_ERRORS

export class DashboardError extends CodedError<DashboardErrorCode> {
  /**
   * @param facts further fields of the answer, in addition to code and message
   * @param retryAfterMs time after which the same request may succeed
   */
  constructor(
    code: DashboardErrorCode,
    message: string = DASHBOARD_ERRORS[code][1],
    readonly facts: Readonly<Record<string, string>> = {},
    readonly retryAfterMs?: number,
  ) {
    super(code, message)
  }
}

/** HTTP status of the errors whose own messages are shown, by code. Features add theirs. */
export const OPERATION_STATUS = {
  invalid_tenant_name: 400,
  tenant_exists: 409,
  tenant_not_found: 404,
  production_key_not_issued: 409,
  production_key_already_revealed: 409,
  no_active_key: 409,
  key_exists: 409,
  too_many_keys: 409,
  invalid_key_name: 400,
  invalid_scope: 400,
  invalid_network: 400,
  invalid_certificate: 400,
  tenant_suspended: 409,
  tenant_not_suspended: 409,
  tenant_deleted: 409,
  ...PERSON_ERRORS,
  ...SECOND_FACTOR_ERRORS,
  ...MODEL_OPERATION_ERRORS,
  reference_disabled: 409,
  session_not_found: 404,
  fmr_not_reached: 400,
  pack_not_accepted: 400,
  liveness_not_served: 400,
} satisfies Record<
  (TenancyError | KeyGrantError | UserOperationError | SessionError | PackGradeError)['code'],
  number
>

const CATEGORIES: Record<number, ErrorCategory> = {
  400: 'invalid_request',
  401: 'authentication_failed',
  403: 'permission_denied',
  404: 'not_found',
  409: 'conflict',
  429: 'rate_limited',
}

interface Refused {
  requestId: string
  /** Address of the page that explains the codes. */
  errorsUrl: string
  /** HTTP status of the errors whose own messages are shown, by code. */
  statuses: Readonly<Record<string, number>>
  /** Called with the error code. */
  count: (code: string) => void
}

export function refusal(error: unknown, { requestId, errorsUrl, statuses, count }: Refused): Reply {
  const status = statusOfShown(error, statuses)
  if (status !== undefined) {
    const { code, message } = error as CodedError<OperatorErrorCode>
    const { facts = {}, retryAfterMs } = error instanceof DashboardError ? error : {}
    count(code)
    const body = {
      error: CATEGORIES[status],
      code,
      message,
      remedy: OPERATOR_ERRORS[code].remedy,
      doc_url: `${errorsUrl}#${code}`,
      ...facts,
      request_id: requestId,
    }
    return json(body, status, retryAfterMs === undefined ? {} : retryAfter(retryAfterMs))
  }
  const refused = toDomainError(translate(error))
  count(refused.code)
  const reply = json(errorBody(refused, { requestId, errorsUrl }), statusOf(refused), errorHeaders(refused))
  // The rest of the body is not read.
  return refused.code === 'body_too_large' ? { ...reply, close: true } : reply
}

/** @returns the status of an error whose own message is shown; undefined for every other */
function statusOfShown(error: unknown, statuses: Refused['statuses']): number | undefined {
  if (error instanceof DashboardError) return DASHBOARD_ERRORS[error.code][0]
  // Both registries know some codes. An error of the API keeps its own body.
  const isShown = error instanceof CodedError && !(error instanceof DomainError)
  return isShown && Object.hasOwn(statuses, error.code) ? statuses[error.code] : undefined
}

/** Translates an error of the engine. The inspection has one image, so that its index is always 0. */
function translate(error: unknown): unknown {
  if (!(error instanceof BiometricError)) return error
  if (error.code === 'cancelled') return new DomainError('deadline_exceeded')
  return new DomainError(error.code, { message: error.message })
}
