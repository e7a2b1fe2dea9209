/** What can stand in an audit log. Constants alone, so that the dashboard's pages read the same list. */

export const AUDIT_EVENTS = [
  'enroll',
  'verify',
  'delete',
  'rotate_signing',
  'key_revealed',
  'key_revoked',
  'key_reissued',
  'contract_changed',
  'capture_page_changed',
  'capture_consented',
  'capture_code_failed',
  'user_unlocked',
  'webhook_added',
  'webhook_removed',
  'webhook_redelivered',
  'database_restored',
  'working_keys_changed',
  'audit_break_found',
  'operator_password_reset',
  'operator_added',
  'operator_changed',
  'operator_removed',
  'signed_in',
  'sign_in_failed',
  'login_link_made',
  'tenant_suspended',
  'tenant_resumed',
  'tenant_deleted',
] as const

export type AuditEventName = (typeof AUDIT_EVENTS)[number]
