/** Events that webhooks report. This file holds only constants and types. */
import type { Environment } from '../config/config.js'

export const WEBHOOK_EVENTS = [
  'user.enrolled',
  'user.locked_out',
  'user.disabled',
  'user.unlocked',
  'user.erasure_scheduled',
  'user.passkey_registered',
  'user.passkey_revoked',
  'user.passkey_recovery_begun',
  'user.passkey_recovery_cancelled',
  'user.passkey_counter_reversed',
  'user.erased',
  'capture_session.completed',
  'capture_session.cancelled',
  'capture_session.expired',
  'openid.link_ready',
  'openid.request_disowned',
] as const

/** Type of the event that is sent on demand, to see whether it arrives. */
export const TEST_EVENT = 'webhook.test'

export type WebhookEventType = (typeof WEBHOOK_EVENTS)[number] | typeof TEST_EVENT

/** The body of a delivery. */
export interface WebhookEvent {
  /** Id of the event, the same at every attempt and redelivery: receivers recognize repeats by it. */
  id: string
  type: WebhookEventType
  created_at: string
  environment: Environment
  tenant_id: string
  /** Facts about the event, with `user_id` where it is about a user; never biometric data. */
  data: Record<string, unknown>
}
