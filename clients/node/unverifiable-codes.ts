/** Error codes that the SDK believes without a signature. */
import type { ErrorCode } from '../../src/contract/error-codes.js'

/**
 * Codes of answers that the service gives before it knows the tenant, so that the instance's own secret signs them, which tenants
 * do not hold. None of these codes says anything about a user.
 */
export const UNVERIFIABLE_CODES: ReadonlySet<string> = new Set<ErrorCode>([
  'malformed_request',
  'request_timeout',
  'headers_too_large',
  'missing_api_key',
  'malformed_api_key',
  'invalid_api_key',
  'revoked_api_key',
  'wrong_environment',
  'too_many_wrong_keys',
  'tenant_suspended',
  'unknown_endpoint',
  'method_not_allowed',
  'shutting_down',
  'store_unavailable',
  'internal_error',
])
