/** What a tenant is told of by webhooks, as the SDK's types have it too. Constants and types alone. */
import type { Environment } from '../config/config.js'

export const WEBHOOK_EVENTS = [
  'user.enrolled',
  'user.locked_out',
  'user.disabled',
  'user.unlocked',
  'user.erased',
  'capture_session.completed',
  'capture_session.cancelled',
  'capture_session.expired',
] as const

/** Sent when somebody asks for it, to see whether it arrives. */
export const TEST_EVENT = 'webhook.test'

export type WebhookEventType = (typeof WEBHOOK_EVENTS)[number] | typeof TEST_EVENT

/** The body of a delivery. */
export interface WebhookEvent {
  /** The same at every try and every redelivery: by it a receiver tells repeats. */
  id: string
  type: WebhookEventType
  created_at: string
  environment: Environment
  tenant_id: string
  /** Of an event about a user: `user_id`, and facts. Never anything of a face. */
  data: Record<string, unknown>
}
