/**
 * The routes that change something, or are a POST, and still ask for no fresh sign-in. Every other route but GET asks for one, so that
 * a route without a decision is refused rather than open. Each entry says why a stolen session gains nothing by the route.
 */
import type { OperatorRoutes, TenantRoutes } from '../contract.js'

const READS = 'It only reads; the body keeps the question out of the address.'
const SIGNS_OUT = 'It only ends sessions and links, and an intruder must be shut out at once.'

export const HARMLESS_OPERATOR_ROUTES = {
  'POST /session/confirm': 'It is the fresh sign-in itself, and asks for password and code.',
  'POST /sessions/end': SIGNS_OUT,
  'POST /operators/sign-out': SIGNS_OUT,
} as const satisfies Partial<Record<keyof OperatorRoutes, string>>

export const HARMLESS_TENANT_ROUTES = {
  'POST /sessions/end': SIGNS_OUT,
  'POST /sign-out': SIGNS_OUT,
  'POST /people/sign-out': SIGNS_OUT,
  'POST /policy/check': READS,
  'POST /users/find': READS,
  'POST /users/passkeys': READS,
  'POST /requests/subject': READS,
  'POST /audit/subject': READS,
  'POST /webhooks/test': 'It sends a made-up event, only to an address that a fresh sign-in added.',
  'POST /webhooks/redeliver': 'It repeats a delivery, only to an address that a fresh sign-in added.',
  'POST /try/inspect': 'It assesses a photo that the person has, and stores nothing.',
  'POST /try/call': 'The API key that the person types decides what the call may do.',
} as const satisfies Partial<Record<keyof TenantRoutes, string>>
