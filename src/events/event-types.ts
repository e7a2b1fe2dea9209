/** The types of events that happen to users and capture sessions. This file holds only constants and types. */

export const EVENT_TYPES = [
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

export type EventType = (typeof EVENT_TYPES)[number]
