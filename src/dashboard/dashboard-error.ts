/** Refusals of the dashboard's API, in the error body that the whole service speaks. */
import { BiometricError } from '../biometrics/types.js'
import { ApiError } from '../errors.js'
import type { Reply } from '../server/listener.js'
import { toApiError } from '../server/to-api-error.js'
import { TenancyError } from '../tenancy/tenancy.js'
import { json } from './replies.js'

const TENANCY_STATUS: Record<TenancyError['code'], number> = {
  invalid_tenant_name: 400,
  tenant_exists: 409,
  tenant_not_found: 404,
  production_key_not_issued: 409,
  production_key_already_revealed: 409,
  no_active_key: 409,
}

/** @param count told of the error code */
export function refusal(error: unknown, requestId: string, count: (code: string) => void): Reply {
  if (error instanceof TenancyError) {
    count(error.code)
    const status = TENANCY_STATUS[error.code]
    const category = status === 400 ? 'invalid_request' : status === 404 ? 'not_found' : 'conflict'
    return json({ error: category, code: error.code, message: error.message, request_id: requestId }, status)
  }
  const refused = toApiError(translate(error))
  count(refused.code)
  return json(refused.toBody(requestId), refused.status, refused.headers)
}

/** What the engine refuses; an image of the inspection is always the first one. */
function translate(error: unknown): unknown {
  if (!(error instanceof BiometricError)) return error
  if (error.code === 'cancelled') return new ApiError('deadline_exceeded')
  return new ApiError(error.code, { message: error.message })
}
