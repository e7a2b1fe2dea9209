/** The values that nearly every answer has. A record holds only the others, so that it stays short and still holds everything. */
import type { Environment } from '../../src/config/config.js'
import { ERRORS } from '../../src/contract/error-codes.js'

export type Members = Record<string, unknown>

const USUAL = '<usual>'

/** @returns the members whose value is not the usual one, and the usual ones that are missing */
export function unusual(members: Members, usual: Members): Members {
  const isUsual = ([name, value]: [string, unknown]) =>
    name in usual && JSON.stringify(value) === JSON.stringify(usual[name])
  const missing = Object.keys(usual).filter((name) => !(name in members))
  return {
    ...Object.fromEntries(Object.entries(members).filter((one) => !isUsual(one))),
    ...Object.fromEntries(missing.map((name) => [name, '<absent>'])),
  }
}

/** In the form of a record; the first request of a scenario is signed by its first secret. */
export function usualHeaders(environment: Environment): Members {
  const [requests, seconds] = environment === 'production' ? [2000, 2] : [5000, 5]
  return {
    'cache-control': 'no-store',
    'content-type': 'application/json; charset=utf-8',
    'ratelimit-policy': `"requests";q=${requests};w=${seconds}`,
    'x-content-type-options': 'nosniff',
    'x-svc-signature': 't=<now>,kid=<sec 1>,v2=<hmac>',
  }
}

/** The stages that `Server-Timing` names. */
export function stagesIn(headers: Members): string[] {
  return String(headers['server-timing'] ?? '').split(', ')
}

/** An error whose texts are those that docs/errors.md has for its code. */
export function shortened(body: unknown): unknown {
  const { code, message, remedy } = (body ?? {}) as Record<string, string>
  const known = Object.hasOwn(ERRORS, code ?? '') && ERRORS[code as keyof typeof ERRORS]
  if (!known) return body
  return {
    ...(body as Members),
    message: message === known.message ? USUAL : message,
    remedy: remedy === known.remedy ? USUAL : remedy,
  }
}
