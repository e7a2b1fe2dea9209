/** Checks the `id_token_hint` by which Entra ID names a person. It is signed, and expired on purpose, so that it is good for nothing else. */
import { compactVerify, errors } from 'jose'
import { type Clock, MINUTE_MS, SECOND_MS } from '../../../lib/clock.js'
import { RefusedRequest } from '../refusals.js'
import type { EntraKeys } from './entra-keys.js'
import { type EntraTenant, entraIssuer, entraUserId, GUID } from './entra-tenant.js'

export interface EntraHint {
  /** Pairwise name of the person, which the answer repeats. */
  subject: string
  /** User id by which the person is enrolled. */
  userId: string
}

/** Age up to which a hint counts: Entra ID itself forgets a sign-in after about 10 minutes. */
export const MAX_HINT_AGE_MS = 10 * MINUTE_MS
/** How far the clocks may differ. */
const SKEW_MS = 2 * MINUTE_MS
const MAX_SUBJECT = 255

/** @throws RefusedRequest hint_not_valid, unavailable */
export async function readHint(
  hint: string,
  entra: EntraTenant,
  { keys, clock }: { keys: EntraKeys; clock: Clock },
): Promise<EntraHint> {
  const claims = await verified(hint, entra, keys)
  const now = clock.now()
  if (claims.iss !== entraIssuer(entra)) refuse('iss')
  if (claims.aud !== entra.appId) refuse('aud')
  if (claims.tid !== entra.tenantId) refuse('tid')
  // `exp` is not looked at, because the hint is made with an `exp` that is over. Its age takes the place.
  const issuedAt = millisecondsOf(claims.iat)
  if (issuedAt === null || issuedAt > now + SKEW_MS || issuedAt <= now - MAX_HINT_AGE_MS) refuse('iat')
  const { nbf, oid, sub } = claims
  if (nbf !== undefined && (millisecondsOf(nbf) ?? Number.POSITIVE_INFINITY) > now + SKEW_MS) refuse('nbf')
  if (typeof oid !== 'string' || !GUID.test(oid)) refuse('oid')
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_SUBJECT) refuse('sub')
  return { subject: sub as string, userId: entraUserId(entra, oid as string) }
}

async function verified(hint: string, entra: EntraTenant, keys: EntraKeys): Promise<Record<string, unknown>> {
  try {
    const { payload } = await compactVerify(hint, keys.finder(entra), { algorithms: ['RS256'] })
    const claims: unknown = JSON.parse(new TextDecoder().decode(payload))
    if (typeof claims === 'object' && claims !== null) return claims as Record<string, unknown>
  } catch (error) {
    if (error instanceof errors.JOSEError)
      throw new RefusedRequest('hint_not_valid', `signature: ${error.code}`)
    if (!(error instanceof SyntaxError)) throw error
  }
  return refuse('claims')
}

function millisecondsOf(seconds: unknown): number | null {
  return typeof seconds === 'number' && Number.isFinite(seconds) ? seconds * SECOND_MS : null
}

/** @param claim name of the claim that is wrong */
function refuse(claim: string): never {
  throw new RefusedRequest('hint_not_valid', claim)
}
