/**
 * Reads whom a pushed request names: by `login_hint`, or by an earlier ID token of this provider for the same application
 * (`id_token_hint`), whose signature, issuer and audience the library has checked.
 */
import { decodeJwt } from 'jose'
import { SECOND_MS } from '../../lib/clock.js'
import type { Refused } from './refusals.js'

type NamedPerson = { userId: string } | Refused

/** @param now milliseconds since the Unix epoch: an ID token that is over by then names nobody; undefined where that was looked at before */
export function namedPerson(params: Record<string, unknown>, now?: number): NamedPerson {
  const loginHint = textIn(params.login_hint)
  const idToken = textIn(params.id_token_hint)
  if (idToken === undefined)
    return loginHint === undefined ? { code: 'user_not_named' } : { userId: loginHint }
  const { sub = '', exp = 0 } = decodeJwt(idToken)
  if (now !== undefined && exp * SECOND_MS <= now) return { code: 'hint_not_valid', detail: 'exp' }
  if (loginHint !== undefined && loginHint !== sub)
    return { code: 'hint_not_valid', detail: 'login_hint and id_token_hint name two persons' }
  return { userId: sub }
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
